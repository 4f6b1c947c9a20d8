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
    ///   - uploadProgress: hears the task's `uploadProgress`.
    ///   - downloadProgress: hears the task's `downloadProgress`.
    ///   - completion: called when the task has completed.
    /// - Returns: the task, suspended.
    public func dataTask(
        with request: URLRequest,
        @_inheritActorContext uploadProgress: SessionTask.ProgressHandler? = nil,
        @_inheritActorContext downloadProgress: SessionTask.ProgressHandler? = nil,
        @_inheritActorContext completion: SessionTask.CompletionHandler?
    ) -> DataTask {
        let closures = TaskDelegate.Closures(
            completion: Self.forAnyTask(completion),
            uploadProgress: uploadProgress,
            downloadProgress: downloadProgress
        )
        return makeDataTask(request, closures)
    }

    // MARK: - Uploads

    /// Makes a task that sends a file. A file that cannot be read is the error of the task.
    ///
    /// - Parameters:
    ///   - request: its method is the one that is sent: POST or PUT, most likely.
    ///   - file: a file URL. It is read when the task runs.
    ///   - progress: hears the task's `uploadProgress`.
    ///   - completion: called when the task has completed.
    /// - Returns: the task, suspended.
    public func uploadTask(
        with request: URLRequest,
        fromFile file: URL,
        @_inheritActorContext progress: SessionTask.ProgressHandler?,
        @_inheritActorContext completion: SessionTask.CompletionHandler?
    ) -> UploadTask {
        makeUploadTask(request, progress, completion) { try .file(file) }
    }

    /// Makes a task that sends bytes: see ``uploadTask(with:fromFile:progress:completion:)``.
    public func uploadTask(
        with request: URLRequest,
        from data: Data,
        @_inheritActorContext progress: SessionTask.ProgressHandler?,
        @_inheritActorContext completion: SessionTask.CompletionHandler?
    ) -> UploadTask {
        makeUploadTask(request, progress, completion) { .data(data) }
    }

    /// Makes a task that sends the stream of the request; without one, that of the closure of
    /// ``setTaskNeedNewBodyStream(_:)``.
    public func uploadTask(
        withStreamedRequest request: URLRequest,
        @_inheritActorContext progress: SessionTask.ProgressHandler?,
        @_inheritActorContext completion: SessionTask.CompletionHandler?
    ) -> UploadTask {
        makeUploadTask(request, progress, completion, body: nil)
    }

    // MARK: - Downloads

    /// Makes a task whose response is a file.
    ///
    /// The file is downloaded as a ``DownloadOperation`` does it: what came is kept over suspensions and
    /// failures, it is complete and on the disk before `destination` is asked, and five retries are made
    /// unless the session has another policy.
    ///
    /// - Parameters:
    ///   - request: gets the session's additional headers.
    ///   - progress: hears the task's `downloadProgress`.
    ///   - destination: asked, on a processing queue, where the file is to be. A file of that
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
        let closures = Self.closures(progress, destination, completion)
        let prepared = PreparedRequest(request, by: core)
        let delegate = TaskDelegate(core, closures) { _ in
            let request = try prepared.request
            let place = try TemporaryPlace(in: core.configuration.downloadDirectory)
            return (core.operations.downloadOperation(for: request, to: place.file), place)
        }
        return makeDownloadTask(prepared.shown, delegate)
    }

    /// Makes a task that goes on with a download, of this process or of an earlier one.
    ///
    /// - Parameters:
    ///   - data: from ``DownloadTask/cancelByProducingResumeData(_:)`` or ``DownloadTask/resumeData``. What
    ///     is none is the error ``SessionError/resumeDataUnreadable`` of the task, and a checkpoint that is
    ///     gone a ``DownloadError/checkpointUnreadable(_:)``.
    ///   - headers: fields that are, or look like, secrets are not in the data. Without them another user asks:
    ///     the end of what came is compared under a strong tag, else the download starts over.
    ///   - progress: hears the task's `downloadProgress`.
    ///   - destination: as for ``downloadTask(with:progress:destination:completion:)``.
    ///   - completion: called when the task has completed.
    /// - Returns: the task, suspended. Reads the checkpoint; the settings are those of the session when the
    ///   task is resumed for the first time, as for every task.
    public func downloadTask(
        withResumeData data: Data,
        headers: [String: String] = [:],
        @_inheritActorContext progress: SessionTask.ProgressHandler?,
        @_inheritActorContext destination: DownloadTask.DestinationHandler?,
        @_inheritActorContext completion: DownloadTask.DownloadCompletionHandler?
    ) -> DownloadTask {
        let core = core
        let closures = Self.closures(progress, destination, completion)
        let resumed = Result { try core.resumed(data, headers: headers) }
        let delegate = TaskDelegate(core, closures, resumeData: data) { _ in
            let operation = try resumed.get()
            core.operations.adopt(operation)
            return (operation, operation.destination.map { TemporaryPlace(file: $0) })
        }
        // Data that cannot be read names no address.
        let request = (try? resumed.get().request) ?? URLRequest(url: URL(fileURLWithPath: "/"))
        return makeDownloadTask(request, delegate)
    }

    // MARK: - For the verbs

    // Without a serializer, the session's is used.
    func makeDataTask(
        _ request: URLRequest,
        _ closures: TaskDelegate.Closures,
        serializer: (any ResponseSerializer)? = nil
    ) -> DataTask {
        let core = core
        let prepared = PreparedRequest(request, by: core)
        let delegate = TaskDelegate(core, closures) { _ in
            let operation = core.dataOperation(for: try prepared.request)
            if let serializer { operation.responseSerializer = serializer }
            return (operation, nil)
        }
        let progress = TaskProgress(countsUpload: false)
        let request = prepared.shown
        let task = DataTask(core.nextIdentifier(), request: request, progress: progress, owner: delegate)
        return take(task, delegate)
    }

    func makeUploadTask(
        _ request: URLRequest,
        _ closures: TaskDelegate.Closures,
        serializer: (any ResponseSerializer)? = nil,
        body: (@Sendable () throws -> BodySource)? = nil
    ) -> UploadTask {
        let core = core
        let prepared = PreparedRequest(request, by: core)
        let delegate = TaskDelegate(core, closures) { task in
            var request = try prepared.request
            if let body { request.bodySource = try body() }
            let operation = core.dataOperation(for: core.streamed(request, of: task))
            if let serializer { operation.responseSerializer = serializer }
            return (operation, nil)
        }
        let progress = TaskProgress(countsUpload: true)
        let request = prepared.shown
        let task = UploadTask(core.nextIdentifier(), request: request, progress: progress, owner: delegate)
        return take(task, delegate)
    }

    private func makeDownloadTask(_ request: URLRequest, _ delegate: TaskDelegate) -> DownloadTask {
        let progress = TaskProgress(countsUpload: false)
        let number = delegate.session.nextIdentifier()
        let task = DownloadTask(number, request: request, progress: progress, owner: delegate)
        return take(task, delegate)
    }

    private func makeUploadTask(
        _ request: URLRequest,
        _ progress: SessionTask.ProgressHandler?,
        _ completion: SessionTask.CompletionHandler?,
        body: (@Sendable () throws -> BodySource)?
    ) -> UploadTask {
        let closures = TaskDelegate.Closures(
            completion: Self.forAnyTask(completion),
            uploadProgress: progress
        )
        return makeUploadTask(request, closures, body: body)
    }

    private func take<Task: SessionTask>(_ task: Task, _ delegate: TaskDelegate) -> Task {
        delegate.take(task)
        // The one that its number is from: another thread may have reset the session.
        if !delegate.session.add(task) { delegate.refuse(SessionError.invalidated) }
        // When the session has it: it may end at once.
        task.followProgress()
        return task
    }

    private static func forAnyTask(_ completion: SessionTask.CompletionHandler?)
        -> (@Sendable (SessionTask, HTTPURLResponse?, (any Sendable)?, (any Error)?) -> Callback?)?
    {
        guard let completion else { return nil }
        return { _, response, object, error in Callback(completion, response, object, error) }
    }

    private static func closures(
        _ progress: SessionTask.ProgressHandler?,
        _ destination: DownloadTask.DestinationHandler?,
        _ completion: DownloadTask.DownloadCompletionHandler?
    ) -> TaskDelegate.Closures {
        var closures = TaskDelegate.Closures(downloadProgress: progress, destination: destination)
        if let completion { closures.completion = { Callback(completion, $1, $2 as? URL, $3) } }
        return closures
    }
}

