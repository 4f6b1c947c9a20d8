import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

@Suite(.timeLimit(.minutes(1)))
struct BandwidthLimitTests {
    private let callbacks = DispatchQueue(label: "callbacks")

    private func operation(_ url: URL, uploading body: BodySource? = nil) -> HTTPRequestOperation {
        var request = URLRequest(url: url)
        request.httpMethod = body == nil ? "GET" : "POST"
        request.bodySource = body
        let operation = HTTPRequestOperation(request: request)
        operation.completionQueue = callbacks
        return operation
    }

    /// Seconds until all of them have finished.
    private func run(_ operations: [HTTPRequestOperation]) async throws -> Double {
        let clock = ContinuousClock()
        let start = clock.now
        for operation in operations { operation.start() }
        for operation in operations { _ = try await operation.value }
        return (clock.now - start) / .seconds(1)
    }

    // Only from below: how much longer it takes is the machine's affair.

    @Test func anUploadTakesAsLongAsItsLimitSays() async throws {
        let server = try ScriptedServer([.respond()])
        let upload = operation(server.url, uploading: .data(PatternBody(length: 100_000).data))
        upload.uploadLimits = [BandwidthLimit(bytesPerSecond: 200_000)]
        #expect(try await run([upload]) > 0.4)
        #expect(server.requests[0].body == PatternBody(length: 100_000).data)
    }

    @Test func aDownloadTakesAsLongAsItsLimitSays() async throws {
        let body = PatternBody(length: 100_000).data
        let server = try ScriptedServer([.respond(body: .data(body))])
        let download = operation(server.url)
        download.downloadLimits = [BandwidthLimit(bytesPerSecond: 200_000)]
        #expect(try await run([download]) > 0.35)
        #expect(download.responseData == body)
    }

    @Test func severalTransfersShareALimit() async throws {
        let server = try ScriptedServer { _ in .respond() }
        let limit = BandwidthLimit(bytesPerSecond: 400_000)
        let uploads = (0..<4).map { _ in
            operation(server.url, uploading: .data(PatternBody(length: 50_000).data))
        }
        for upload in uploads { upload.uploadLimits = [limit] }
        #expect(try await run(uploads) > 0.4)
    }

    @Test func ofSeveralLimitsTheLowestCounts() async throws {
        let server = try ScriptedServer([.respond()])
        let upload = operation(server.url, uploading: .data(PatternBody(length: 40_000).data))
        upload.uploadLimits = [
            BandwidthLimit(bytesPerSecond: nil), BandwidthLimit(bytesPerSecond: 100_000),
            BandwidthLimit(bytesPerSecond: 1_000_000),
        ]
        #expect(try await run([upload]) > 0.3)
    }

    @Test func aLimitIsTakenAwayWhileTheTransferRuns() async throws {
        let server = try ScriptedServer([.respond()])
        let limit = BandwidthLimit(bytesPerSecond: 1000)
        let upload = operation(server.url, uploading: .data(PatternBody(length: 10_000_000).data))
        upload.uploadLimits = [limit]
        let progress = Recorder<Int64>()
        upload.setUploadProgress { _, total, _ in progress.append(total) }
        upload.start()
        _ = try await progress.wait()
        // At the old rate it would take three hours, and the suite has a minute.
        limit.bytesPerSecond = nil
        _ = try await upload.value
        #expect(server.requests[0].body.count == 10_000_000)
        #expect(limit.bytesPerSecond == nil)
    }

    @Test func aLimitThatIsRaisedIsNoticed() async throws {
        let body = PatternBody(length: 2_000_000).data
        let server = try ScriptedServer([.respond(body: .data(body))])
        let limit = BandwidthLimit(bytesPerSecond: 1)
        let download = operation(server.url)
        download.downloadLimits = [limit]
        let progress = Recorder<Int64>()
        download.setDownloadProgress { _, total, _ in progress.append(total) }
        download.start()
        _ = try await progress.wait()
        // One piece came, and took hours of the old rate; the suite has a minute.
        limit.bytesPerSecond = 10_000_000
        _ = try await download.value
        #expect(download.responseData == body)
    }

