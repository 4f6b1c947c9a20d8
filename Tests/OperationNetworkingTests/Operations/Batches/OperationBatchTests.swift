import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// A batch as an object: commanded, counted and ended as one.
@Suite(.timeLimit(.minutes(2)))
struct OperationBatchTests {
    private let callbacks = DispatchQueue(label: "callbacks")

    private func member(_ server: ScriptedServer, _ path: String = "/") -> HTTPRequestOperation {
        let operation = HTTPRequestOperation(request: URLRequest(url: server.url(path: path)))
        operation.completionQueue = DispatchQueue.global()
        return operation
    }

    private func queue(limit: Int, _ operations: [Operation]) -> OperationQueue {
        let queue = TransferQueue()
        queue.maxConcurrentOperationCount = limit
        for operation in operations { queue.addOperation(operation) }
        return queue
    }

    // MARK: - Results

    @Test func resultsComeInTheOrderOfTheMembers() async throws {
        let gate = Gate()
        let server = try ScriptedServer(
            routes: ["/0": [.respond(body: "0").held(by: gate)], "/1": [.respond(404)]],
            otherwise: [.respond(body: "x")]
        )
        let batch = OperationBatch((0..<4).map { member(server, "/\($0)") }, completionQueue: callbacks)
        let queue = queue(limit: 4, batch.operations)
        batch.members[3].cancel()
        async let results = batch.results()
        _ = try await batch.members[2].value
        gate.open()
        let outcomes = await results.map { result in
            switch result {
            case .success(let member): member.responseString ?? ""
            case .failure(let error): (error as? URLError)?.code == .cancelled ? "cancelled" : "failed"
            }
        }
        #expect(outcomes == ["0", "failed", "x", "cancelled"])
        #expect(batch.firstFailure === batch.members[1])
        #expect(queue.maxConcurrentOperationCount == 4)
        // Any number of times, from any number of tasks.
        async let again = batch.results()
        #expect(await batch.results().count == 4)
        #expect(await again.count == 4)
    }

    @Test func updatesReportBytesAndEndWithTheBatch() async throws {
        let gate = Gate()
        let server = try ScriptedServer(
            routes: ["/0": [.respond(body: "0123456789").held(after: 4, by: gate)]],
            otherwise: [.respond(body: "0123456789")]
        )
        // The main queue, which is its completion queue, does not run here.
        let batch = OperationBatch([member(server, "/0"), member(server, "/1")])
        let updates = batch.updates
        batch.add(to: TransferQueue())
        var seen: [BatchProgress] = []
        for await progress in updates {
            seen.append(progress)
            if progress.completedBytes == 14 { gate.open() }
        }
        #expect(seen.first?.fractionCompleted == 0)
        #expect(seen.last?.completedBytes == 20 && seen.last?.fractionCompleted == 1)
        #expect(seen.last?.totalBytes == 20 && seen.last?.estimatedTimeRemaining == 0)
        #expect(zip(seen, seen.dropFirst()).allSatisfy { $0.fractionCompleted <= $1.fractionCompleted })
        var later: [Double] = []
        for await progress in batch.updates { later.append(progress.fractionCompleted) }
        #expect(later == [1])
    }

    @Test func updatesEndWithABatchThatIsReleased() async throws {
        let server = try ScriptedServer { _ in .silence }
        var batch: OperationBatch? = OperationBatch([member(server)])
        let updates = try #require(batch?.updates)
        batch = nil
        var last: BatchProgress?
        for await progress in updates { last = progress }
        // Its member, which nothing keeps either, counts as done.
        #expect(last?.fractionCompleted == 1)
    }

    @Test func anEmptyBatchHasNoResultsAndIsDone() async throws {
        let batch = OperationBatch([HTTPRequestOperation](), completionQueue: callbacks)
        #expect(await batch.results().isEmpty)
        #expect(batch.fractionCompleted == 1 && batch.progress.isFinished)
    }

