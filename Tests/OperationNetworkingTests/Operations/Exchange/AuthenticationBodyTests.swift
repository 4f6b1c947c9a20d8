import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// Bodies that are sent again because the server asked for credentials first (F20).
@Suite(.timeLimit(.minutes(1)))
struct AuthenticationBodyTests {
    private let door = Door()

    private func post(_ url: URL) -> URLRequest {
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        return request
    }

    @Test func dataIsSentAgain() async throws {
        let server = try door.server()
        var request = post(server.url)
        request.httpBody = Data("body".utf8)
        let operation = door.operation(request, door.alice)
        let sent = Recorder<Int64>()
        operation.setUploadProgress { _, total, _ in sent.append(total) }
        let isReported = Gate()
        operation.completionBlock = { isReported.open() }
        operation.start()
        #expect(try await operation.value as? Data == Data("open to POST body".utf8))
        #expect(server.requests.map(\.text) == ["body", "body"])
        // The result is there before the last callback.
        try await isReported.wait()
        #expect(sent.elements.last == 4)
    }

    @Test func aLargeFileIsSentAgain() async throws {
        let directory = try TemporaryDirectory()
        let file = directory.file("body")
        try Data(repeating: 7, count: 3_000_000).write(to: file)
        let server = try ScriptedServer { [door] request in
            request["Authorization"] == door.aliceField
                ? .respond(body: .text("\(request.body.count)")) : Door.closed("Basic realm=a")
        }
        let operation = door.operation(post(server.url), door.alice)
        operation.bodySource = try .file(file)
        operation.start()
        #expect(try await operation.value as? Data == Data("3000000".utf8))
        #expect(server.requests.map(\.body.count) == [3_000_000, 3_000_000])
    }

    @Test func aStreamWithAProviderIsSentAgain() async throws {
        let server = try door.server()
        let operation = door.operation(post(server.url), door.alice)
        operation.inputStream = InputStream(data: Data("body".utf8))
        operation.setBodyStreamProvider { InputStream(data: Data("body".utf8)) }
        operation.start()
        #expect(try await operation.value as? Data == Data("open to POST body".utf8))
    }

    @Test func aStreamThatCanBeReadOnceIsAnError() async throws {
        let server = try door.server()
        let operation = door.operation(post(server.url), door.alice)
        operation.inputStream = InputStream(data: Data("body".utf8))
        operation.start()
        let error = await #expect(throws: URLError.self) { try await operation.value }
        #expect(error?.code == .requestBodyStreamExhausted)
        #expect(operation.response?.statusCode == 401)
        #expect(server.requests.map(\.text) == ["body"])
    }

    @Test func aStreamIsSentOnceWhereTheServerIsKnown() async throws {
        let server = try door.server()
        #expect(await door.operation(server.url, door.alice).status() == 200)
        let operation = door.operation(post(server.url), door.alice)
        operation.inputStream = InputStream(data: Data("body".utf8))
        operation.start()
        #expect(try await operation.value as? Data == Data("open to POST body".utf8))
        #expect(server.authorizations == ["-", door.aliceField, door.aliceField])
    }
}
