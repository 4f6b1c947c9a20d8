public import Foundation
public import FoundationNetworking
internal import OperationNetworkingSystem

// Tasks for requests of your own. Each is made suspended.
extension URLSessionManager {
    // MARK: - Data

    /// Makes a task whose response is an object in memory.
    ///
    /// - Parameters:
    ///   - request: gets the session's additional headers.
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

    /// Makes a task that sends a file. A file that cannot be read is the error of the task.
    ///
    /// - Parameters:
    ///   - request: its method is the one that is sent: POST or PUT, most likely.
    ///   - file: a file URL. It is read when the task runs.
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

    /// Makes a task that sends the stream of the request; without one, that of the closure of
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
    /// The file is downloaded by a ``DownloadOperation`` into a folder of its own: what came is kept over suspensions
    /// and failures, it is complete and on the disk before `destination` is called, and five retries are made
    /// unless the session has another policy.
    ///
    /// - Parameters:
    ///   - request: gets the session's additional headers. HEAD has no file.
    ///   - progress: called with the task's `downloadProgress`.
    ///   - destination: called on a queue of the library; returns where the file is to be. A file of that
    ///     name, or any other failure of the move, is the error
    ///     ``SessionError/fileNotMoved(temporary:destination:reason:)``, and nothing is lost. `nil`: the file
    ///     is there until `completion` has returned.
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
            operation.destination = try TemporaryPlace(in: core.configuration.downloadDirectory).file
        }
        task.join()
        task.observeProgress(.download, progress)
        return task
    }

    /// Makes a task that continues a download, of this process or of an earlier one.
    ///
    /// - Parameters:
    ///   - data: from ``DownloadTask/cancelByProducingResumeData(_:)`` or ``DownloadTask/resumeData``. What
    ///     is none is the error ``SessionError/resumeDataUnreadable`` of the task, and a checkpoint that is
    ///     gone a ``DownloadError/checkpointUnreadable(_:)``.
    ///   - headers: fields that are, or look like, secrets are not in the data. Without them another user asks:
    ///     the end of what came is compared under a strong tag, else the download starts over.
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
        // Data that cannot be read names no address.
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

    /// The same of an upload.
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

    /// Gives a task its closures, and adds it to the session.
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
    /// The operation that continues a download, without the session's settings.
    /// - Throws: ``SessionError``, ``DownloadError``, ``RequestSerializationError``.
    fileprivate func resumed(_ data: Data, headers: [String: String]) throws -> DownloadOperation {
        let checkpoint = URL(fileURLWithPath: try ResumeData(data).checkpoint)
        return try DownloadOperation(resuming: checkpoint, headers: headers) { try prepare($0) }
    }
}

extension OperationManager {
    /// Gives a download the manager's settings.
    fileprivate func adopted(_ operation: DownloadOperation) -> DownloadOperation {
        adopt(operation)
        return operation
    }
}
