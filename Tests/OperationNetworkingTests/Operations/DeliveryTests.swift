import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite struct ProgressMeterTests {
    private let start = MonotonicTime(seconds: 100)

    @Test func reportsAtMostTwentyTimesASecondAndTheLastValueAlways() {
        var meter = ProgressMeter()
        meter.expected = 1000
        var reports: [ProgressReport] = []
        for step in 0..<1000 {
            if let report = meter.add(1, now: start + Double(step) / 1000) { reports.append(report) }
        }
        #expect(reports.count <= 21)
        if let last = meter.finish(now: start + 1) { reports.append(last) }
        #expect(reports.last?.total == 1000)
        #expect(reports.reduce(0) { $0 + $1.bytes } == 1000)
        #expect(reports.allSatisfy { $0.expected == 1000 })
        #expect(meter.finish(now: start + 2) == nil)
    }

    @Test func reportsLaterWhatCameTooSoon() {
        var meter = ProgressMeter()
        #expect(!meter.isBehind && meter.catchUp(now: start) == nil)
        let reported = [
            meter.add(600, now: start), meter.add(300, now: start + 0.01), meter.add(50, now: start + 0.02),
        ]
        #expect(reported.map { $0?.total } == [600, nil, nil] && meter.isBehind)
        // Another report came in between: it is too soon, and still to be delivered.
        #expect(meter.catchUp(now: start + 0.04) == nil && meter.isBehind)
        #expect(
            meter.catchUp(now: start + 0.07) == ProgressReport(bytes: 350, total: 950, expected: -1)
        )
        #expect(!meter.isBehind && meter.catchUp(now: start + 1) == nil)
        meter.restart(at: 0)
        _ = meter.add(500, now: start + 2)
        #expect(!meter.isBehind && meter.catchUp(now: start + 3) == nil)
    }

    @Test func countsWhatWasThereBeforeAResumption() {
        var meter = ProgressMeter()
        _ = meter.add(600, now: start)
        meter.restart(at: 600)
        #expect(meter.add(100, now: start + 1)?.total == 700)
    }

    @Test func reportsNothingAfterARestartUntilItExceedsItsLastReport() {
        var meter = ProgressMeter()
        #expect(meter.add(600, now: start)?.total == 600)
        meter.restart(at: 0)
        #expect(meter.add(500, now: start + 1) == nil)
        #expect(meter.add(200, now: start + 2)?.total == 700)
    }

    @Test func theLastReportIsCorrectEvenIfItIsSmaller() {
        var meter = ProgressMeter()
        _ = meter.add(600, now: start)
        meter.restart(at: 0)
        _ = meter.add(100, now: start + 1)
        #expect(meter.finish(now: start + 2)?.total == 100)
    }
}

@Suite struct CoalescedWorkTests {
    @Test func theFirstOfEachRoundNeedsATimer() {
        var round = CoalescedWork()
        var done: [Int] = []
        let firsts = (0..<3).map { number in round.add { done.append(number) } }
        #expect(firsts == [true, false, false])
        for work in round.takeAll() {
            work()
            let isFirst = round.add { done.append(9) }
            #expect(isFirst == (done.count == 1))
        }
        #expect(done == [0, 1, 2])
        let next = round.takeAll()
        #expect(next.count == 3 && round.takeAll().isEmpty)
    }
}

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