    @Test func theHighestRateCanBeReadBack() {
        #expect(BandwidthLimit(bytesPerSecond: .max).bytesPerSecond == .max)
        #expect(BandwidthLimit(bytesPerSecond: 1_000_000_007).bytesPerSecond == 1_000_000_007)
    }

    @Test(arguments: [true, false])
    func ofThoseWhoShareALimitNoneStarves(isUpload: Bool) async throws {
        let body = PatternBody(length: 200_000).data
        let server = try ScriptedServer { _ in .respond(body: isUpload ? "" : .data(body)) }
        let limit = BandwidthLimit(bytesPerSecond: 1_000_000)
        // From the callback queue, so in order with the ends.
        let totals = Recorder<(index: Int, total: Int64)>()
        let atFirstEnd = Recorder<Int>()
        let operations = (0..<5).map { index in
            let operation = operation(server.url, uploading: isUpload ? .data(body) : nil)
            if isUpload { operation.uploadLimits = [limit] } else { operation.downloadLimits = [limit] }
            operation.setUploadProgress { _, total, _ in if isUpload { totals.append((index, total)) } }
            operation.setDownloadProgress { _, total, _ in if !isUpload { totals.append((index, total)) } }
            operation.completionBlock = { atFirstEnd.append(totals.elements.count) }
            return operation
        }
        _ = try await run(operations)
        let count = try await atFirstEnd.wait()[0]
        for index in 0..<5 {
            let total = totals.elements.prefix(count).last { $0.index == index }?.total ?? 0
            #expect(total > 20_000, "When the first ended, \(index) had only begun.")
        }
    }

    @Test func aTransferThatWaitsForItsLimitIsNotIdle() async throws {
        let server = try ScriptedServer([.respond()])
        var request = URLRequest(url: server.url, timeoutInterval: 0.8)
        request.httpMethod = "POST"
        request.bodySource = .data(Data(count: 3))
        let upload = HTTPRequestOperation(request: request)
        upload.completionQueue = callbacks
        upload.uploadLimits = [BandwidthLimit(bytesPerSecond: 1)]
        #expect(try await run([upload]) > 1)
    }

    @Test func aTransferThatWaitsForItsLimitDelaysNoOther() async throws {
        let server = try ScriptedServer { _ in .respond(body: "done") }
        let slow = operation(server.url, uploading: .data(Data(count: 1_000_000)))
        slow.uploadLimits = [BandwidthLimit(bytesPerSecond: 1)]
        let progress = Recorder<Int64>()
        slow.setUploadProgress { _, total, _ in progress.append(total) }
        slow.start()
        _ = try await progress.wait()
        for _ in 0..<50 {
            let other = operation(server.url)
            other.start()
            _ = try await other.value
        }
        #expect(!slow.isFinished)
        slow.cancel()
        await #expect(throws: URLError.self) { try await slow.value }
    }

    @Test func pausingAndResumingKeepsTheLimit() async throws {
        let body = PatternBody(length: 60_000).data
        let server = try ScriptedServer { _ in
            .representation(Representation(.data(body), entityTag: .strong("1")))
        }
        let download = operation(server.url)
        download.downloadLimits = [BandwidthLimit(bytesPerSecond: 100_000)]
        let progress = Recorder<Int64>()
        download.setDownloadProgress { _, total, _ in progress.append(total) }
        download.start()
        _ = try await progress.wait()
        download.pause()
        download.resume()
        _ = try await download.value
        #expect(download.responseData == body)
    }

    @Test func theFormsThrottleIsALimit() async throws {
        let server = try ScriptedServer([.respond()])
        let request = try HTTPRequestSerializer().multipartFormRequest(method: "POST", url: server.url) {
            form in
            form.appendPart(withFormData: PatternBody(length: 50_000).data, name: "a")
            form.throttleBandwidth(withPacketSize: 10_000, delay: 0.1)
        }
        let upload = HTTPRequestOperation(request: request)
        upload.completionQueue = callbacks
        #expect(try await run([upload]) > 0.4)
    }
}
