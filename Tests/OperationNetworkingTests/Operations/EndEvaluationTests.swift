import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// A serializer runs once, whatever a pause or a cancel overtakes.
@Suite(.timeLimit(.minutes(1)))
struct EndEvaluationTests {

    /// Returns the number of the call when the gate is open; of a file its text, which it moves away.
    private struct Held: TransferResponseSerializer {
        let gate = Gate()
        let calls = Locked(0)
        let hasReturned = Locked(false)

        func responseObject(for transfer: ReceivedTransfer) throws -> (any Sendable)? {
            let number = calls.withLock { calls in
                calls += 1
                return calls
            }
            defer { hasReturned.withLock { $0 = true } }
            try gate.waitSynchronously()
            guard let file = transfer.file else { return "call \(number)" }
            let moved = file.appendingPathExtension("moved")
            try FileManager.default.moveItem(at: file, to: moved)
            return try String(contentsOf: moved, encoding: .utf8)
        }
    }

    /// An operation whose serializer has begun.
    private struct Scene {
        let server: ScriptedServer
        let operation: HTTPRequestOperation
        let serializer = Held()

        var calls: Int { serializer.calls.withLock { $0 } }

        init(file: URL? = nil) async throws {
            server = try ScriptedServer { _ in .respond(body: "body") }
            operation = HTTPRequestOperation(request: URLRequest(url: server.url))
            operation.completionQueue = DispatchQueue(label: "callbacks")
            operation.responseSerializer = serializer
            operation.outputFile = file
            operation.start()
            try await serializer.gate.waitForArrivals()
        }

        /// Waits for the evaluations that were scheduled before.
        func waitForEvaluations() async {
            await processingIsDone()
        }
    }

    @Test(arguments: [false, true]) func aResultThatComesInAPauseIsKept(isInFile: Bool) async throws {
        let directory = try TemporaryDirectory()
        let scene = try await Scene(file: isInFile ? directory.file("body") : nil)
        scene.operation.pause()
        scene.serializer.gate.open()
        await scene.waitForEvaluations()
        #expect(scene.operation.isPaused && scene.operation.responseObject == nil)
        scene.operation.resume()
        #expect(try await scene.operation.value as? String == (isInFile ? "body" : "call 1"))
        #expect(scene.calls == 1)
    }

    @Test func aPauseAndAResumeMeanwhileStartNoOther() async throws {
        let scene = try await Scene()
        scene.operation.pause()
        scene.operation.resume()
        // The exchange has reported its end again.
        try await networkThreadIsDone()
        scene.serializer.gate.open()
        #expect(try await scene.operation.value as? String == "call 1")
        await scene.waitForEvaluations()
        #expect(scene.calls == 1)
    }

    @Test func aCancelDoesNotWaitForTheSerializer() async throws {
        let scene = try await Scene()
        defer { scene.serializer.gate.open() }
        scene.operation.cancel()
        await #expect(throws: URLError.self) { try await scene.operation.value }
        #expect(scene.operation.isFinished && scene.calls == 1)
        #expect(!scene.serializer.hasReturned.withLock { $0 })
    }

    @Test func aCancelInAPauseUsesNoResult() async throws {
        let scene = try await Scene()
        scene.operation.pause()
        scene.serializer.gate.open()
        await scene.waitForEvaluations()
        scene.operation.cancel()
        await #expect(throws: URLError.self) { try await scene.operation.value }
        #expect(scene.operation.responseObject == nil && scene.operation.responseData == Data("body".utf8))
        #expect(scene.calls == 1)
    }
}
