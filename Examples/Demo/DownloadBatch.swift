import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting

/// The downloads of all files, four at a time, and a stream of their events.
final class DownloadBatch {
    /// An event of the batch.
    enum Event: Sendable {
        /// `bytes` bytes of the file have been received.
        case received(file: Int, bytes: Int)
        /// The download of the file started or stopped.
        case runs(file: Int, Bool)
        /// `files` files are complete.
        case done(files: Int)
    }

    /// Reports the events of one file.
    private final class Row: OperationObserver {
        private let file: Int
        private let report: AsyncStream<Event>.Continuation

        init(_ file: Int, _ report: AsyncStream<Event>.Continuation) {
            self.file = file
            self.report = report
        }

        func operation(
            _ operation: ConnectionOperation,
            didDownload bytes: Int,
            total: Int64,
            expected: Int64
        ) {
            report.yield(.received(file: file, bytes: Int(total)))
        }

        func operationDidStart(_ operation: ConnectionOperation) {
            report.yield(.runs(file: file, true))
        }

        func operationDidPause(_ operation: ConnectionOperation) {
            report.yield(.runs(file: file, false))
        }

        func operationDidResume(_ operation: ConnectionOperation) {
            report.yield(.runs(file: file, true))
        }

        func operationDidFinish(_ operation: ConnectionOperation, wasRunning: Bool) {
            report.yield(.runs(file: file, false))
        }
    }

    /// One for each file, in order.
    let downloads: [HTTPRequestOperation]
    /// Ends when the last callback of the last download has been called.
    let events: AsyncStream<Event>
    private let operations: [Operation]
    private let queue = OperationQueue()

    init(of files: [SampleFile], from server: FileServer, to directory: TemporaryDirectory) {
        let (events, report) = AsyncStream.makeStream(of: Event.self)
        let callbacks = DispatchQueue(label: "callbacks")
        downloads = files.enumerated().map { index, file in
            let download = HTTPRequestOperation(request: URLRequest(url: server.url(of: file)))
            download.outputFile = directory.file(file.name)
            download.completionQueue = callbacks
            download.addObserver(Row(index, report))
            return download
        }
        operations = ConnectionOperation.batch(
            of: downloads,
            completionQueue: callbacks,
            progress: { finished, _ in report.yield(.done(files: finished)) },
            completion: { _ in report.finish() }
        )
        self.events = events
        queue.maxConcurrentOperationCount = 4
    }

    // MARK: - Commands

    /// Starts the queue.
    func start() {
        queue.addOperations(operations, waitUntilFinished: false)
    }

    /// Pauses all unfinished downloads. Waiting ones are paused first, so that none of them starts in a free slot.
    func pause() {
        for download in downloads.reversed() { download.pause() }
    }

    /// Resumes all downloads, first those that were running.
    func resume() {
        for download in downloads { download.resume() }
    }
}
