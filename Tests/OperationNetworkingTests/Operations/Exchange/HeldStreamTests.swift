import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// A pause of what a stream cannot get later keeps its connection.
@Suite(.timeLimit(.minutes(1)))
struct HeldStreamTests {
    private static let body = PatternBody(seed: 1, length: 300_000)

    /// A server that stops after 100,000 bytes, a stream into a file that has taken some of them, and an operation that was
    /// paused then.
    private struct Scene {
        let gate = Gate()
        let server: ScriptedServer
        let folder: TemporaryDirectory
        let operation: HTTPRequestOperation

        var file: URL { folder.file("file") }

        init(
            _ representation: Representation = Representation(.pattern(body)),
            breakingAfter count: Int? = nil,
            method: String = "GET",
            timeout: TimeInterval = 60
        ) async throws {
            var answer = Answer.representation(representation).held(after: .body(100_000), by: gate)
            if method != "GET" {
                answer = Answer.respond(body: .pattern(body)).held(after: .body(100_000), by: gate)
            }
            if let count { answer = answer.breaking(after: .body(count)) }
            server = try ScriptedServer([answer, .representation(representation)])
            folder = try TemporaryDirectory()
            var request = URLRequest(url: server.url)
            request.httpMethod = method
            request.timeoutInterval = timeout
            operation = HTTPRequestOperation(request: request)
            operation.completionQueue = DispatchQueue(label: "callbacks")
            operation.outputStream = OutputStream(url: folder.file("file"), append: false)
        }

        /// Pauses it with bytes in the stream.
        func pause() async throws {
            let progress = Recorder<Int64>()
            operation.setDownloadProgress { _, total, _ in progress.append(total) }
            operation.start()
            _ = try await progress.wait()
            operation.pause()
            // Else what the gate lets through may come, and end, before the network thread gets the pause.
            try await networkThreadIsDone()
        }
    }

    @Test(arguments: [
        Representation(.pattern(body)),
        Representation(.pattern(body), entityTag: .weak("v1")),
        Representation(.pattern(body), entityTag: .strong("v1"), contentCoding: "x-own"),
    ])
    func anUnnamedResponseContinues(_ representation: Representation) async throws {
        let scene = try await Scene(representation)
        try await scene.pause()
        #expect(scene.operation.isPaused && !scene.operation.isExecuting)
        scene.gate.open()
        // The server has sent all that the connection takes, and no byte of it is read.
        try await scene.server.waitForOpenConnections(1)
        scene.operation.resume()
        _ = try await scene.operation.value
        #expect(try Self.body.firstDifference(fromFile: scene.file) == nil)
        #expect(scene.server.requests.count == 1)
    }

    @Test func aPostIsNotSentTwice() async throws {
        let scene = try await Scene(method: "POST")
        try await scene.pause()
        scene.gate.open()
        scene.operation.resume()
        _ = try await scene.operation.value
        #expect(try Self.body.firstDifference(fromFile: scene.file) == nil)
        #expect(scene.server.requests.count == 1)
    }

    @Test func aStrongTagNeedsNoConnection() async throws {
        let scene = try await Scene(Representation(.pattern(Self.body), entityTag: .strong("v1")))
        try await scene.pause()
        try await scene.server.waitForOpenConnections(0)
        scene.gate.open()
        scene.operation.resume()
        _ = try await scene.operation.value
        #expect(try Self.body.firstDifference(fromFile: scene.file) == nil)
    }

    @Test(arguments: [nil, RetryPolicy(maximumRetries: 3)])
    func aServerThatClosesAHeldConnectionIsATypedError(_ policy: RetryPolicy?) async throws {
        let scene = try await Scene(breakingAfter: 150_000)
        scene.operation.retryPolicy = policy
        try await scene.pause()
        scene.gate.open()
        try await scene.server.waitForOpenConnections(0)
        scene.operation.resume()
        await #expect(throws: ResumeError.representationChanged) { try await scene.operation.value }
        #expect(scene.server.requests.count == 1)
    }

    @Test func timeDoesNotCountMeanwhile() async throws {
        let scene = try await Scene(timeout: 1)
        try await scene.pause()
        // Another one that receives nothing for longer.
        let silent = try ScriptedServer([.silence])
        var request = URLRequest(url: silent.url)
        request.timeoutInterval = 2.5
        let other = HTTPRequestOperation(request: request)
        other.start()
        await #expect(throws: URLError.self) { try await other.value }
        scene.gate.open()
        scene.operation.resume()
        _ = try await scene.operation.value
        #expect(try Self.body.firstDifference(fromFile: scene.file) == nil)
    }

    @Test func aCancelEndsItAtOnce() async throws {
        let scene = try await Scene()
        try await scene.pause()
        scene.operation.cancel()
        await #expect(throws: URLError.self) { try await scene.operation.value }
        try await scene.server.waitForOpenConnections(0)
        scene.gate.open()
    }

    @Test func itsSlotIsFree() async throws {
        let scene = try await Scene()
        let queue = TransferQueue()
        queue.maxConcurrentOperationCount = 1
        let progress = Recorder<Int64>()
        scene.operation.setDownloadProgress { _, total, _ in progress.append(total) }
        queue.addOperation(scene.operation)
        _ = try await progress.wait()
        scene.operation.pause()
        let other = HTTPRequestOperation(request: URLRequest(url: scene.server.url))
        other.completionQueue = DispatchQueue(label: "callbacks")
        queue.addOperation(other)
        #expect(try await other.value as? Data == Self.body.data)
        scene.gate.open()
        scene.operation.resume()
        _ = try await scene.operation.value
        #expect(try Self.body.firstDifference(fromFile: scene.file) == nil)
        #expect(scene.server.requests.count == 2)
    }

    @Test func aReleasedOperationHoldsNoConnection() async throws {
        let server: ScriptedServer
        let gate: Gate
        do {
            let scene = try await Scene()
            try await scene.pause()
            (server, gate) = (scene.server, scene.gate)
            try await server.waitForOpenConnections(1)
        }
        try await server.waitForOpenConnections(0)
        gate.open()
    }
}
