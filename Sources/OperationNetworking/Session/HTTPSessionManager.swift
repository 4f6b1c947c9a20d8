public import Foundation
public import FoundationNetworking
internal import OperationNetworkingSystem

/// A ``URLSessionManager`` with a base URL, a request serializer and verbs.
///
/// ```swift
/// let session = HTTPSessionManager(baseURL: URL(string: "https://example.com/v1"))
/// session.get("users", parameters: ["page": 2], success: { task, users in }, failure: { task, error in })
/// let user = try await session.post("users", parameters: ["name": "Ada"])
/// ```
///
/// Base URL, paths, parameters and the scope of secret fields are those of ``OperationManager``. A verb
/// returns its task, already resumed.
open class HTTPSessionManager: URLSessionManager, @unchecked Sendable {
    // @unchecked: it adds no stored property.

    /// - Parameters:
    ///   - baseURL: the URL that paths are relative to; if `nil`, they must be absolute URLs.
    ///   - configuration: copied.
    public required init(
        baseURL: URL?,
        configuration: SessionConfiguration = SessionConfiguration()
    ) {
        super.init(SessionCore(baseURL: baseURL, configuration: configuration))
    }

    /// Restores a session from an earlier process.
    public convenience init(archive: SessionManagerArchive) {
        self.init(baseURL: archive.settings.baseURL, configuration: archive.configuration)
        restore(archive)
    }

    /// Creates a session without a base URL. A subclass with a designated initializer inherits this one if it
    /// writes ``init(baseURL:configuration:)``.
    public required convenience init(configuration: SessionConfiguration = SessionConfiguration()) {
        self.init(baseURL: nil, configuration: configuration)
    }

    // MARK: - Configuration

    /// The URL that paths are relative to. If it has a path, the path ends in a slash.
    public var baseURL: URL? { core.operations.baseURL }

    /// Makes requests from methods, URLs, parameters and headers. Defaults to ``HTTPRequestSerializer``. Can
    /// be changed in place: see ``OperationManager/requestSerializer``.
    public var requestSerializer: any RequestSerializer {
        get { core.operations.requestSerializer }
        _modify { yield &core.operations.requestSerializer }
        set { core.operations.requestSerializer = newValue }
    }

    /// Makes the decoder of one response, for the verbs with `as:`. Decoders are objects and are not shared.
    public var makeJSONDecoder: @Sendable () -> JSONDecoder {
        get { core.operations.makeJSONDecoder }
        set { core.operations.makeJSONDecoder = newValue }
    }

    /// The origins to which the secret fields of ``requestSerializer`` and of the session's additional
    /// headers are sent: see ``OperationManager/secretHeaderScope``.
    public var secretHeaderScope: OperationManager.SecretHeaderScope {
        get { core.operations.secretHeaderScope }
        set { core.operations.secretHeaderScope = newValue }
    }

    /// Resolves `path`: see ``OperationManager/url(for:)``.
    public func url(for path: String) throws(URLError) -> URL { try core.operations.url(for: path) }

    // MARK: - Tasks

    /// Makes a task as the verbs do, and leaves it suspended.
    ///
    /// - Parameters:
    ///   - method: any method.
    ///   - path: relative to the base URL, or an absolute URL.
    ///   - parameters: see ``RequestParameters``.
    ///   - headers: fields of this request only; they override the serializer's.
    ///   - uploadProgress: called with the task's `uploadProgress`.
    ///   - downloadProgress: called with the task's `downloadProgress`.
    ///   - success: called with the response object.
    ///   - failure: called with the error of the task or of making the request.
    /// - Returns: the task; `nil` if no request could be made: see `failure`.
    public func dataTask(
        method: String,
        path: String,
        parameters: some RequestParameters = NoParameters(),
        headers: [String: String] = [:],
        @_inheritActorContext uploadProgress: SessionTask.ProgressHandler? = nil,
        @_inheritActorContext downloadProgress: SessionTask.ProgressHandler? = nil,
        @_inheritActorContext success: SuccessHandler?,
        @_inheritActorContext failure: FailureHandler? = nil
    ) -> DataTask? {
        do {
            let request = try request(method, path, parameters: parameters, headers: headers)
            let task = makeCall(for: request, success: success, failure: failure)
            task.observeProgress(.upload, uploadProgress)
            task.observeProgress(.download, downloadProgress)
            return task
        } catch {
            if let failure { report(error, to: failure) }
            return nil
        }
    }

