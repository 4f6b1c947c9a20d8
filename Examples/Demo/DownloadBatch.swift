import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting

/// The downloads of all files, four at a time, and one stream of what happens to them.
final class DownloadBatch {
    /// An event of the batch.
    enum Event: Sendable {
        /// `bytes` bytes of the file have been received.
        case received(file: Int, bytes: Int)
        /// The file is being fetched, or not any more.
        case runs(file: Int, Bool)
        /// `files` files are done.
        case done(files: Int)
    }

    /// The place of one file's progress.
    private final class Row: Sendable {
        private let file: Int
        private let report: AsyncStream<Event>.Continuation

        init(_ file: Int, _ report: AsyncStream<Event>.Continuation) {
            self.file = file
            self.report = report
        }

        func show(_ progress: TransferProgress) {
            report.yield(.received(file: file, bytes: Int(progress.bytes)))
        }

        func show(runs: Bool) {
            report.yield(.runs(file: file, runs))
        }
    }

    /// One for each file, in order.
    let downloads: [HTTPRequestOperation]
    /// Ends when the last callback of the last download has been called.
    let events: AsyncStream<Event>
    private let operations: [Operation]
    /// Bindings keep no object that they show something in.
    private let rows: [Row]
    private let queue = OperationQueue()

    init(of files: [SampleFile], from server: FileServer, to directory: TemporaryDirectory) {
        let (events, report) = AsyncStream.makeStream(of: Event.self)
        let callbacks = DispatchQueue(label: "callbacks")
        rows = files.indices.map { Row($0, report) }
        downloads = zip(files, rows).map { file, row in
            let download = HTTPRequestOperation(request: URLRequest(url: server.url(of: file)))
            download.outputFile = directory.file(file.name)
            download.completionQueue = callbacks
            ProgressBinding(of: download, to: row) { row, progress in row.show(progress) }
            ActivityBinding(of: download, to: row) { row, isActive in row.show(runs: isActive) }
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

    /// Lets the queue begin.
    func start() {
        queue.addOperations(operations, waitUntilFinished: false)
    }

    /// Pauses all that is not finished. The ones that wait come first: none of them gets the turn of another.
    func pause() {
        for download in downloads.reversed() { download.pause() }
    }

    /// Lets all go on; those that were running come first.
    func resume() {
        for download in downloads { download.resume() }
    }
}
