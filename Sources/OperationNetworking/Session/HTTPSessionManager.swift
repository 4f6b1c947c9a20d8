public import Foundation
internal import FoundationNetworking
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
/// returns its task, which was resumed already.
open class HTTPSessionManager: URLSessionManager, @unchecked Sendable {
    // @unchecked: it has no stored property of its own.

    /// Called on the completion queue when a task succeeded, with what the response serializer made.
    public typealias SuccessHandler =
        @isolated(any) @Sendable (_ task: DataTask, _ object: (any Sendable)?) -> Void

    /// Called on the completion queue when a task failed. The task is `nil` when not even the request could
    /// be made.
    public typealias FailureHandler = @isolated(any) @Sendable (_ task: DataTask?, _ error: any Error) -> Void

    /// - Parameters:
    ///   - baseURL: the URL that paths are relative to; `nil`: they have to be whole URLs.
    ///   - configuration: is copied.
    public required init(
        baseURL: URL?,
        configuration: SessionConfiguration = SessionConfiguration()
    ) {
        super.init(SessionCore(baseURL: baseURL, configuration: configuration))
    }

    /// A session from an earlier process.
    public convenience init(archive: SessionManagerArchive) {
        self.init(baseURL: archive.settings.baseURL, configuration: archive.configuration)
        restore(archive)
    }

    /// A session without a base URL.
    public required init(configuration: SessionConfiguration = SessionConfiguration()) {
        super.init(SessionCore(baseURL: nil, configuration: configuration))
    }

    // MARK: - Configuration

    /// The URL that paths are relative to. Its path ends in a slash, unless there is none.
    public var baseURL: URL? { core.operations.baseURL }

    /// Makes requests of methods, URLs, parameters and headers; an ``HTTPRequestSerializer`` unless something
    /// else is set. It can be changed in place: see ``OperationManager/requestSerializer``.
    public var requestSerializer: any RequestSerializer {
        get { core.operations.requestSerializer }
        _modify { yield &core.operations.requestSerializer }
        set { core.operations.requestSerializer = newValue }
    }

    /// Makes the decoder of one response, for the verbs with `as:`. Decoders are objects, and none is shared.
    public var makeJSONDecoder: @Sendable () -> JSONDecoder {
        get { core.operations.makeJSONDecoder }
        set { core.operations.makeJSONDecoder = newValue }
    }

    /// The origins that get the secret fields of ``requestSerializer``, and of the session's additional
    /// headers: see ``OperationManager/secretHeaderScope``.
    public var secretHeaderScope: OperationManager.SecretHeaderScope {
        get { core.operations.secretHeaderScope }
        set { core.operations.secretHeaderScope = newValue }
    }

    /// The old name of ``secretHeaderScope``.
    @available(*, deprecated, renamed: "secretHeaderScope")
    public var secretFieldScope: OperationManager.SecretHeaderScope {
        get { secretHeaderScope }
        set { secretHeaderScope = newValue }
    }

    /// The URL that `path` means: see ``OperationManager/url(for:)``.
    public func url(for path: String) throws(URLError) -> URL { try core.operations.url(for: path) }

    // MARK: - Tasks

    /// Makes a task as the verbs do, and leaves it suspended.
    ///
    /// - Parameters:
    ///   - method: any method.
    ///   - path: relative to the base URL, or a whole URL.
    ///   - parameters: become the query or the body, as the request serializer says.
    ///   - headers: of this request only; they win over the serializer's.
    ///   - uploadProgress: hears the task's `uploadProgress`.
    ///   - downloadProgress: hears the task's `downloadProgress`.
    ///   - success: called with the response object.
    ///   - failure: called with the error of the task, or of making the request.
    /// - Returns: the task; `nil` when no request could be made: see `failure`.
    public func dataTask(
        method: String,
        path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        @_inheritActorContext uploadProgress: SessionTask.ProgressHandler? = nil,
        @_inheritActorContext downloadProgress: SessionTask.ProgressHandler? = nil,
        @_inheritActorContext success: SuccessHandler?,
        @_inheritActorContext failure: FailureHandler? = nil
    ) -> DataTask? {
        let call = Call(method: method, path: path, parameters: parameters, headers: headers)
        return dataTask(call, uploadProgress, downloadProgress, success, failure)
    }

    // MARK: - For the verbs

    typealias Call = OperationManager.Call

    func dataTask(
        _ call: Call,
        _ uploadProgress: SessionTask.ProgressHandler?,
        _ downloadProgress: SessionTask.ProgressHandler?,
        _ success: SuccessHandler?,
        _ failure: FailureHandler?
    ) -> DataTask? {
        var closures = Self.closures(success, failure)
        closures.uploadProgress = uploadProgress
        closures.downloadProgress = downloadProgress
        return making(failure) {
            makeDataTask(try core.operations.request(for: call), closures)
        }
    }

    /// Makes a task; a request that cannot be made fails on the completion queue.
    func making<Task: DataTask>(_ failure: FailureHandler?, _ make: () throws -> Task) -> Task? {
        do {
            return try make()
        } catch {
            if let failure {
                core.operations.callBack(Detour(failure, nil, error))
            }
            return nil
        }
    }

    static func closures(_ success: SuccessHandler?, _ failure: FailureHandler?) -> TaskDelegate.Closures {
        guard success != nil || failure != nil else { return TaskDelegate.Closures() }
        return TaskDelegate.Closures(completion: { task, _, object, error in
            guard let task = task as? DataTask else { return nil }
            if let error { return failure.map { Detour($0, task, error) } }
            return success.map { Detour($0, task, object) }
        })
    }

    // MARK: - Copying

    /// A copy with its type, and with the base URL.
    open override func copied() -> Self {
        let copy = type(of: self).init(baseURL: baseURL, configuration: configuration)
        copySettings(to: copy)
        return copy
    }
}
