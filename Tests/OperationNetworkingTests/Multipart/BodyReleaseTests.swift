import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// The objects that an upload lets go of when it ends in its middle.
@Suite(.timeLimit(.minutes(1)))
struct BodyReleaseTests {
    private let callbacks = DispatchQueue(label: "callbacks")
    /// Shuts out the rest of the body, so that uploads stay in their middle.
    private let gate = Gate()
    private let server: ScriptedServer

    init() throws {
        server = try ScriptedServer(requestBodies: .hold(after: 10, by: gate)) { _ in .respond() }
    }

    private func operation(_ body: BodySource? = nil, length: String? = nil) -> HTTPRequestOperation {
        var request = URLRequest(url: server.url)
        request.httpMethod = "POST"
        request.setValue(length, forHTTPHeaderField: "Content-Length")
        if let body { request.bodySource = body }
        let operation = HTTPRequestOperation(request: request)
        operation.completionQueue = callbacks
        return operation
    }

    @Test func aCancelledUploadClosesItsStream() async throws {
        defer { gate.open() }
        let stream = WatchedStream(length: 500_000_000)
        let upload = operation(.stream(stream))
        upload.start()
        try await gate.waitForArrivals()
        upload.cancel()
        try await stream.didClose.wait()
        #expect(stream.closeCount == 1)
        _ = try? await upload.value
        #expect((upload.error as? URLError)?.code == .cancelled)
    }

    @Test(arguments: [nil, "500000000"])
    func aCancelledUploadClosesItsInputStream(length: String?) async throws {
        defer { gate.open() }
        let stream = WatchedStream(length: 500_000_000)
        let upload = operation(length: length)
        upload.inputStream = stream
        upload.start()
        try await gate.waitForArrivals()
        upload.cancel()
        try await stream.didClose.wait()
        #expect(stream.closeCount == 1)
    }

    @Test func aPausedUploadClosesItsStreamAndCannotBeginAgain() async throws {
        defer { gate.open() }
        let stream = WatchedStream(length: 500_000_000)
        let upload = operation(.stream(stream))
        upload.start()
        try await gate.waitForArrivals()
        upload.pause()
        try await stream.didClose.wait()
        upload.resume()
        _ = try? await upload.value
        #expect((upload.error as? URLError)?.code == .requestBodyStreamExhausted)
        #expect(stream.closeCount == 1)
    }

    @Test func aStreamThatBlocksHoldsNoCancelAndIsClosedAfterwards() async throws {
        defer { gate.open() }
        let hold = Gate()
        let stream = WatchedStream(length: 500, heldBy: hold)
        let upload = operation(.stream(stream, length: 500))
        upload.start()
        try await stream.didRead.wait()
        upload.cancel()
        _ = try? await upload.value
        #expect((upload.error as? URLError)?.code == .cancelled)
        hold.open()
        try await stream.didClose.wait()
        #expect(stream.closeCount == 1)
    }

    @Test func aStreamThatEndsIsClosedOnce() async throws {
        gate.open()
        let stream = WatchedStream(length: 300_000)
        let upload = operation(.stream(stream))
        upload.start()
        _ = try await upload.value
        try await stream.didClose.wait()
        try await networkThreadIsDone()
        #expect(stream.closeCount == 1)
    }

    @Test func ofTwoThatHaveTheSameStreamAtOnceOneSendsItAndTheOtherFails() async throws {
        gate.open()
        for _ in 0..<20 {
            let source = BodySource.stream(InputStream(data: Data("abc".utf8)), length: 3)
            let both = [operation(source), operation(source)]
            for one in both { one.start() }
            for one in both { _ = try? await one.value }
            let codes = both.compactMap { ($0.error as? URLError)?.code }
            #expect(codes == [.requestBodyStreamExhausted])
        }
    }
}
