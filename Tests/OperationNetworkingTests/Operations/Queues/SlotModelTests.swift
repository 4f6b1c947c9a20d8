import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// Queues in which everything happens at random from two threads. Each comes to rest, with every body right.
@Suite(.timeLimit(.minutes(5)))
struct SlotModelTests {
    @Test(arguments: SlotTests.Kind.allCases, [1, 2, 3])
    func neverAStallNeverOneTooManyAndTheLimitIsRestored(_ kind: SlotTests.Kind, _ limit: Int) async throws {
        let model = try SlotModel(kind, limit)
        for round in 0..<Rounds.count(500) {
            let cycle = SlotModel.Cycle(model, seed: UInt64(round))
            try await cycle.run()
        }
    }
}

private struct Pausing: RequestAdapter {
    let turns: Int

    func adapt(_ request: URLRequest, in context: RequestContext) async throws -> URLRequest {
        for _ in 0..<turns { await Task.yield() }
        return request
    }
}

/// A server, and what is the same in every cycle.
private final class SlotModel: Sendable {
    static let body = PatternBody(length: 20_000)

    let server: ScriptedServer
    let kind: SlotTests.Kind
    let limit: Int
    /// The most transfers that were seen at once.
    let peak = Locked(0)
    /// Opens when the answers of the present cycle may go on.
    private let gate = Locked(Gate())

    init(_ kind: SlotTests.Kind, _ limit: Int) throws {
        self.kind = kind
        self.limit = limit
        let representation = Representation(.pattern(Self.body), entityTag: .strong("v1"))
        let (gate, peak) = (gate, peak)
        server = try ScriptedServer { request in
            countTransfers(upTo: peak)
            let answer = Answer.representation(representation)
            return request.path.hasPrefix("/held")
                ? answer.held(after: .body(500), by: gate.withLock { $0 }) : answer
        }
    }

    func begin() -> Gate {
        let gate = Gate()
        self.gate.withLock { $0 = gate }
        peak.withLock { $0 = 0 }
        return gate
    }

    /// A queue and its operations from the beginning to the end.
    final class Cycle: Sendable {
        private struct State {
            var random: SeededGenerator
            var limit: Int
            /// The highest since the beginning: an operation that runs is not stopped by a lower limit.
            var highestLimit: Int
            /// The number of operations in the queue. No others are touched: Foundation deadlocks when one
            /// with a dependency was cancelled, and is added behind a barrier.
            var added = 0
            var log: [String] = []
        }

        private let model: SlotModel
        private let gate: Gate
        private let queue: OperationQueue
        private let operations: [HTTPRequestOperation]
        private let state: Locked<State>
        private let seed: UInt64
        /// A cycle has barriers or cancels its whole queue: Foundation crashes when a barrier is cancelled before what it
        /// waits for has finished.
        private var hasBarriers: Bool { seed.isMultiple(of: 2) }

        init(_ model: SlotModel, seed: UInt64) {
            self.model = model
            self.seed = seed
            gate = model.begin()
            queue = model.kind.queue(limit: model.limit)
            state = Locked(
                State(random: SeededGenerator(seed: seed), limit: model.limit, highestLimit: model.limit)
            )
            let callbacks = DispatchQueue(label: "callbacks")
            operations = (0..<6).map { index in
                let path = (index.isMultiple(of: 2) ? "/held" : "/free") + "/\(index)"
                let operation = HTTPRequestOperation(request: URLRequest(url: model.server.url(path: path)))
                operation.completionQueue = callbacks
                operation.name = path
                // It waits, and lends its place.
                if index % 3 < 2 { operation.requestAdapters = [Pausing(turns: index * 5)] }
                return operation
            }
        }

        private func number(in range: Range<Int>) -> Int {
            state.withLock { Int.random(in: range, using: &$0.random) }
        }

        private func note(_ step: String) {
            state.withLock { $0.log.append(step) }
        }

        func run() async throws {
            let other = Gate()
            Thread.detachNewThread {
                for _ in 0..<8 { self.disturb() }
                other.open()
            }
            for (index, operation) in operations.enumerated() {
                if index > 0, number(in: 0..<4) == 0 {
                    operation.addDependency(operations[number(in: 0..<index)])
                }
                let priorities: [Operation.QueuePriority] = [.veryLow, .normal, .normal, .high, .veryHigh]
                operation.queuePriority = priorities[number(in: 0..<priorities.count)]
                note("add \(index)")
                queue.addOperation(operation)
                state.withLock { $0.added += 1 }
                act()
                await Task.yield()
            }
            try await other.wait()
            try await end()
        }

        private func act() {
            switch number(in: 0..<16) {
            case 0..<6:
                disturb()
            case 6 where hasBarriers:
                note("barrier")
                queue.addBarrierBlock {}
            case 7:
                note("suspend")
                queue.isSuspended = true
            case 8, 9:
                note("go on")
                queue.isSuspended = false
            case 10 where !hasBarriers && number(in: 0..<6) == 0:
                note("cancel all")
                queue.cancelAllOperations()
            case 11 where model.kind == .ours:
                // An ordinary queue cannot distinguish a new limit from the one that it shows.
                let limit = 1 + number(in: 0..<3)
                note("limit \(limit)")
                state.withLock { state in
                    state.limit = limit
                    state.highestLimit = max(limit, state.highestLimit)
                }
                queue.maxConcurrentOperationCount = limit
            default:
                break
            }
        }

        /// The work of both threads.
        private func disturb() {
            let added = state.withLock(\.added)
            guard added > 0 else { return }
            let index = number(in: 0..<added)
            switch number(in: 0..<9) {
            case 0..<4:
                note("pause \(index)")
                operations[index].pause()
            case 4..<8:
                note("resume \(index)")
                operations[index].resume()
            default:
                guard number(in: 0..<3) == 0 else { return }
                note("cancel \(index)")
                operations[index].cancel()
            }
        }

        private func end() async throws {
            note("end")
            queue.isSuspended = false
            for operation in operations { operation.resume() }
            if !hasBarriers, number(in: 0..<8) == 0 {
                note("cancel all")
                queue.cancelAllOperations()
            }
            gate.open()
            let done = Gate()
            let queue = self.queue
            Thread.detachNewThread {
                queue.waitUntilAllOperationsAreFinished()
                done.open()
            }
            do {
                try await done.wait(within: .waitingLimit)
            } catch {
                Issue.record("It stalls: \(report)")
                throw error
            }
            check()
        }

        private func check() {
            for operation in operations {
                #expect(operation.isFinished)
                if operation.isCancelled {
                    #expect((operation.error as? URLError)?.code == .cancelled, "\(report)")
                } else {
                    #expect(operation.error == nil, "\(report)")
                    #expect(operation.responseData == SlotModel.body.data, "\(report)")
                }
            }
            let (limit, highest) = state.withLock { ($0.limit, $0.highestLimit) }
            #expect(queue.maxConcurrentOperationCount == limit, "\(report)")
            if let queue = queue as? TransferQueue { #expect(queue.limitInUse == limit, "\(report)") }
            let peak = model.peak.withLock { $0 }
            #expect(peak <= highest, "\(report)")
        }

        private var report: String {
            let log = state.withLock { $0.log.joined(separator: ", ") }
            return "seed \(seed); \(log); \(operations); \(queue.operations)"
        }
    }
}
