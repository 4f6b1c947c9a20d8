import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// Bodies that are sent more than once: after a redirect, by a copy, over another connection.
@Suite(.timeLimit(.minutes(1)))
struct RequestBodyTests {
    private let callbacks = DispatchQueue(label: "callbacks")

    private func operation(
        _ server: ScriptedServer,
        _ method: String = "POST",
        fields: [String: String] = [:],
        body: Data? = nil
    ) -> HTTPRequestOperation {
        var request = URLRequest(url: server.url)
        request.httpMethod = method
        request.allHTTPHeaderFields = fields
        request.httpBody = body
        let operation = HTTPRequestOperation(request: request)
        operation.completionQueue = callbacks
        return operation
    }

    private func stream(_ text: String = "the body") -> InputStream {
        InputStream(data: Data(text.utf8))
    }

    // MARK: - Streams of a redirect closure

    @Test(arguments: [false, true], [nil, "11"])
    func aStreamThatARedirectClosurePutsInIsSent(hasStream: Bool, length: String?) async throws {
        let server = try ScriptedServer([.redirect(to: "/there", statusCode: 307), .respond(body: "done")])
        let operation = operation(server)
        if hasStream { operation.inputStream = stream() }
        operation.setRedirect { _, request, _ in
            var request = request
            request.httpBodyStream = InputStream(data: Data("another one".utf8))
            request.setValue(length, forHTTPHeaderField: "Content-Length")
            return request
        }
        operation.start()
        _ = try await operation.value
        #expect(server.requests.map(\.text) == [hasStream ? "the body" : "", "another one"])
        #expect(server.requests.last?["Content-Length"] == length)
    }

    @Test func aStreamThatARedirectClosurePutInIsSentOnce() async throws {
        let server = try ScriptedServer([.redirect(to: "/there", statusCode: 307)])
        let operation = operation(server)
        operation.setRedirect { _, request, redirect in
            guard redirect.url?.path == "/" else { return request }
            var request = request
            request.httpBodyStream = InputStream(data: Data("another one".utf8))
            return request
        }
        operation.start()
        _ = try? await operation.value
        #expect((operation.error as? URLError)?.code == .requestBodyStreamExhausted)
        #expect(server.requests.map(\.text) == ["", "another one"])
    }

    @Test func theOperationsOwnStreamComesFromItsProviderWhenARedirectClosureKeepsIt() async throws {
        let server = try ScriptedServer([.redirect(to: "/there", statusCode: 307), .respond(body: "done")])
        let operation = operation(server)
        operation.inputStream = stream()
        operation.setBodyStreamProvider { InputStream(data: Data("the body".utf8)) }
        operation.setRedirect { _, request, _ in request }
        operation.start()
        _ = try await operation.value
        #expect(server.requests.map(\.text) == ["the body", "the body"])
    }

    // MARK: - Copies

    @Test func aCopySendsAFreshStreamOfTheProvider() async throws {
        let server = try ScriptedServer([.respond(500), .respond(body: "done")])
        let operation = operation(server)
        operation.inputStream = stream()
        operation.setBodyStreamProvider { InputStream(data: Data("the body".utf8)) }
        let copies = Recorder<HTTPRequestOperation>()
        operation.setCompletion(
            success: nil,
            failure: { failed, _ in
                guard let copy = failed.copy() as? HTTPRequestOperation else { return }
                copies.append(copy)
                copy.start()
            }
        )
        operation.start()
        let copy = try await copies.wait()[0]
        #expect(try await copy.value as? Data == Data("done".utf8))
        #expect(server.requests.map(\.text) == ["the body", "the body"])
    }

    @Test func aCopyOfAnOperationThatUsedUpItsStreamFails() async throws {
        let server = try ScriptedServer([.respond(500), .respond(body: "done")])
        let operation = operation(server)
        operation.inputStream = stream()
        operation.start()
        _ = try? await operation.value
        let copy = try #require(operation.copy() as? HTTPRequestOperation)
        copy.start()
        _ = try? await copy.value
        #expect((copy.error as? URLError)?.code == .requestBodyStreamExhausted)
        #expect(server.requests.map(\.text) == ["the body"])
    }

    @Test func theFirstOfAnOperationAndItsCopyToStartGetsTheStream() async throws {
        let server = try ScriptedServer([.respond(body: "done")])
        let operation = operation(server)
        operation.inputStream = stream()
        let copy = try #require(operation.copy() as? HTTPRequestOperation)
        let next = try #require(operation.copy() as? HTTPRequestOperation)
        next.inputStream = stream("another one")
        copy.start()
        _ = try await copy.value
        operation.start()
        _ = try? await operation.value
        #expect((operation.error as? URLError)?.code == .requestBodyStreamExhausted)
        next.start()
        _ = try await next.value
        #expect(server.requests.map(\.text) == ["the body", "another one"])
    }

    // MARK: - Where a body ends

