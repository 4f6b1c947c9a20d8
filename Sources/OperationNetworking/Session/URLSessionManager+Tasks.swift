public import Foundation
public import FoundationNetworking
internal import OperationNetworkingSystem

// Tasks for given requests. Each is created suspended.
extension URLSessionManager {
    // MARK: - Data

    /// Makes a task whose response is an object in memory.
    ///
    /// - Parameters:
    ///   - request: the request, to which the session's additional headers are added.
    ///   - uploadProgress: called with the task's `uploadProgress`.
    ///   - downloadProgress: called with the task's `downloadProgress`.
    ///   - completion: called when the task has completed.
    /// - Returns: the task, suspended.
    public func dataTask(
        with request: URLRequest,
        @_inheritActorContext uploadProgress: SessionTask.ProgressHandler? = nil,
        @_inheritActorContext downloadProgress: SessionTask.ProgressHandler? = nil,
        @_inheritActorContext completion: SessionTask.CompletionHandler?
    ) -> DataTask {
        let task = makeDataTask(request)
        finish(task, uploadProgress, downloadProgress, completion)
        return task
    }

    // MARK: - Uploads

    /// Makes a task that sends a file. A file that cannot be read fails the task.
    ///
    /// - Parameters:
    ///   - request: the request; its method is usually POST or PUT.
    ///   - file: a file URL. The file is read when the task runs.
    ///   - progress: called with the task's `uploadProgress`.
    ///   - completion: called when the task has completed.
    /// - Returns: the task, suspended.
    public func uploadTask(
        with request: URLRequest,
        fromFile file: URL,
        @_inheritActorContext progress: SessionTask.ProgressHandler?,
        @_inheritActorContext completion: SessionTask.CompletionHandler?
    ) -> UploadTask {
        uploadTask(request, progress, completion) { try .file(file) }
    }

    /// Makes a task that sends bytes: see ``uploadTask(with:fromFile:progress:completion:)``.
    public func uploadTask(
        with request: URLRequest,
        from data: Data,
        @_inheritActorContext progress: SessionTask.ProgressHandler?,
        @_inheritActorContext completion: SessionTask.CompletionHandler?
    ) -> UploadTask {
        uploadTask(request, progress, completion) { .data(data) }
    }

    /// Makes a task that sends the request's stream or, if it has none, the stream from the closure of
    /// ``setTaskNeedNewBodyStream(_:)``.
    public func uploadTask(
        withStreamedRequest request: URLRequest,
        @_inheritActorContext progress: SessionTask.ProgressHandler?,
        @_inheritActorContext completion: SessionTask.CompletionHandler?
    ) -> UploadTask {
        uploadTask(request, progress, completion)
    }

    // MARK: - Downloads

    /// Makes a task whose response is a file.
    ///
    /// The file is downloaded by a ``DownloadOperation`` into a private folder. Received bytes are kept
    /// across suspensions and failures, the file is complete and on disk before `destination` is called, and
    /// there are five retries unless the session has another policy.
    ///
    /// - Parameters:
    ///   - request: the request, to which the session's additional headers are added. HEAD has no file.
    ///   - progress: called with the task's `downloadProgress`.
    ///   - destination: called on a queue of the library; returns the destination of the file. If a file of
    ///     that name exists, or the move fails, the task fails with
    ///     ``SessionError/fileNotMoved(temporary:destination:reason:)`` and nothing is lost. If `destination`
    ///     is `nil`, the file exists until `completion` has returned.
    ///   - completion: called when the task has completed.
    /// - Returns: the task, suspended.
    public func downloadTask(
        with request: URLRequest,
        @_inheritActorContext progress: SessionTask.ProgressHandler?,
        @_inheritActorContext destination: DownloadTask.DestinationHandler?,
        @_inheritActorContext completion: DownloadTask.DownloadCompletionHandler?
    ) -> DownloadTask {
        let core = core
        let prepared = Result { () throws(RequestSerializationError) in try core.prepare(request) }
        let operation = core.operations.adopted(DownloadOperation(request: (try? prepared.get()) ?? request))
        let task = DownloadTask(operation, in: core, destination: destination, completion: completion) {
            _ = try prepared.get()
            operation.destination = try TemporaryDownload(in: core.configuration.downloadDirectory).file
        }
        task.join()
        task.observeProgress(.download, progress)
        return task
    }