    // MARK: - Copying

    /// Returns a copy with the same type and base URL.
    open override func copied() -> Self {
        let copy = type(of: self).init(baseURL: baseURL, configuration: configuration)
        copySettings(to: copy)
        return copy
    }
}

// MARK: - HTTPVerbs

extension HTTPSessionManager: HTTPVerbs {
    /// The verbs return data tasks.
    public typealias Call = DataTask

    /// See ``HTTPVerbs/request(_:_:parameters:headers:)``.
    public func request(
        _ method: String,
        _ path: String,
        parameters: some RequestParameters = NoParameters(),
        headers: [String: String] = [:]
    ) throws -> URLRequest {
        try core.operations.request(method, path, parameters: parameters, headers: headers)
    }

    /// Makes a task that parses its response with the session's serializer: an ``UploadTask`` if the body is
    /// a multipart form, a file or a stream.
    public func makeCall(
        for request: URLRequest,
        success: SuccessHandler?,
        failure: FailureHandler?
    ) -> DataTask {
        makeTask(for: request, with: nil, hasHandlers: success != nil || failure != nil) { task, operation in
            if let error = operation.error { return failure.map { Callback($0, task, error) } }
            return success.map { Callback($0, task, operation.responseObject) }
        }
    }

    /// Makes a task that parses its response with `serializer`.
    public func makeCall<Serializer: TypedResponseSerializer>(
        for request: URLRequest,
        with serializer: Serializer,
        success: ValueHandler<Serializer.Object>?,
        failure: FailureHandler?
    ) -> DataTask {
        makeTask(for: request, with: serializer, hasHandlers: success != nil || failure != nil) {
            task,
            operation in
            switch operation.result(as: Serializer.Object.self) {
            case .success(let value): success.map { Callback($0, task, value) }
            case .failure(let error): failure.map { Callback($0, task, error) }
            }
        }
    }

    /// Adds an observer of ``SessionTask/uploadProgress`` or ``SessionTask/downloadProgress``.
    public func observeProgress(of task: DataTask, isUpload: Bool, _ handler: @escaping ProgressHandler) {
        task.observeProgress(isUpload ? .upload : .download, handler)
    }

    /// Resumes a task.
    public func start(_ task: DataTask) { task.resume() }

    /// Makes a task fail with the error.
    public func fail(_ task: DataTask, with error: any Error, failure: FailureHandler?) {
        task.operation.refuse(error)
        task.resume()
    }

    /// Calls the handler on the completion queue, or on its own executor.
    public func report(_ error: any Error, to failure: @escaping FailureHandler) {
        core.operations.callBack(Callback(failure, nil, error))
    }

    /// Waits for the object. Cancelling the waiting Swift task cancels the session task.
    public func object(of task: DataTask) async throws -> (any Sendable)? {
        try await task.operation.value
    }

    /// Waits for the object and returns it as a value of a type.
    public func value<Value: Sendable>(of task: DataTask, as type: Value.Type) async throws -> Value {
        try await task.operation.value(as: type)
    }

    /// Waits for the value and returns it with the status, the fields and the metrics.
    public func response<Value: Sendable>(of task: DataTask, as type: Value.Type) async throws
        -> Response<Value>
    {
        try await task.operation.response(as: type)
    }

    private func makeTask(
        for request: URLRequest,
        with serializer: (any ResponseSerializer)?,
        hasHandlers: Bool,
        completion: @escaping @Sendable (DataTask, HTTPRequestOperation) -> Callback?
    ) -> DataTask {
        let task =
            request.bodySource == nil
            ? makeDataTask(request, serializer: serializer)
            : makeUploadTask(request, serializer: serializer)
        if hasHandlers {
            task.operation.setCompletion { [weak task] operation in task.flatMap { completion($0, operation) }
            }
        }
        task.join()
        return task
    }
}
