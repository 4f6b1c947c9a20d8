import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

@Suite(.timeLimit(.minutes(1)))
struct DeliveryOrderTests {
    /// The end comes while a progress closure runs, and the waiter goes on before the closure returns.
    @Test(arguments: [true, false])
    func whatAWaiterDoesOnTheQueueComesAfterTheCallbacks(onQueueOfItsOwn: Bool) async throws {
        let server = try ScriptedServer([.respond(body: "done")])
        let operation = HTTPRequestOperation(request: URLRequest(url: server.url))
        let queue = onQueueOfItsOwn ? DispatchQueue(label: "callbacks") : .main
        if onQueueOfItsOwn { operation.completionQueue = queue }
        let (events, mayReturn) = (Recorder<String>(), Gate())
        operation.setDownloadProgress { _, _, _ in
            events.append("progress")
            try? mayReturn.waitSynchronously()
        }
        operation.setCompletion(
            success: { _, _ in events.append("success") },
            failure: { _, _ in events.append("failure") }
        )
        operation.start()
        _ = try await operation.value
        queue.async { events.append("waiter") }
        mayReturn.open()
        #expect(try await events.wait(count: 3) == ["progress", "success", "waiter"])
    }

    @Test func aRemovedObserverIsNotNotified() async throws {
        let server = try ScriptedServer { _ in .respond(body: "hello") }
        let operation = HTTPRequestOperation(request: URLRequest(url: server.url))
        operation.completionQueue = DispatchQueue(label: "callbacks")
        let (removed, kept) = (EventListener(), EventListener())
        let observation = operation.addObserver(removed)
        operation.addObserver(kept)
        observation.end()
        operation.start()
        #expect(try await kept.events.wait(count: 3) == ["started", "response", "finished"])
        #expect(removed.events.elements.isEmpty)
    }

    /// A batch has counted what its member's closure receives.
    @Test func aBatchCountsBeforeTheClosureIsCalled() async throws {
        let gate = Gate()
        let server = try ScriptedServer([
            .respond(body: .generated(length: 1000)).held(after: .body(500), by: gate)
        ])
        let member = HTTPRequestOperation(request: URLRequest(url: server.url))
        member.completionQueue = DispatchQueue(label: "callbacks")
        let batch = OperationBatch([member])
        let counts = Recorder<[Int64]>()
        member.setDownloadProgress { [weak batch] _, total, _ in
            counts.append([total, batch?.completedBytes ?? -1])
        }
        let queue = OperationQueue()
        for operation in batch.operations { queue.addOperation(operation) }
        _ = try await counts.wait()
        gate.open()
        _ = await batch.results()
        #expect(counts.elements.allSatisfy { $0[1] >= $0[0] }, "\(counts.elements)")
    }
}
