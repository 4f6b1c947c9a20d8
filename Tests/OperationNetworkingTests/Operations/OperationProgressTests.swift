import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// The `Progress` of one operation, and its values as a sequence.
@Suite(.timeLimit(.minutes(1)))
struct OperationProgressTests {
    private func operation(_ server: ScriptedServer) -> HTTPRequestOperation {
        let operation = HTTPRequestOperation(request: URLRequest(url: server.url))
        operation.completionQueue = DispatchQueue(label: "callbacks")
        return operation
    }

    @Test func theProgressCountsTheBytes() async throws {
        let gate = Gate()
        let server = try ScriptedServer([
            .respond(body: .generated(length: 100_000)).held(after: .body(40_000), by: gate)
        ])
        let operation = operation(server)
        let progress = operation.downloadProgress
        #expect(progress === operation.downloadProgress && progress.isIndeterminate)
        #expect(progress.completedUnitCount == 0)
        let updates = operation.downloadUpdates
        operation.start()
        var first: Int64 = 0
        for await update in updates {
            first = update.bytes
            // What came too soon after the first report is reported a moment later.
            if first == 40_000 { break }
        }
        operation.completionQueue?.sync {}
        #expect(progress.totalUnitCount == 100_000 && (first...40_000).contains(progress.completedUnitCount))
        #expect(progress.fractionCompleted == Double(progress.completedUnitCount) / 100_000 && first > 0)
        // What others set is ignored.
        progress.completedUnitCount = 100_000
        #expect(progress.completedUnitCount <= 40_000)
        gate.open()
        _ = try await operation.value
        operation.completionQueue?.sync {}
        #expect(progress.isFinished && progress.completedUnitCount == 100_000)
    }

    /// The server sends in two steps so soon after one another that one report would do, and then nothing.
    @Test func allReceivedBytesAreReportedEvenIfNothingFollows() async throws {
        let (first, second) = (Gate(), Gate())
        let server = try ScriptedServer([
            .respond(body: .generated(length: 100_000)).held(after: .body(10_000), by: first)
                .held(after: .body(90_000), by: second)
        ])
        let operation = operation(server)
        let progress = operation.downloadProgress
        let updates = operation.downloadUpdates
        operation.start()
        var totals: [Int64] = []
        for await update in updates {
            totals.append(update.bytes)
            if totals.count == 1 { first.open() }
            if update.bytes == 90_000 { break }
        }
        #expect(totals == totals.sorted() && Set(totals).count == totals.count)
        operation.completionQueue?.sync {}
        #expect(progress.completedUnitCount == 90_000)
        second.open()
        _ = try await operation.value
    }

    @Test func allSentBytesAreReportedBeforeTheResponse() async throws {
        let gate = Gate()
        let server = try ScriptedServer([.respond(body: "").held(after: .wire(0), by: gate)])
        var request = URLRequest(url: server.url)
        request.httpMethod = "PUT"
        request.httpBody = Data(count: 300_000)
        let operation = HTTPRequestOperation(request: request)
        operation.completionQueue = DispatchQueue(label: "callbacks")
        let updates = operation.uploadUpdates
        operation.start()
        for await update in updates where update.bytes == 300_000 { break }
        gate.open()
        _ = try await operation.value
    }

    @Test func anUploadIsCounted() async throws {
        let server = try ScriptedServer([.respond(body: "")])
        var request = URLRequest(url: server.url)
        request.httpMethod = "PUT"
        request.httpBody = Data(count: 300_000)
        let operation = HTTPRequestOperation(request: request)
        operation.completionQueue = DispatchQueue(label: "callbacks")
        let (progress, updates) = (operation.uploadProgress, operation.uploadUpdates)
        operation.start()
        var last: TransferProgress?
        for await update in updates { last = update }
        operation.completionQueue?.sync {}
        #expect(last?.bytes == 300_000 && last?.fraction == 1)
        #expect(progress.isFinished && progress.totalUnitCount == 300_000)
    }

    @Test func aBodyOfUnknownOrNoLengthIsCompleteAtTheEnd() async throws {
        let server = try ScriptedServer([.respond(body: "hello").chunked(), .respond(204)])
        for _ in 0..<2 {
            let operation = operation(server)
            let progress = operation.downloadProgress
            operation.start()
            _ = try await operation.value
            operation.completionQueue?.sync {}
            #expect(progress.isFinished && progress.fractionCompleted == 1)
        }
    }