    @Test func cancellingTheTaskThatWaitsCancelsTheBatch() async throws {
        let server = try ScriptedServer { _ in .silence }
        let batch = OperationBatch((0..<4).map { _ in member(server) }, completionQueue: callbacks)
        let queue = queue(limit: 2, batch.operations)
        let task = Task { await batch.results() }
        try await server.waitForStalls(count: 2)
        task.cancel()
        #expect(await task.value.allSatisfy { !$0.isSuccess })
        #expect(queue.maxConcurrentOperationCount == 2)
    }

    @Test func theBatchDoesNotWaitForAReleasedMember() async throws {
        let server = try ScriptedServer { _ in .respond(body: "x") }
        let kept = member(server)
        let completions = Recorder<Int>()
        let end = ConnectionOperation.batch(
            of: [member(server), kept, member(server)],
            completionQueue: callbacks,
            completion: { completions.append($0.count) }
        ).last
        kept.start()
        #expect(try await completions.wait() == [1])
        // It becomes ready just after the completion: a queue finishes it then.
        let queue = OperationQueue()
        let isOver = Recorder<Bool>()
        let last = try #require(end)
        last.completionBlock = { isOver.append(true) }
        queue.addOperation(last)
        try await isOver.wait()
    }

    @Test func aBatchThatNobodyRetainsIsReleasedWithItsMembers() async throws {
        let server = try ScriptedServer { _ in .respond(body: "x") }
        weak var unstarted: HTTPRequestOperation?
        weak var finished: HTTPRequestOperation?
        weak var batch: OperationBatch<HTTPRequestOperation>?
        try await {
            let own = OperationBatch([member(server), member(server)], completionQueue: callbacks)
            (unstarted, finished, batch) = (own.members[0], own.members[1], own)
            own.members[1].start()
            _ = try await own.members[1].value
        }()
        try await eventually { unstarted == nil && finished == nil && batch == nil }
    }

    @Test func aMemberMayBeInSeveralBatches() async throws {
        let server = try ScriptedServer { _ in .respond(body: "x") }
        let shared = member(server)
        let first = OperationBatch([shared, member(server)], completionQueue: callbacks)
        let second = OperationBatch([shared], completionQueue: callbacks)
        let queue = queue(limit: 2, first.operations)
        #expect(await first.results().count == 2)
        #expect(await second.results().count == 1)
        #expect(second.fractionCompleted == 1 && queue.maxConcurrentOperationCount == 2)
    }

    // MARK: - Policy

    @Test func theFirstFailureStopsTheOthers() async throws {
        let server = try ScriptedServer(
            routes: ["/silent": [.silence], "/never": [.silence], "/bad": [.respond(500)]],
            otherwise: [.respond(body: "x")]
        )
        let paths = ["/good", "/silent", "/bad"] + Array(repeating: "/never", count: 50)
        let batch = OperationBatch(
            paths.map { member(server, $0) },
            policy: .stopAtFirstFailure,
            completionQueue: callbacks
        )
        _ = queue(limit: 2, batch.operations)
        let results = await batch.results()
        #expect(results[0].isSuccess)
        #expect(batch.firstFailure === batch.members[2])
        #expect(batch.members.count { $0.isCancelled } == 51)
        // At most one of them can have been on its way.
        #expect(server.requests.count { $0.path == "/never" } <= 1)
    }

    @Test func aCancelledMemberIsNotAFailure() async throws {
        let server = try ScriptedServer { _ in .respond(body: "x") }
        let batch = OperationBatch(
            (0..<3).map { _ in member(server) },
            policy: .stopAtFirstFailure,
            completionQueue: callbacks
        )
        batch.members[0].cancel()
        _ = queue(limit: 1, batch.operations)
        #expect(await batch.results().count { $0.isSuccess } == 2)
        #expect(batch.firstFailure == nil)
    }

    // MARK: - Batches of batches

