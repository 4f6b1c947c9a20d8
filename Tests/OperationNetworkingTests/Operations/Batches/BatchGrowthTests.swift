import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// The growth of a batch's commands, in the times that its queue asks members whether they are ready.
@Suite(.timeLimit(.minutes(2)))
struct BatchGrowthTests {

    enum Story: String, CaseIterable, Sendable {
        case adding, resuming, pausing, cancelling, stopping
    }

    /// The questions of `count` members for a command, in a queue that has slots free for all that run.
    private func questions(_ count: Int, _ story: Story, _ server: ScriptedServer) -> Int {
        let questions = Locked(0)
        let request = URLRequest(url: server.url(path: "/"))
        let batch = OperationBatch(
            (0..<count).map { _ in AskedOperation(request: request, questions: questions) }
        )
        let queue = TransferQueue()
        queue.maxConcurrentOperationCount = count + 1
        batch.pause()
        if story != .adding { batch.add(to: queue) }
        if story == .pausing { batch.resume() }
        let before = questions.withLock { $0 }
        switch story {
        case .adding: batch.add(to: queue)
        case .resuming: batch.resume()
        case .pausing: batch.pause()
        case .cancelling: batch.cancel()
        case .stopping:
            batch.cancel()
            queue.waitUntilAllOperationsAreFinished()
        }
        let asked = questions.withLock { $0 } - before
        batch.cancel()
        queue.waitUntilAllOperationsAreFinished()
        return asked
    }

    @Test func cancellingChecksEachOperationAConstantNumberOfTimes() throws {
        for count in [200, 800] {
            let questions = Locked(0)
            let manager = OperationManager()
            manager.operationQueue.maxConcurrentOperationCount = count + 1
            let request = URLRequest(url: try #require(URL(string: "http://127.0.0.1:1/a")))
            let batch = OperationBatch(
                (0..<count).map { _ in AskedOperation(request: request, questions: questions) }
            )
            batch.pause()
            batch.add(to: manager.operationQueue)
            let before = questions.withLock { $0 }
            try manager.cancelAllOperations(method: "GET", path: "http://127.0.0.1:1/a")
            let asked = questions.withLock { $0 } - before
            #expect(asked <= 20 * count, "\(count) operations: \(asked)")
            manager.operationQueue.waitUntilAllOperationsAreFinished()
            let areCancelled = batch.members.allSatisfy { $0.isCancelled }
            #expect(areCancelled)
        }
    }

    @Test(arguments: Story.allCases) func eachMemberIsCheckedAConstantNumberOfTimes(story: Story) throws {
        let server = try ScriptedServer { _ in .silence }
        for count in [200, 800] {
            let questions = questions(count, story, server)
            #expect(questions <= 20 * count, "\(count) members: \(questions)")
        }
    }
}
