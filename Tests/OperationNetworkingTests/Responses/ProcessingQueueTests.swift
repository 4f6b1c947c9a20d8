import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

@Suite(.timeLimit(.minutes(1)))
struct ProcessingQueueTests {
    @Test(arguments: [1, 3])
    func theQueueRunsNoMoreWorkThanItsWidth(width: Int) async throws {
        let queue = ProcessingQueue(label: "tests", width: width)
        let (gate, begun) = (Gate(), Recorder<Int>())
        for number in 0..<10 {
            queue.async {
                begun.append(number)
                try? gate.waitSynchronously()
            }
        }
        try await gate.waitForArrivals(width)
        #expect(Set(begun.elements) == Set(0..<width))
        gate.open()
        #expect(Set(try await begun.wait(count: 10)) == Set(0..<10))
        // It takes more after it was empty.
        queue.async { begun.append(10) }
        #expect(try await begun.wait(count: 11).last == 10)
    }

    @Test func aSerialQueueRunsWorkInOrder() async throws {
        let queue = ProcessingQueue(label: "tests", width: 0)
        let done = Recorder<Int>()
        for number in 0..<100 { queue.async { done.append(number) } }
        #expect(try await done.wait(count: 100) == Array(0..<100))
        #expect(queue.width == 1)
    }

    @Test func finishedWorkIsReleasedWhileOtherWorkWaits() async throws {
        final class Thing: Sendable {}
        let queue = ProcessingQueue(label: "tests", width: 1)
        let (first, last) = (Gate(), Gate())
        // The one that takes the lane, and one that waits.
        weak var begun: Thing?
        weak var thing: Thing?
        do {
            let held = Thing()
            begun = held
            queue.async { withExtendedLifetime(held) { try? first.waitSynchronously() } }
        }
        do {
            let held = Thing()
            thing = held
            queue.async { withExtendedLifetime(held) {} }
        }
        queue.async { try? last.waitSynchronously() }
        queue.async {}
        try await first.waitForArrivals()
        #expect(thing != nil && begun != nil)
        first.open()
        try await last.waitForArrivals()
        #expect(thing == nil && begun == nil)
        last.open()
    }

    /// Waits for a gate, on a queue of its own.
    private struct Slow: QueuedResponseSerializer {
        let gate: Gate
        let processingQueue: ProcessingQueue?

        func responseObject(for response: HTTPURLResponse?, data: Data?) throws -> (any Sendable)? {
            try gate.waitSynchronously()
            return data
        }
    }

    @Test(arguments: [false, true])
    func aBlockingSerializerDelaysNoOtherOperation(isInCompound: Bool) async throws {
        let server = try ScriptedServer { _ in .respond(body: "hello") }
        let gate = Gate()
        let slow = Slow(gate: gate, processingQueue: ProcessingQueue(label: "tests", width: 2))
        let held = (0..<100).map { _ in
            let operation = HTTPRequestOperation(request: URLRequest(url: server.url))
            operation.responseSerializer = isInCompound ? CompoundResponseSerializer([slow]) : slow
            operation.start()
            return operation
        }
        try await gate.waitForArrivals(2)
        let other = HTTPRequestOperation(request: URLRequest(url: server.url))
        other.start()
        #expect(try await other.value as? Data == Data("hello".utf8))
        #expect(gate.arrivals == 2)
        gate.open()
        for operation in held { #expect(try await operation.value as? Data == Data("hello".utf8)) }
    }
}
