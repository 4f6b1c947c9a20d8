import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// NTLM authenticates connections: each request over one counts as its opener's.
@Suite(.timeLimit(.minutes(1)))
struct ConnectionAuthenticationTests {
    private let door = Door()

    /// Believes every answer to its challenge, and says whose a connection is.
    private func server() throws -> ScriptedServer {
        let owners = Locked<[Int: String]>([:])
        return try ScriptedServer { request in
            if let message = Self.message(in: request) {
                guard message.count > 12, message[8] == 3 else {
                    return Door.closed("NTLM \(Self.challenge)")
                }
                owners.withLock { $0[request.connectionNumber] = Self.user(of: message) }
            }
            guard let owner = owners.withLock({ $0[request.connectionNumber] }) else {
                return Door.closed("NTLM")
            }
            return .respond(body: .text(owner))
        }
    }

    /// A message of type 2 (MS-NLMP §2.2.1.2), with a challenge of eight bytes.
    private static let challenge: String = {
        var message = Data("NTLMSSP\0".utf8)
        message.append(contentsOf: [2, 0, 0, 0] + [0, 0, 0, 0, 48, 0, 0, 0] + [1, 2, 0, 0])
        message.append(contentsOf: [1, 2, 3, 4, 5, 6, 7, 8] + [UInt8](repeating: 0, count: 16))
        return message.base64EncodedString()
    }()

    /// The message in the `Authorization` field of a request.
    private static func message(in request: ReceivedRequest) -> Data? {
        guard let field = request["Authorization"], field.hasPrefix("NTLM ") else { return nil }
        return Data(base64Encoded: String(field.dropFirst(5)))
    }

    /// The user in a message of type 3.
    private static func user(of message: Data) -> String {
        guard message.count >= 44 else { return "" }
        let length = Int(message[36]) + Int(message[37]) << 8
        let start = Int(message[40]) + Int(message[41]) << 8
        guard start + length <= message.count else { return "" }
        return String(decoding: message[start..<(start + length)].filter { $0 != 0 }, as: UTF8.self)
    }

    /// The connection is part of the answer, so such a body has to be read to its end.
    @Test(arguments: [(150_000, true), (1 << 40, false)])
    func theBodyOfAChallengeMayBeLongButEnds(length: Int, isRead: Bool) async throws {
        let server = try ScriptedServer { request in
            guard let message = Self.message(in: request) else { return Door.closed("NTLM") }
            guard message.count > 12, message[8] == 3 else {
                return Door.closed("NTLM \(Self.challenge)", body: .generated(length: length)).chunked()
            }
            return .respond(body: "in")
        }
        let operation = door.operation(server.url, door.alice)
        guard !isRead else {
            return #expect(await owner(operation) == "in")
        }
        operation.start()
        let error = await #expect(throws: URLError.self) { try await operation.value }
        #expect(error?.code == .badServerResponse)
        #expect(error?.localizedDescription.contains("did not end in time") == true)
    }

    private func owner(_ operation: HTTPRequestOperation) async -> String? {
        operation.start()
        return (try? await operation.value as? Data).map { String(decoding: $0, as: UTF8.self) }
    }

    @Test func aConnectionOfOneUserIsNeverUsedForAnother() async throws {
        let server = try server()
        let alice = try #require(door.alice.user)
        let bob = try #require(door.bob.user)
        for _ in 0..<3 {
            #expect(await owner(door.operation(server.url, door.alice)) == alice)
            #expect(await owner(door.operation(server.url, door.bob)) == bob)
            // An operation without a credential, which gets none of theirs, and no connection.
            let nobody = door.operation(server.url)
            #expect(await owner(nobody) == nil && nobody.response?.statusCode == 401)
        }
        // One for each of them, and it is used again.
        #expect(server.connectionsAccepted == 3)
    }

    @Test func concurrentUsersNeverShareAConnection() async throws {
        let server = try server()
        let people = [door.alice, door.bob, nil]
        let operations = (0..<30).map { door.operation(server.url, people[$0 % 3]) }
        for operation in operations { operation.start() }
        for (number, operation) in operations.enumerated() {
            #expect(await owner(operation) == people[number % 3]?.user)
        }
    }

    @Test func aBodyIsSentOnlyAfterAuthentication() async throws {
        let server = try server()
        var request = URLRequest(url: server.url)
        request.httpMethod = "POST"
        request.httpBody = Data("body".utf8)
        #expect(await owner(door.operation(request, door.alice)) == door.alice.user)
        #expect(server.requests.last?.text == "body")
    }

    @Test func theConnectionsOfManyUsersAreNotKeptForever() async throws {
        let server = try server()
        let people = (0..<80).map {
            Credential(user: "\(door.alice.user ?? "")-\($0)", password: "p")
        }
        for person in people { #expect(await owner(door.operation(server.url, person)) == person.user) }
        // One for each, and one without a user.
        #expect(server.connectionsAccepted == 81)
        // The last one still has his; the first one's is gone, and he gets one of his own again.
        for (person, count) in [(people[79], 81), (people[0], 82)] {
            #expect(await owner(door.operation(server.url, person)) == person.user)
            #expect(server.connectionsAccepted == count)
        }
    }
}