    @Test(arguments: ["GET", "DELETE", "POST"])
    func aLengthWithoutABodyIsNotSent(method: String) async throws {
        let server = try ScriptedServer { _ in .respond() }
        for _ in 0..<2 {
            let operation = operation(
                server,
                method,
                fields: ["Content-Length": "5", "Transfer-Encoding": "chunked"]
            )
            operation.start()
            _ = try await operation.value
        }
        #expect(server.requests.allSatisfy { ($0["Content-Length"] ?? "0") == "0" && $0.isComplete })
        // A server that waited for five bytes would have found them in the next request.
        #expect(server.requests.map(\.method) == [method, method])
    }

    @Test func theLengthOfTheDataIsSentWhateverTheFieldSays() async throws {
        let server = try ScriptedServer { _ in .respond() }
        for length in ["2", "99", "x"] {
            let operation = operation(server, fields: ["Content-Length": length], body: Data("abc".utf8))
            operation.start()
            _ = try await operation.value
        }
        #expect(server.requests.map(\.text) == ["abc", "abc", "abc"])
        #expect(server.requests.map { $0["Content-Length"] } == ["3", "3", "3"])
    }

    @Test func ofAStreamAsManyBytesAreSentAsTheFieldSays() async throws {
        let server = try ScriptedServer { _ in .respond() }
        for _ in 0..<2 {
            let operation = operation(server, fields: ["Content-Length": "3"])
            operation.inputStream = stream("the body")
            operation.start()
            _ = try await operation.value
        }
        #expect(server.requests.map(\.text) == ["the", "the"])
    }

    @Test func aStreamThatIsShorterThanTheFieldSaysIsAnError() async throws {
        let server = try ScriptedServer([])
        let operation = operation(server, fields: ["Content-Length": "99"])
        operation.inputStream = stream("the body")
        operation.start()
        let error = await #expect(throws: RequestBodyError.self) { try await operation.value }
        #expect(error == .streamTooShort("the stream", expected: 99, found: 8))
    }

    @Test func dataCanBeSentInChunks() async throws {
        let server = try ScriptedServer([.respond()])
        let operation = operation(server, fields: ["Transfer-Encoding": "Chunked"], body: Data("abc".utf8))
        operation.start()
        _ = try await operation.value
        #expect(server.requests[0].text == "abc")
        #expect(server.requests[0]["Content-Length"] == nil)
    }

    @Test func anUnsupportedTransferCodingIsRefused() async throws {
        let server = try ScriptedServer([])
        let operation = operation(
            server,
            fields: ["Transfer-Encoding": "gzip, chunked"],
            body: Data("abc".utf8)
        )
        operation.start()
        await #expect(throws: RequestSerializationError.invalidFieldValue(name: "Transfer-Encoding")) {
            try await operation.value
        }
        #expect(server.requests.isEmpty)
    }

    // MARK: - Progress

    @Test func theUploadsProgressEndsAtItsTotalAlsoWhenTheRedirectDropsTheBody() async throws {
        let server = try ScriptedServer([.redirect(to: "/there", statusCode: 303), .respond(body: "done")])
        let body = PatternBody(length: 700_000).data
        var request = URLRequest(url: server.url)
        request.httpMethod = "POST"
        request.httpBody = body
        let operation = HTTPRequestOperation(request: request)
        operation.completionQueue = callbacks
        let progress = Recorder<[Int64]>()
        operation.setUploadProgress { bytes, total, expected in
            progress.append([Int64(bytes), total, expected])
        }
        operation.start()
        _ = try await operation.value
        callbacks.sync {}
        #expect(server.requests.map(\.method) == ["POST", "GET"])
        #expect(progress.elements.last?.dropFirst() == [700_000, 700_000])
        #expect(progress.elements.map { $0[0] }.reduce(0, +) == 700_000)
    }

    @Test func theUploadsProgressNeverPassesItsTotalWhenAStaleConnectionMakesItBeginAgain() async throws {
        let server = try ScriptedServer([.respond(), .hangUp, .respond(body: "done")])
        let first = operation(server, "GET")
        first.start()
        _ = try await first.value
        var request = URLRequest(url: server.url)
        request.httpMethod = "PUT"
        request.httpBody = PatternBody(length: 700_000).data
        let operation = HTTPRequestOperation(request: request)
        operation.completionQueue = callbacks
        let progress = Recorder<[Int64]>()
        operation.setUploadProgress { bytes, total, expected in
            progress.append([Int64(bytes), total, expected])
        }
        operation.start()
        #expect(try await operation.value as? Data == Data("done".utf8))
        callbacks.sync {}
        #expect(server.requests.map(\.body.count) == [0, 700_000, 700_000])
        #expect(server.requests.map(\.connectionNumber) == [1, 1, 2])
        #expect(progress.elements.last?.dropFirst() == [700_000, 700_000])
        #expect(progress.elements.allSatisfy { $0[1] <= 700_000 })
        #expect(progress.elements.map { $0[0] }.reduce(0, +) == 700_000)
    }

    // MARK: - The end

    @Test func aProviderThatHoldsItsOperationIsReleased() async throws {
        let server = try ScriptedServer([.respond(body: "done")])
        weak var operation: HTTPRequestOperation?
        do {
            let strong = self.operation(server)
            strong.inputStream = stream()
            strong.setBodyStreamProvider {
                _ = strong
                return nil
            }
            operation = strong
            strong.start()
            _ = try await strong.value
        }
        // The last callback may still be on its way.
        try await eventually { operation == nil }
    }
}