    /// Makes a task that resumes a download of this or an earlier process.
    ///
    /// - Parameters:
    ///   - data: from ``DownloadTask/cancelByProducingResumeData(_:)`` or ``DownloadTask/resumeData``. Other
    ///     data fails the task with ``SessionError/resumeDataUnreadable``; a missing checkpoint with
    ///     ``DownloadError/checkpointUnreadable(_:)``.
    ///   - headers: the fields that are not in the data, because they are secrets or look like them. Without
    ///     them the request has another identity: the last received bytes are compared if there is a strong
    ///     tag; otherwise the download starts over.
    ///   - progress: called with the task's `downloadProgress`.
    ///   - destination: as for ``downloadTask(with:progress:destination:completion:)``.
    ///   - completion: called when the task has completed.
    /// - Returns: the task, suspended. Reads the checkpoint.
    public func downloadTask(
        withResumeData data: Data,
        headers: [String: String] = [:],
        @_inheritActorContext progress: SessionTask.ProgressHandler?,
        @_inheritActorContext destination: DownloadTask.DestinationHandler?,
        @_inheritActorContext completion: DownloadTask.DownloadCompletionHandler?
    ) -> DownloadTask {
        let core = core
        let resumed = Result { try core.resumed(data, headers: headers) }
        // Unreadable data has no address.
        let unknown = URLRequest(url: URL(fileURLWithPath: "/"))
        let operation = core.operations.adopted((try? resumed.get()) ?? DownloadOperation(request: unknown))
        let task = DownloadTask(
            operation,
            in: core,
            earlierData: data,
            destination: destination,
            completion: completion,
            prepare: { _ = try resumed.get() }
        )
        task.join()
        task.observeProgress(.download, progress)
        return task
    }

    // MARK: - For the verbs

    /// Makes a task that is not yet ``SessionTask/join()``ed. Without a serializer, the session's is used.
    func makeDataTask(_ request: URLRequest, serializer: (any ResponseSerializer)? = nil) -> DataTask {
        let core = core
        let prepared = Result { () throws(RequestSerializationError) in try core.prepare(request) }
        let operation = core.operations.operation(for: (try? prepared.get()) ?? request)
        if let serializer { operation.responseSerializer = serializer }
        return DataTask(operation, in: core) { _ = try prepared.get() }
    }

    /// Makes an upload task that is not yet ``SessionTask/join()``ed.
    func makeUploadTask(
        _ request: URLRequest,
        serializer: (any ResponseSerializer)? = nil,
        body: (@Sendable () throws -> BodySource)? = nil
    ) -> UploadTask {
        let core = core
        let prepared = Result { () throws(RequestSerializationError) in try core.prepare(request) }
        let operation = core.operations.operation(for: (try? prepared.get()) ?? request)
        if let serializer { operation.responseSerializer = serializer }
        return UploadTask(operation, in: core) {
            _ = try prepared.get()
            if let body { operation.bodySource = try body() }
        }
    }

    private func uploadTask(
        _ request: URLRequest,
        _ progress: SessionTask.ProgressHandler?,
        _ completion: SessionTask.CompletionHandler?,
        body: (@Sendable () throws -> BodySource)? = nil
    ) -> UploadTask {
        let task = makeUploadTask(request, body: body)
        finish(task, progress, nil, completion)
        return task
    }

    /// Sets the closures of a task and adds it to the session.
    private func finish(
        _ task: DataTask,
        _ uploadProgress: SessionTask.ProgressHandler?,
        _ downloadProgress: SessionTask.ProgressHandler?,
        _ completion: SessionTask.CompletionHandler?
    ) {
        if let completion {
            task.operation.setCompletion { Callback(completion, $0.response, $0.responseObject, $0.error) }
        }
        task.join()
        task.observeProgress(.upload, uploadProgress)
        task.observeProgress(.download, downloadProgress)
    }
}

extension SessionCore {
    /// Returns the operation that resumes a download, without the session's settings.
    /// - Throws: ``SessionError``, ``DownloadError``, ``RequestSerializationError``.
    fileprivate func resumed(_ data: Data, headers: [String: String]) throws -> DownloadOperation {
        let checkpoint = URL(fileURLWithPath: try ResumeData(data).checkpoint)
        return try DownloadOperation(resuming: checkpoint, headers: headers) { try prepare($0) }
    }
}

extension OperationManager {
    /// Applies the manager's settings to a download.
    fileprivate func adopted(_ operation: DownloadOperation) -> DownloadOperation {
        adopt(operation)
        return operation
    }
}
