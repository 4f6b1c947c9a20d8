public import Foundation
public import FoundationNetworking
internal import OperationNetworkingSystem

/// A task whose response is a file. It runs a ``DownloadOperation`` in a private directory, and then moves
/// the file to the destination. ``SessionTask/cancel()`` discards the received bytes;
/// ``cancelByProducingResumeData(_:)`` keeps them.
public final class DownloadTask: SessionTask, @unchecked Sendable {
    // @unchecked: what changes lives behind a lock.

    /// Called on a queue of the library when the file is complete, with its location and the head of the
    /// response. Returns the destination: a file URL in an existing folder. A closure written in main-actor
    /// code is called on the main queue.
    public typealias DestinationHandler =
        @isolated(any) @Sendable (_ temporary: URL, _ response: HTTPURLResponse?) -> URL

    /// Called on the completion queue when the task has completed, with the head of the response, the
    /// location of the file, and the error. There is either a file or an error.
    public typealias DownloadCompletionHandler =
        @isolated(any) @Sendable (_ response: HTTPURLResponse?, _ file: URL?, _ error: (any Error)?) -> Void

    /// Called on the completion queue with the resume data, if there is any.
    public typealias ResumeDataHandler = @isolated(any) @Sendable (_ data: Data?) -> Void

    private let download: DownloadOperation
    /// The resume data that the task was made from.
    private let earlierData: Data?
    private let hasCompletion: Bool
    /// Whether the destination is the location that the file already had.
    private let staysInPlace = Locked(false)

    init(
        _ download: DownloadOperation,
        in session: SessionCore,
        earlierData: Data? = nil,
        destination: DestinationHandler?,
        completion: DownloadCompletionHandler?,
        prepare: (@Sendable () throws -> Void)? = nil
    ) {
        self.download = download
        self.earlierData = earlierData
        hasCompletion = completion != nil
        super.init(download, in: session, prepare: prepare)
        download.discardsWhenCancelled = true
        // P15: no task can resume from the received bytes, whether this one is cancelled or fails.
        if !ResumeRequest.mayContinue(download.request) { download.keepsPartialFile = false }
        download.mover = { [weak self, url = download.request.url] file, done in
            guard let self else { return done(.failure(URLError.cancelled(url: url))) }
            self.place(file, destination, done)
        }
        if let completion {
            download.setCompletion { [weak self] operation in
                // Before the handler, which may exit the process.
                self?.temporary?.removeEmptyDirectory()
                return Callback(
                    completion,
                    operation.response,
                    operation.responseObject as? URL,
                    operation.error
                )
            }
        }
    }

    // MARK: - Resume data

    /// The data from which another task can resume, after a cancel by ``cancelByProducingResumeData(_:)``, or
    /// after a failure with bytes received; otherwise `nil`. Only a GET without a body can be resumed.
    public var resumeData: Data? {
        guard download.isFinished, download.error != nil, download.keepsPartialFile else { return nil }
        // The task was still waiting for a connection, or another operation has the file: the earlier data is
        // still valid.
        guard download.hasOpened else { return earlierData }
        return download.checkpoint.flatMap { ResumeData(checkpoint: $0).data }
    }

    /// Cancels the task with `URLError.cancelled`, and keeps the received bytes.
    ///
    /// The data identifies the checkpoint next to the partial file. It is also valid in another process, for
    /// the same user on the same machine. Whether the bytes can be used is decided on resumption: the server
    /// has to prove that the resource has not changed. If the file is already complete, and only has to be
    /// moved, nothing is cancelled: the task succeeds, and there is no data.
    ///
    /// - Parameter handler: called on the completion queue when the task has completed; with `nil` if nothing
    ///   was received, or the received bytes are discarded, as for a POST. A second call receives the same
    ///   data.
    public func cancelByProducingResumeData(@_inheritActorContext _ handler: @escaping ResumeDataHandler) {
        end {
            guard !download.isCancelled else { return }
            // It may have been suspended, and would not complete.
            guard !download.hasCompleteFile else { return download.resume() }
            download.cancel(keepingPartialFile: download.keepsPartialFile)
        }
        download.whenFinished { self.download.callBack(Callback(handler, self.resumeData)) }
    }

