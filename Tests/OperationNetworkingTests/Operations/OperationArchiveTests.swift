import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

@Suite(.timeLimit(.minutes(1)))
struct OperationArchiveTests {
    private let callbacks = DispatchQueue(label: "callbacks")

    private func archived(_ operation: ConnectionOperation) throws -> OperationArchive {
        let archive = try #require(operation.archive)
        return try JSONDecoder().decode(OperationArchive.self, from: JSONEncoder().encode(archive))
    }

    @Test func anOperationThatNeverRanIsRestoredAsReady() throws {
        let url = try #require(URL(string: "http://127.0.0.1:1/a?b=c"))
        var request = URLRequest(url: url, timeoutInterval: 7)
        request.httpMethod = "POST"
        request.httpBody = Data("body".utf8)
        request.setValue("x", forHTTPHeaderField: "X-Field")

        let copy = ConnectionOperation(archive: try archived(ConnectionOperation(request: request)))

        #expect(copy.request.url == request.url)
        #expect(copy.request.httpMethod == "POST")
        #expect(copy.request.httpBody == Data("body".utf8))
        #expect(copy.request.timeoutInterval == 7)
        #expect(copy.request.value(forHTTPHeaderField: "x-field") == "x")
        #expect(copy.isReady && !copy.isFinished)
    }

    @Test func theRetryPolicyIsRestoredAndSoIsNone() throws {
        let url = try #require(URL(string: "http://127.0.0.1:1/"))
        let operation = HTTPRequestOperation(request: URLRequest(url: url))
        #expect(HTTPRequestOperation(archive: try archived(operation)).retryPolicy == nil)
        var policy = RetryPolicy(maximumRetries: 7, timeBudget: 30)
        policy.methods = ["POST"]
        operation.retryPolicy = policy
        #expect(HTTPRequestOperation(archive: try archived(operation)).retryPolicy == policy)
        #expect((operation.copy() as? HTTPRequestOperation)?.retryPolicy == policy)
    }

    /// The limits of sending secrets hold in the next process, too.
    @Test func howSecretsMayBeSentIsRestored() throws {
        let url = try #require(URL(string: "http://user:password@127.0.0.1:1/"))
        let operation = HTTPRequestOperation(request: URLRequest(url: url))
        let plain = HTTPRequestOperation(archive: try archived(operation))
        #expect(plain.authenticationSchemes == AuthenticationScheme.supported)
        #expect(plain.shouldUseCredentialStorage && plain.cookieJar === CookieJar.shared)

        operation.authenticationSchemes = [.digest, .negotiate]
        operation.shouldUseCredentialStorage = false
        operation.cookieJar = nil
        let careful = HTTPRequestOperation(archive: try archived(operation))
        #expect(careful.authenticationSchemes == [.digest, .negotiate])
        #expect(!careful.shouldUseCredentialStorage && careful.cookieJar == nil)

        operation.authenticationSchemes = []
        operation.cookieJar = CookieJar()
        let separate = HTTPRequestOperation(archive: try archived(operation))
        #expect(separate.authenticationSchemes.isEmpty)
        let jar = try #require(separate.cookieJar)
        #expect(jar !== CookieJar.shared && jar.cookies.isEmpty)
    }

    @Test func aFormOfDataAndFilesIsRestored() async throws {
        let directory = try TemporaryDirectory()
        let file = directory.file("photo.png")
        try Data("not really".utf8).write(to: file)
        let server = try ScriptedServer { _ in .respond() }
        let request = try HTTPRequestSerializer().multipartFormRequest(method: "PUT", url: server.url) {
            form in
            try form.appendPart(withFileURL: file, name: "photo")
        }
        let first = ConnectionOperation(request: request)
        let second = ConnectionOperation(archive: try archived(first))
        for operation in [first, second] {
            operation.completionQueue = callbacks
            let ends = Recorder<Bool>()
            operation.completionBlock = { ends.append(operation.error == nil) }
            operation.start()
            #expect(try await ends.wait() == [true])
        }
        #expect(server.requests.count == 2)
        #expect(server.requests[0].body == server.requests[1].body)
        #expect(server.requests.allSatisfy { $0.method == "PUT" && $0.body.count > 10 })
    }

    @Test func anOperationThatNeedsItsStreamHasNoArchive() throws {
        let url = try #require(URL(string: "http://127.0.0.1:1/"))
        let operation = ConnectionOperation(request: URLRequest(url: url))
        operation.inputStream = InputStream(data: Data("x".utf8))
        #expect(operation.archive == nil)
        operation.bodySource = .stream(InputStream(data: Data("x".utf8)), length: 1)
        #expect(operation.archive == nil)
        operation.bodySource = .data(Data("x".utf8))
        #expect(operation.archive?.request.bodySource?.length == 1)
    }

    @Test func aFinishedOperationIsRestoredWithItsResults() async throws {
        let server = try ScriptedServer([
            .respond(200, ["Content-Type": "application/json"], body: "{\"a\":1}")
        ])
        let operation = HTTPRequestOperation(request: URLRequest(url: server.url))
        operation.responseSerializer = JSONResponseSerializer()
        operation.completionQueue = callbacks
        operation.start()
        _ = try await operation.value

        let copy = HTTPRequestOperation(archive: try archived(operation))

        #expect(copy.isFinished)
        #expect(copy.response?.statusCode == 200)
        #expect(copy.responseString == "{\"a\":1}")
        #expect((copy.responseObject as? [String: any Sendable])?["a"] as? Int == 1)
        #expect(try await copy.value != nil)
    }

    @Test func theSerializerIsRestored() throws {
        let url = try #require(URL(string: "http://127.0.0.1:1/"))
        let operation = HTTPRequestOperation(request: URLRequest(url: url))
        var json = JSONResponseSerializer()
        json.acceptableStatusCodes = [418]
        operation.responseSerializer = CompoundResponseSerializer([json, PropertyListResponseSerializer()])
        let copy = HTTPRequestOperation(archive: try archived(operation))
        let compound = try #require(copy.responseSerializer as? CompoundResponseSerializer)
        #expect(compound.serializers.first as? JSONResponseSerializer == json)
        #expect(compound.serializers.last is PropertyListResponseSerializer)
    }

    private struct OwnSerializer: ResponseSerializer {
        func responseObject(for response: HTTPURLResponse?, data: Data?) throws -> (any Sendable)? { nil }
    }

    /// The operation is worth more than its serializer.
    @Test func aSerializerOfYourOwnIsLeftOut() throws {
        let url = try #require(URL(string: "http://127.0.0.1:1/"))
        let operation = HTTPRequestOperation(request: URLRequest(url: url))
        let own: [any ResponseSerializer] = [
            OwnSerializer(), CompoundResponseSerializer([JSONResponseSerializer(), OwnSerializer()]),
        ]
        for serializer in own {
            operation.responseSerializer = serializer
            let archive = try archived(operation)
            #expect(HTTPRequestOperation(archive: archive).responseSerializer is HTTPResponseSerializer)
            let copy = HTTPRequestOperation(archive: archive, responseSerializer: OwnSerializer())
            #expect(copy.responseSerializer is OwnSerializer)
        }
    }

    @Test func aFailedOperationIsRestoredWithItsError() async throws {
        let server = try ScriptedServer([.hangUp])
        let operation = HTTPRequestOperation(request: URLRequest(url: server.url))
        operation.completionQueue = callbacks
        operation.start()
        _ = try? await operation.value

        let copy = HTTPRequestOperation(archive: try archived(operation))

        #expect((copy.error as? URLError)?.code == .networkConnectionLost)
        await #expect(throws: URLError.self) { try await copy.value }
    }
}
