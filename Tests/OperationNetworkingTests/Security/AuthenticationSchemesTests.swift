import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// Apache with Basic, Digest and Kerberos, and a server with NTLM, where `scripts/with-servers` starts them: the user is
/// `user`, the password `password`.
@Suite(.timeLimit(.minutes(1)), .enabled(if: SchemeServers.areThere))
struct AuthenticationSchemesTests {
    private static let right = Credential(user: "user", password: "password")
    private static let wrong = Credential(user: "user", password: "wrong")

    private let door = Door()
    private let apache: URL
    private let ntlm: URL

    init() throws {
        apache = try #require(SchemeServers.url("APACHE"))
        ntlm = try #require(SchemeServers.url("NTLM"))
    }

    private func status(_ url: URL, _ credential: Credential?, body: String? = nil) async -> (
        Int, String, String?
    ) {
        var request = URLRequest(url: url)
        if let body {
            request.httpMethod = "POST"
            request.httpBody = Data(body.utf8)
        }
        let operation = door.operation(request, credential)
        let status = await operation.status()
        return (
            status, operation.responseString ?? "", operation.response?.value(forHTTPHeaderField: "X-User")
        )
    }

    @Test(arguments: ["basic", "digest", "digest-stale"])
    func apacheAcceptsTheRightPassword(path: String) async throws {
        let url = apache.appendingPathComponent("\(path)/text.txt")
        for _ in 0..<3 {
            let (status, text, user) = await status(url, Self.right)
            #expect(status == 200 && user == "user" && text.hasPrefix("1\n2\n3\n"))
            #expect(await self.status(url, Self.wrong).0 == 401)
            #expect(await self.status(url, nil).0 == 401)
        }
    }

    @Test(arguments: ["basic", "digest", "digest-stale"])
    func apacheGetsTheBody(path: String) async throws {
        let url = apache.appendingPathComponent("\(path)/anything")
        for _ in 0..<3 {
            let (status, text, _) = await status(url, Self.right, body: "the body of it")
            #expect(status == 200 && text.contains("the body of it"))
        }
    }

    /// As Apache has it in its log: two requests for the first, and one for each later one.
    @Test(arguments: [nil, "the body of it"])
    func aDigestCostsOneRequestMoreThanNoneAltogether(body: String?) async throws {
        let marker = UUID().uuidString
        let url = apache.appendingPathComponent("digest/anything/\(marker)")
        // A trust domain that no other test has: nothing is remembered of it.
        let anchors = TrustAnchors.file(URL(fileURLWithPath: "/\(marker)"))
        for _ in 0..<4 {
            var request = URLRequest(url: url)
            if let body {
                request.httpMethod = "POST"
                request.httpBody = Data(body.utf8)
            }
            let operation = door.operation(request, Self.right)
            operation.trustAnchors = anchors
            #expect(await operation.status() == 200)
        }
        #expect(try await ApacheLog.statuses(with: marker, count: 5) == ["401", "200", "200", "200", "200"])
    }

    @Test func aTicketIsAccepted() async throws {
        let url = apache.appendingPathComponent("negotiate/text.txt")
        for _ in 0..<2 {
            let (status, text, user) = await status(url, .systemTickets)
            #expect(status == 200 && text.hasPrefix("1\n2\n3\n"))
            #expect(user?.hasPrefix("user@") == true)
            #expect(await self.status(url, nil).0 == 401)
            #expect(await self.status(url, Self.right).0 == 401)
        }
    }

    @Test func aTicketIsAcceptedForABody() async throws {
        let (status, text, _) = await status(
            apache.appendingPathComponent("negotiate/anything"),
            .systemTickets,
            body: "the body of it"
        )
        #expect(status == 200 && text.contains("the body of it"))
    }

    @Test(arguments: ["user", "TESTS\\user"])
    func ntlmAcceptsTheRightPassword(user: String) async throws {
        let url = ntlm.appendingPathComponent("a")
        for body in [nil, "the body of it"] {
            for _ in 0..<2 {
                let credential = Credential(user: user, password: "password")
                let (status, text, name) = await status(url, credential, body: body)
                #expect(status == 200 && name == user)
                #expect(body.map { text.contains($0) } ?? true)
                #expect(await self.status(url, Self.wrong, body: body).0 == 401)
                #expect(await self.status(url, nil, body: body).0 == 401)
            }
        }
    }
}

private enum ApacheLog {
    /// The statuses of the requests whose address has `marker` in it, when there are `count`. Apache writes a
    /// line when the request has ended, which may be after the client has its answer.
    static func statuses(with marker: String, count: Int) async throws -> [String] {
        let log = try #require(RealServers.apacheLog)
        var found: [Substring] = []
        try await eventually {
            let lines = String(decoding: try Data(contentsOf: log), as: UTF8.self).split(separator: "\n")
            found = lines.filter { $0.contains(marker) }
            return found.count >= count
        }
        // `port number-on-connection protocol status ...`
        return found.map { String($0.split(separator: " ")[3]) }
    }
}

private enum SchemeServers {
    static let areThere = url("APACHE") != nil && url("NTLM") != nil

    static func url(_ name: String) -> URL? {
        ProcessInfo.processInfo.environment["OPERATIONNETWORKING_\(name)"].flatMap { URL(string: $0) }
    }
}