    // MARK: - The file

    /// Moves the file to the destination from the session's closure or, failing that, from the task's own.
    private func place(
        _ file: URL,
        _ destination: DestinationHandler?,
        _ done: @escaping @Sendable (Result<URL, any Error>) -> Void
    ) {
        let ask: @Sendable () -> Void = {
            guard let destination else { return done(.success(file)) }
            let response = self.response
            Callback(in: destination.isolation) {
                self.move(file, to: callAssumingIsolation(of: destination, file, response), done)
            }
            .perform(on: ConnectionOperation.processingQueue)
        }
        guard let hook = session.hooks.withLock({ $0.didFinishDownloading }) else { return ask() }
        Callback(in: hook.isolation) {
            if let destination = callAssumingIsolation(of: hook, self, file) {
                self.move(file, to: destination, done)
            } else {
                ask()
            }
        }
        .perform(on: ConnectionOperation.processingQueue)
    }

    private func move(
        _ file: URL,
        to destination: URL,
        _ done: @escaping @Sendable (Result<URL, any Error>) -> Void
    ) {
        // Not on the closure's executor: the main actor must not wait for a disk.
        ConnectionOperation.processingQueue.async { [self] in
            guard download.beginMove() else {
                return done(.failure(URLError.cancelled(url: download.request.url)))
            }
            do {
                try TemporaryDownload(file: file).move(to: destination)
                let isSame = destination.standardizedFileURL == file.standardizedFileURL
                staysInPlace.withLock { $0 = isSame }
                announce(.urlSessionDownloadTaskDidMoveFile)
                done(.success(destination))
            } catch {
                announce(.urlSessionDownloadTaskDidFailToMoveFile, [TaskDidCompleteKey.error: error])
                done(.failure(error))
            }
        }
    }

    private func announce(_ name: Notification.Name, _ userInfo: [String: any Sendable]? = nil) {
        download.deliver(Callback(about: self) { $0.post(name, userInfo) })
    }

    private var temporary: TemporaryDownload? { download.destination.map(TemporaryDownload.init(file:)) }

    /// Removes the directory, unless it contains the result or resumable bytes.
    private func cleanUp() {
        // The file that could not be moved is kept.
        if case .fileNotMoved = download.error as? SessionError { return }
        guard !staysInPlace.withLock({ $0 }), resumeData == nil else { return }
        Self.removeLeftovers(of: download, earlierData)
    }

    override func didFinish() {
        if !hasCompletion { cleanUp() }
        super.didFinish()
    }

    // A file without a destination stays until the completion handler has returned.
    override func didDeliverEnd() {
        if hasCompletion { cleanUp() }
    }

    override var removal: @Sendable () -> Void {
        { [weak download, earlierData] in
            if let download { Self.removeLeftovers(of: download, earlierData) }
        }
    }

    /// Removes the directory and its contents. A task that was made from resume data and has opened nothing
    /// may share it with another task from the same data.
    private static func removeLeftovers(of download: DownloadOperation, _ earlierData: Data?) {
        guard let place = download.destination.map(TemporaryDownload.init(file:)) else { return }
        let isOwn = download.hasOpened || earlierData == nil
        // Not on this thread: the file may be large.
        ConnectionOperation.processingQueue.async {
            if isOwn { place.removeAll() } else { place.removeEmptyDirectory() }
        }
    }

    override var completionInfo: [String: any Sendable] {
        var userInfo = super.completionInfo
        userInfo[TaskDidCompleteKey.responseData] = nil
        userInfo[TaskDidCompleteKey.assetPath] = download.responseObject
        return userInfo
    }
}