extension SessionCore {
    /// The operation of a data task or an upload.
    func dataOperation(for request: URLRequest) -> HTTPRequestOperation {
        let model = operations.operation(for: request)
        let hasHook = hooks.withLock { $0.didReceiveData != nil || $0.didReceiveResponse != nil }
        guard hasHook else { return model }
        let operation = SessionDataOperation(request: request)
        model.copySettings(to: operation)
        return operation
    }

    /// The request of an upload; one without a body gets that of the session's closure. A serializer gives a
    /// POST without parameters an empty one.
    func streamed(_ request: URLRequest, of task: SessionTask) -> URLRequest {
        guard request.httpBody?.isEmpty != false, request.httpBodyStream == nil,
            let make = hooks.withLock({ $0.needNewBodyStream })
        else { return request }
        var request = request
        let length = request.value(forHTTPHeaderField: "Content-Length").flatMap { Int64($0) }
        request.bodySource = .stream(length: length) { [weak task] in task.flatMap(make) }
        return request
    }

    /// The operation that goes on with a download, without the session's settings.
    /// - Throws: ``SessionError``, ``DownloadError``, ``RequestSerializationError``.
    func resumed(_ data: Data, headers: [String: String]) throws -> DownloadOperation {
        let checkpoint = URL(fileURLWithPath: try ResumeData(data).checkpoint)
        return try DownloadOperation(resuming: checkpoint, headers: headers) { try prepare($0) }
    }
}