    @Test func aFailureIsNotACompletion() async throws {
        let server = try ScriptedServer([.respond(body: "0123456789").breaking(after: 4)])
        let operation = operation(server)
        let progress = operation.downloadProgress
        operation.start()
        await #expect(throws: URLError.self) { try await operation.value }
        #expect(!progress.isFinished && progress.fractionCompleted < 1)
    }

    /// The current progress is that of a thread.
    private func progress(of operation: HTTPRequestOperation, below parent: Progress) -> Progress {
        parent.becomeCurrent(withPendingUnitCount: 1)
        defer { parent.resignCurrent() }
        return operation.downloadProgress
    }

    @Test func itIsAChildOfTheCurrentProgress() async throws {
        let server = try ScriptedServer { _ in .respond(body: "hello") }
        let parent = Progress(totalUnitCount: 2)
        let operations = (0..<2).map { _ in operation(server) }
        for operation in operations {
            _ = progress(of: operation, below: parent)
        }
        #expect(parent.fractionCompleted == 0)
        for operation in operations {
            operation.start()
            _ = try await operation.value
            operation.completionQueue?.sync {}
        }
        #expect(parent.fractionCompleted == 1 && parent.isFinished)
    }

    @Test func theParentPausesResumesAndCancels() async throws {
        let server = try ScriptedServer { _ in .silence }
        let operation = operation(server)
        let parent = Progress(totalUnitCount: 1)
        let progress = progress(of: operation, below: parent)
        operation.start()
        try await server.waitForStalls(count: 1)
        parent.pause()
        #expect(operation.isPaused && progress.isPaused)
        parent.resume()
        #expect(!operation.isPaused)
        parent.cancel()
        #expect(operation.isCancelled && progress.isCancelled)
        await #expect(throws: URLError.self) { try await operation.value }
    }

    @Test func itIsCompleteBeforeTheResultIsDelivered() async throws {
        let server = try ScriptedServer { _ in .respond(body: "hello").chunked() }
        let operation = operation(server)
        let parent = Progress(totalUnitCount: 1)
        _ = progress(of: operation, below: parent)
        let fractions = Recorder<Double>()
        operation.setCompletion(success: { _, _ in fractions.append(parent.fractionCompleted) })
        operation.start()
        #expect(try await fractions.wait() == [1])
    }

    /// Looking a second time makes no second child.
    @Test func thereIsOneChild() async throws {
        let server = try ScriptedServer { _ in .silence }
        let operation = operation(server)
        let first = operation.downloadProgress
        let parent = Progress(totalUnitCount: 1)
        #expect(progress(of: operation, below: parent) === first)
        parent.cancel()
        #expect(!operation.isCancelled)
        operation.cancel()
    }

    @Test func aParentThatIsCancelledCancels() async throws {
        let server = try ScriptedServer { _ in .silence }
        let operation = operation(server)
        operation.start()
        let parent = Progress(totalUnitCount: 1)
        parent.cancel()
        _ = progress(of: operation, below: parent)
        await #expect(throws: URLError.self) { try await operation.value }
        #expect(operation.isCancelled)
    }

    @Test func updatesOfAnOperationThatIsDroppedEnd() async throws {
        let server = try ScriptedServer { _ in .respond(body: "hello") }
        let updates = operation(server).downloadUpdates
        for await _ in updates {}
    }

    @Test func updatesRequestedAfterTheEndAreDelivered() async throws {
        let server = try ScriptedServer { _ in .respond(body: "hello") }
        let operation = operation(server)
        operation.start()
        _ = try await operation.value
        #expect(operation.downloadProgress.isFinished)
        for await update in operation.downloadUpdates { Issue.record("\(update)") }
    }

    /// Nothing was asked for, so nothing is kept.
    @Test func anAbandonedSequenceIsReleased() async throws {
        let server = try ScriptedServer { _ in .respond(body: "hello") }
        let operation = operation(server)
        do {
            let updates = operation.downloadUpdates
            let reading = Task { for await _ in updates {} }
            reading.cancel()
            await reading.value
        }
        operation.start()
        #expect(try await operation.value != nil)
    }
}
