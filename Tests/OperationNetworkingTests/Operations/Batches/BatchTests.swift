import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

@Suite(.timeLimit(.minutes(1)))
struct BatchTests {
    private let callbacks = DispatchQueue(label: "callbacks")

    private func member(_ server: ScriptedServer, _ path: String = "/") -> HTTPRequestOperation {
        let operation = HTTPRequestOperation(request: URLRequest(url: server.url(path: path)))
        operation.completionQueue = DispatchQueue.global()
        return operation
    }

    @Test func countsEachMemberOnceAndCompletesAfterAllCallbacks() async throws {
        let server = try ScriptedServer { request in
            request.path == "/bad" ? .respond(500) : .respond(body: "x")
        }
        let members = (0..<200).map { member(server, $0 % 3 == 0 ? "/bad" : "/good") }
        let answered = Recorder<Bool>()
        for member in members {
            member.setCompletion(
                success: { _, _ in answered.append(true) },
                failure: { _, _ in answered.append(false) }
            )
        }
        let counts = Recorder<Int>()
        let completions = Recorder<Int>()
        // A concurrent queue, on purpose.
        let batch = ConnectionOperation.batch(
            of: members,
            completionQueue: DispatchQueue.global(),
            progress: { finished, total in counts.append(finished * 1000 + total) },
            completion: { members in completions.append(members.count + answered.elements.count) }
        )
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 8
        for operation in batch { queue.addOperation(operation) }

        #expect(try await completions.wait() == [400])
        #expect(counts.elements == (1...200).map { $0 * 1000 + 200 })
        #expect(answered.elements.count { !$0 } == 67)
    }

    @Test func anEmptyBatchCompletes() async throws {
        let completions = Recorder<Int>()
        let batch = ConnectionOperation.batch(
            of: [HTTPRequestOperation](),
            completionQueue: callbacks,
            completion: { completions.append($0.count) }
        )
        #expect(batch.count == 1)
        #expect(try await completions.wait() == [0])
    }

    @Test func membersThatHaveFinishedOrAreCancelledCount() async throws {
        let server = try ScriptedServer { _ in .respond(body: "x") }
        let finished = member(server)
        finished.start()
        _ = try await finished.value
        let cancelled = member(server)
        cancelled.cancel()
        let running = member(server)
        let completions = Recorder<[Bool]>()
        _ = ConnectionOperation.batch(
            of: [finished, cancelled, running],
            completionQueue: callbacks,
            completion: { completions.append($0.map { $0.error == nil }) }
        )
        let queue = OperationQueue()
        queue.addOperation(cancelled)
        queue.addOperation(running)
        #expect(try await completions.wait() == [[true, false, true]])
    }

    @Test func theLastOperationComesAfterTheCompletion() async throws {
        let server = try ScriptedServer { _ in .respond(body: "x") }
        let events = Recorder<String>()
        let batch = ConnectionOperation.batch(
            of: [member(server), member(server)],
            completionQueue: callbacks,
            completion: { _ in events.append("completion") }
        )
        let after = BlockOperation { events.append("after") }
        after.addDependency(try #require(batch.last))
        let queue = OperationQueue()
        queue.addOperation(after)
        for operation in batch { queue.addOperation(operation) }
        #expect(try await events.wait(count: 2) == ["completion", "after"])
    }

    @Test func aCompletionGroupOfAMemberIsLeftAlone() async throws {
        let server = try ScriptedServer { _ in .respond(body: "x") }
        let group = DispatchGroup()
        let member = member(server)
        member.completionGroup = group
        let completed = Gate()
        _ = ConnectionOperation.batch(
            of: [member],
            completionQueue: callbacks,
            completion: { _ in completed.open() }
        )
        member.start()
        try await completed.wait()
        #expect(member.completionGroup === group)
    }
}