    @Test func aBatchOfBatchesEndsAfterThem() async throws {
        let server = try ScriptedServer(
            routes: ["/bad": [.respond(500)], "/silent": [.silence]],
            otherwise: [.respond(body: "x")]
        )
        let events = Recorder<String>()
        let first = OperationBatch(
            [member(server, "/bad"), member(server, "/silent")],
            policy: .stopAtFirstFailure,
            completionQueue: callbacks,
            completion: { events.append("first \($0.count)") }
        )
        let second = OperationBatch(
            [member(server), member(server)],
            completionQueue: callbacks,
            completion: { events.append("second \($0.count)") }
        )
        let both = OperationBatch(
            batches: [first, second],
            completionQueue: callbacks,
            progress: { ended, total in events.append("\(ended) of \(total)") },
            completion: { events.append("both \($0.count)") }
        )
        #expect(both.operations.count == 7)
        _ = queue(limit: 4, both.operations)
        let results = await both.results()
        // The first batch stopped its own members only.
        #expect(results.map { $0.isSuccess } == [false, false, true, true])
        #expect(both.members[1].isCancelled)
        let all = try await events.wait(count: 7)
        #expect(all.last == "both 4")
        #expect(all.filter { $0.hasSuffix("of 4") } == ["1 of 4", "2 of 4", "3 of 4", "4 of 4"])
        #expect(
            both.fractionCompleted == 1 && both.completedBytes == first.completedBytes + second.completedBytes
        )
    }

    /// What compiles is what counts: an empty literal says nothing of its members' type.
    @Test func anEmptyLiteralIsABatch() async throws {
        let events = Recorder<Int>()
        let batches: [OperationBatch<ConnectionOperation>] = [
            OperationBatch([]), OperationBatch([], policy: .stopAtFirstFailure),
        ]
        let untyped = OperationBatch([])
        let closures = OperationBatch(
            [],
            completionQueue: callbacks,
            progress: { ended, _ in events.append(ended) },
            completion: { events.append($0.count) }
        )
        let trailing = OperationBatch([], completionQueue: callbacks) { events.append($0.count) }
        let typed: OperationBatch<DownloadOperation> = OperationBatch([])
        let none = OperationBatch(batches: batches)
        for batch in batches + [untyped, closures, trailing, none] {
            // A batch of batches has the last operation of each, too.
            #expect(batch.members.isEmpty && batch.operations.count == (batch === none ? 3 : 1))
            #expect(await batch.results().isEmpty && batch.fractionCompleted == 1)
        }
        #expect(await typed.results().isEmpty)
        #expect(try await events.wait(count: 2) == [0, 0])
        let operations: [HTTPRequestOperation] = []
        #expect(type(of: OperationBatch(operations)) == OperationBatch<HTTPRequestOperation>.self)
    }

    // MARK: - Pause and resume

    @Test func aPausedBatchStartsNothing() async throws {
        let gate = Gate()
        let body = PatternBody(length: 50_000)
        let server = try ScriptedServer(
            serving: Representation(.pattern(body), entityTag: .strong("v1")),
            answers: Array(repeating: .currentRepresentation.held(after: .body(1000), by: gate), count: 2)
                + [.currentRepresentation]
        )
        let batch = OperationBatch((0..<6).map { _ in member(server) }, completionQueue: callbacks)
        let queue = queue(limit: 2, batch.operations)
        try await server.waitForRequests(count: 2)
        batch.pause()
        #expect(batch.members.allSatisfy { $0.isPaused })
        // Another operation gets the slots; no member does.
        let other = member(server, "/other")
        queue.addOperation(other)
        _ = try await other.value
        #expect(server.requests.map(\.path).filter { $0 != "/other" }.count == 2)
        gate.open()
        batch.resume()
        for result in await batch.results() {
            let member = try result.get()
            #expect(member.responseData == body.data)
        }
        #expect(queue.maxConcurrentOperationCount == 2)
    }

    @Test func theProgressCommandsTheBatch() async throws {
        let server = try ScriptedServer { _ in .silence }
        let batch = OperationBatch((0..<3).map { _ in member(server) }, completionQueue: callbacks)
        _ = queue(limit: 3, batch.operations)
        try await server.waitForStalls(count: 3)
        #expect(batch.progress.isPausable && batch.progress.isCancellable)
        batch.progress.pause()
        #expect(batch.members.allSatisfy { $0.isPaused })
        batch.progress.resume()
        #expect(!batch.members.contains { $0.isPaused })
        // Through a parent as well.
        let parent = Progress.discreteProgress(totalUnitCount: 10)
        parent.addChild(batch.progress, withPendingUnitCount: 10)
        parent.cancel()
        #expect(await batch.results().allSatisfy { !$0.isSuccess })
        #expect(parent.isFinished)
    }

    /// As where the batch was a local variable, and its progress has a parent.
    @Test func theProgressCommandsTheMembersOfABatchThatIsGone() async throws {
        let server = try ScriptedServer { _ in .silence }
        let parent = Progress.discreteProgress(totalUnitCount: 10)
        let members = (0..<3).map { _ in member(server) }
        weak var gone: OperationBatch<HTTPRequestOperation>?
        do {
            let batch = OperationBatch(members, completionQueue: callbacks)
            parent.addChild(batch.progress, withPendingUnitCount: 10)
            _ = queue(limit: 2, batch.operations)
            gone = batch
        }
        try await server.waitForStalls(count: 2)
        #expect(gone == nil)
        parent.pause()
        #expect(members.allSatisfy { $0.isPaused })
        parent.cancel()
        #expect(members.allSatisfy { $0.isCancelled })
        for member in members { _ = try? await member.value }
    }

    // MARK: - Progress

    @Test func theProgressCountsBytesAndGoesUpOnly() async throws {
        let gate = Gate()
        let small = PatternBody(seed: 1, length: 10_000)
        let large = PatternBody(seed: 2, length: 90_000)
        let server = try ScriptedServer(
            routes: [
                "/small": [.respond(body: .pattern(small))],
                "/large": [.respond(body: .pattern(large)).held(after: .body(40_000), by: gate)],
            ]
        )
        let batch = OperationBatch(
            [member(server, "/small"), member(server, "/large")],
            completionQueue: callbacks
        )
        let moved = Recorder<Void>()
        batch.members[1].setDownloadProgress { _, _, _ in moved.append(()) }
        _ = queue(limit: 2, batch.operations)
        _ = try await batch.members[0].value
        try await moved.wait()
        #expect(batch.confidence == .exact && batch.totalBytes == 100_000)
        let fraction = batch.fractionCompleted
        #expect(fraction > 0.1 && fraction <= 0.5)
        gate.open()
        _ = await batch.results()
        #expect(batch.completedBytes == 100_000 && batch.fractionCompleted == 1)
        callbacks.sync {
            #expect(batch.progress.completedUnitCount == 100_000 && batch.progress.totalUnitCount == 100_000)
            #expect(batch.progress.isFinished && batch.progress.fractionCompleted == 1)
        }
        #expect(batch.estimatedTimeRemaining == 0)
    }

    @Test func aChangedFileLowersTheConfidenceAndNotTheBar() async throws {
        let gate = Gate()
        let (old, new) = (PatternBody(seed: 1, length: 100_000), PatternBody(seed: 2, length: 100_000))
        let server = try ScriptedServer(
            serving: Representation(.pattern(old), entityTag: .strong("v1")),
            answers: [
                .currentRepresentation.held(after: .body(80_000), by: gate),
                .currentRepresentation.held(after: .body(10_000), by: gate),
            ]
        )
        let batch = OperationBatch([member(server)], completionQueue: callbacks)
        _ = queue(limit: 1, batch.operations)
        try await eventually { batch.completedBytes > 0 }
        batch.pause()
        let fraction = batch.fractionCompleted
        server.setRepresentation(Representation(.pattern(new), entityTag: .strong("v2")))
        batch.resume()
        try await eventually { batch.confidence == .estimated }
        #expect(batch.fractionCompleted >= fraction && batch.completedBytes <= 10_000)
        gate.open()
        let member = try await batch.results()[0].get()
        #expect(member.responseData == new.data)
        #expect(batch.fractionCompleted == 1 && batch.confidence == .exact)
    }

    @Test func bytesFromBeforeAPauseCountAsDone() async throws {
        let gate = Gate()
        let body = PatternBody(length: 100_000)
        let server = try ScriptedServer(
            serving: Representation(.pattern(body), entityTag: .strong("v1")),
            answers: [
                .currentRepresentation.held(after: .body(80_000), by: gate),
                .currentRepresentation.held(after: .body(1), by: gate),
            ]
        )
        let batch = OperationBatch([member(server)], completionQueue: callbacks)
        _ = queue(limit: 1, batch.operations)
        try await eventually { batch.completedBytes > 0 }
        batch.pause()
        let moved = batch.completedBytes
        batch.resume()
        try await server.waitForRequests(count: 2)
        #expect(batch.completedBytes >= moved && batch.confidence == .exact)
        gate.open()
        let member = try await batch.results()[0].get()
        #expect(member.responseData == body.data)
        #expect(batch.completedBytes == 100_000)
    }

    // MARK: - Many members

    /// Seconds of CPU and bytes for each of `count` members, from their making to their end.
    private func cost(_ count: Int) async throws -> (seconds: Double, bytes: Double) {
        let before = residentBytes
        // Not by the clock on the wall: others work on this machine, and not evenly.
        let begin = clock()
        // There is no listener: the cost is that of the operations.
        let url = try #require(URL(string: "http://127.0.0.1:1/"))
        let members = (0..<count).map { _ in HTTPRequestOperation(request: URLRequest(url: url)) }
        for member in members { member.completionQueue = callbacks }
        let batch = OperationBatch(members, completionQueue: callbacks)
        let queue = TransferQueue()
        queue.maxConcurrentOperationCount = 16
        queue.isSuspended = true
        for operation in batch.operations { queue.addOperation(operation) }
        let enqueued = residentBytes
        queue.isSuspended = false
        batch.pause()
        batch.resume()
        let results = await batch.results()
        #expect(results.count == count && batch.fractionCompleted == 1)
        let seconds = Double(clock() - begin) / Double(CLOCKS_PER_SEC)
        let bytes = Double(enqueued - before)
        print("\(count) members: \(seconds) s, \(Int(bytes / Double(count))) bytes each while queued")
        return (seconds / Double(count), bytes / Double(count))
    }

    private var residentBytes: Int {
        let fields = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ")
        return (fields.flatMap { $0.count > 1 ? Int($0[1]) : nil } ?? 0) * 4096
    }

    /// Whether one of three runs of `count` members costs less than four times as much for each of them.
    private func costs(_ count: Int, lessThanFourTimes few: Double) async throws -> Bool {
        for _ in 0..<3 where try await cost(count).seconds < few * 4 { return true }
        return false
    }

    /// What grows with the square would be ten times as dear in each run. What else runs on a machine takes caches and
    /// halves of processors away, and makes a run dearer, but not cheaper: of the few, the median counts, and of the many
    /// the first run that is cheap enough. A sanitizer makes other things dear: there as many cost as much.
    @Test func tenTimesAsManyMembersCostTenTimesAsMuch() async throws {
        _ = try await cost(1000)
        var few: [Double] = []
        for _ in 0..<3 { few.append(try await cost(1000).seconds) }
        let median = few.sorted()[1]
        #expect(try await costs(Rounds.count(10_000), lessThanFourTimes: median))
        if ProcessInfo.processInfo.environment["OPERATIONNETWORKING_LONG"] != nil {
            #expect(try await costs(20_000, lessThanFourTimes: median))
            #expect(try await costs(100_000, lessThanFourTimes: median))
        }
    }
}

extension Result {
    var isSuccess: Bool {
        if case .success = self { true } else { false }
    }
}
