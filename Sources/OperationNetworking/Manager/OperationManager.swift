public import Dispatch
public import Foundation
public import FoundationNetworking
internal import OperationNetworkingSystem

/// Builds requests, makes operations from them, and runs them in a queue.
///
/// ```swift
/// let manager = OperationManager(baseURL: URL(string: "https://api.example.com/"))
/// let users = try await manager.get("users", as: [User].self)
/// ```
///
/// Each verb (`get`, `head`, `post`, `put`, `patch`, `delete`, `upload`: see ``HTTPVerbs``) adds an operation
/// to ``operationQueue``. A verb with closures returns the operation and calls back; an `async` verb waits
/// for the result. The settings (`retryPolicy`, `securityPolicy`, `tokenSource`, `cache`, `timeouts` and
/// others) are those of ``TransferConfigurable``, and apply to operations that are made afterwards. Every
/// member can be used from any thread.
open class OperationManager: @unchecked Sendable {
    // @unchecked: every stored property is an immutable Sendable; what changes lives in `state`.

    struct State {
        var responseSerializer: any ResponseSerializer = JSONResponseSerializer()
        var makeJSONDecoder: @Sendable () -> JSONDecoder = { JSONDecoder() }
        var operationQueue: OperationQueue = TransferQueue()
        var completionQueue: DispatchQueue?
        var completionGroup: DispatchGroup?
        var shared = SharedSettings(TransferSettings(connectionLimit: ConnectionLimit()))
        var observers = ManagerObservers()
        var challenge: ConnectionOperation.AuthenticationChallengeHandler?
        var secretHeaderScope = SecretHeaderScope.baseURL
        /// The manager's reachability; `nil` for the shared one.
        var network: (any NetworkWaiting)?

        /// See ``shared``.
        var settings: TransferSettings {
            _read { yield shared.value }
            _modify { yield &shared.value }
        }
    }

    /// The URL that paths are relative to; if `nil`, they must be absolute URLs. If it has a path, the path
    /// ends in a slash.
    public let baseURL: URL?
    let state = Locked(State())
    /// The reference for operations, which do not retain the manager.
    let reference = ManagerReference()
    private let serializer = Locked<any RequestSerializer>(HTTPRequestSerializer())

    /// - Parameter baseURL: `http://host/v1` is treated as `http://host/v1/`, so that `users` becomes
    ///   `http://host/v1/users`.
    public required init(baseURL: URL? = nil) {
        self.baseURL = baseURL.map(Self.withTrailingSlash)
        reference.refer(to: self)
    }

    // MARK: - Configuration

    /// Makes requests from methods, URLs, parameters and headers. Defaults to ``HTTPRequestSerializer``.
    ///
    /// A change in place, such as this one, is atomic:
    ///
    /// ```swift
    /// try manager.requestSerializer.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
    /// ```
    ///
    /// A custom serializer must not access this property while it is being changed.
    public var requestSerializer: any RequestSerializer {
        get { serializer.withLock { $0 } }
        _modify { yield &serializer.exclusive }
        set { serializer.change { $0 = newValue } }
    }

    /// Parses responses. Defaults to ``JSONResponseSerializer``. A change in place is atomic:
    ///
    /// ```swift
    /// try manager.responseSerializer.setAcceptableContentTypes(["application/json", "text/html"])
    /// ```
    public var responseSerializer: any ResponseSerializer {
        get { state.withLock { $0.responseSerializer } }
        _modify { yield &state.exclusive.responseSerializer }
        set { state.change { $0.responseSerializer = newValue } }
    }

    /// Makes the decoder of one response, for the verbs with `as:`. Decoders are objects and are not shared.
    public var makeJSONDecoder: @Sendable () -> JSONDecoder {
        get { state.withLock { $0.makeJSONDecoder } }
        set { state.change { $0.makeJSONDecoder = newValue } }
    }

    /// The queue in which operations run. Defaults to a private ``TransferQueue``.
    public var operationQueue: OperationQueue {
        get { state.withLock { $0.operationQueue } }
        set { state.change { $0.operationQueue = newValue } }
    }

    /// The queue of the operations' callbacks; `nil` (the default) is the main queue.
    public var completionQueue: DispatchQueue? {
        get { state.withLock { $0.completionQueue } }
        set { state.change { $0.completionQueue = newValue } }
    }

    /// The group that each callback of the manager's operations enters while it waits for its queue and runs.
    public var completionGroup: DispatchGroup? {
        get { state.withLock { $0.completionGroup } }
        set { state.change { $0.completionGroup = newValue } }
    }

    // MARK: - Making operations

    /// Makes an operation with the manager's settings, without adding it to a queue. Every verb calls this
    /// method.
    ///
    /// An override that passes its own closures to `super` calls the closures that it received with the two
    /// methods `call(_:with:)` of ``HTTPRequestOperation``.
    open func operation(
        for request: URLRequest,
        @_inheritActorContext success: HTTPRequestOperation.SuccessHandler? = nil,
        @_inheritActorContext failure: HTTPRequestOperation.FailureHandler? = nil
    ) -> HTTPRequestOperation {
        let settings = state(for: request)
        let operation = HTTPRequestOperation(request: request)
        operation.responseSerializer = settings.responseSerializer
        operation.completionQueue = settings.completionQueue
        operation.completionGroup = settings.completionGroup
        operation.configure(settings.shared) { swap(&$0.configuration.shared, &$1) }
        operation.join(settings.observers.ofNewOperation, of: reference)
        operation.setAuthenticationChallenge(settings.challenge)
        operation.setCompletion(success: success, failure: failure)
        return operation
    }

    /// Returns the settings of an operation with this request. The manager's secrets are only used for the
    /// origin of ``baseURL``, if there is one.
    func state(for request: URLRequest) -> State {
        var state = state.withLock { $0 }
        if state.settings.tokenSource?.isRefreshingHere == true { state.settings.tokenSource = nil }
        let hasSecrets = state.settings.credential != nil || state.settings.tokenSource != nil
        if hasSecrets, let home = baseURL, request.url.map({ Origin($0) }) != Origin(home) {
            state.settings.credential = nil
            state.settings.tokenSource = nil
        }
        if !state.settings.requestAdapters.isEmpty, let url = request.url,
            !state.secretHeaderScope.includes(url, base: baseURL)
        {
            state.settings.requestAdapters = []
        }
        return state
    }

    /// Resolves `path`: relative to ``baseURL``, absolute, or empty for ``baseURL`` itself.
    /// - Throws: `URLError.badURL` if the result is not a URL with a scheme and a host, or if ``baseURL`` has
    ///   a query, which a relative URL would drop.
    public func url(for path: String) throws(URLError) -> URL {
        let url = path.isEmpty ? baseURL : URL(reference: path, relativeTo: baseURL)
        if let query = baseURL?.query, !path.isEmpty, URL(string: path)?.scheme == nil {
            throw URLError(
                .badURL,
                url: baseURL,
                sentence:
                    "The base URL has a query, \"\(Redaction.form(query))\", which resolving a relative path removes (RFC 3986, 5.2.2)."
            )
        }
        guard let url = url?.absoluteURL, url.scheme != nil, url.host?.isEmpty == false else {
            throw URLError(
                .badURL,
                url: nil,
                sentence: "\"\(Redaction.text(ofURL: path))\" is not a URL, or has no base URL."
            )
        }
        return url
    }

    // MARK: - Copying

    /// See `NSCopying`.
    open func copy(with zone: NSZone? = nil) -> Any { copied() }

    /// Returns a copy, as `copy()` does, with its type.
    ///
    /// The copy is created with ``init(baseURL:)``. A subclass with additional settings overrides this method
    /// and sets them on the copy that `super` returns.
    open func copied() -> Self {
        let copy = type(of: self).init(baseURL: baseURL)
        var settings = state.withLock { $0 }
        let queue = TransferQueue()
        queue.name = settings.operationQueue.name
        queue.maxConcurrentOperationCount = settings.operationQueue.maxConcurrentOperationCount
        queue.qualityOfService = settings.operationQueue.qualityOfService
        settings.operationQueue = queue
        settings.settings.connectionLimit = settings.settings.connectionLimit.copy()
        settings.observers = settings.observers.copied()
        copy.state.change { [settings] in $0 = settings }
        copy.requestSerializer = requestSerializer
        return copy
    }

    // MARK: - Cancelling

    /// Cancels the operations in the queue whose requests have this method and path, as in AFNetworking 1.
    ///
    /// - Parameters:
    ///   - method: case-insensitive; `nil` for all methods.
    ///   - path: as for the verbs; the query is ignored.
    /// - Throws: `URLError.badURL` if `path` is not a URL.
    public func cancelAllOperations(method: String?, path: String) throws(URLError) {
        let url = try url(for: path).absoluteURL
        let (origin, path) = (Origin(url), url.comparablePath)
        let chosen = operationQueue.operations.compactMap { $0 as? ConnectionOperation }.filter { operation in
            let request = operation.request
            guard let target = request.url?.absoluteURL else { return false }
            return Origin(target) == origin && target.comparablePath == path
                && (method == nil || request.httpMethod?.uppercased() == method?.uppercased())
        }
        ConnectionOperation.cancelTogether(chosen)
    }

    // MARK: - Private

    /// Appends a slash as AFNetworking does: only to a nonempty path, keeping a query.
    private static func withTrailingSlash(_ url: URL) -> URL {
        guard !url.path.isEmpty, !url.absoluteString.hasSuffix("/") else { return url }
        return url.appendingPathComponent("")
    }
}

// MARK: - HTTPVerbs

extension OperationManager: HTTPVerbs {
    /// The verbs return operations.
    public typealias Call = HTTPRequestOperation

    /// See ``HTTPVerbs/request(_:_:parameters:headers:)``.
    public func request(
        _ method: String,
        _ path: String,
        parameters: some RequestParameters = NoParameters(),
        headers: [String: String] = [:]
    ) throws -> URLRequest {
        try serialized(with: headers) { serializer in
            try parameters.request(method: method, url: url(for: path), headers: headers, by: serializer)
        }
    }

    /// Makes an operation with ``operation(for:success:failure:)``.
    public func makeCall(
        for request: URLRequest,
        success: SuccessHandler?,
        failure: FailureHandler?
    ) -> HTTPRequestOperation {
        operation(for: request, success: success, failure: failure)
    }

    /// Makes an operation that parses its response with `serializer`.
    public func makeCall<Serializer: TypedResponseSerializer>(
        for request: URLRequest,
        with serializer: Serializer,
        success: ValueHandler<Serializer.Object>?,
        failure: FailureHandler?
    ) -> HTTPRequestOperation {
        let operation = operation(for: request)
        operation.responseSerializer = serializer
        guard success != nil || failure != nil else { return operation }
        operation.setCompletion { operation in
            switch operation.result(as: Serializer.Object.self) {
            case .success(let value): success.map { Callback($0, operation, value) }
            case .failure(let error): failure.map { Callback($0, operation, error) }
            }
        }
        return operation
    }

    /// Adds an observer to ``ConnectionOperation/uploadProgress`` or ``ConnectionOperation/downloadProgress``.
    /// `setUploadProgress(_:)` and `setDownloadProgress(_:)` replace it.
    public func observeProgress(
        of operation: HTTPRequestOperation,
        isUpload: Bool,
        _ handler: @escaping ProgressHandler
    ) {
        operation.setProgress(isUpload ? .upload : .download, handler)
    }

    /// Adds an operation to the queue.
    public func start(_ operation: HTTPRequestOperation) {
        // The queue may not be a TransferQueue, which seals it.
        operation.seal()
        operationQueue.addOperation(operation)
    }

    /// Calls the handler, unless the operation has already called back.
    public func fail(
        _ operation: HTTPRequestOperation,
        with error: any Error,
        failure: FailureHandler?
    ) {
        // If the operation was cancelled before, its completion may already have been delivered.
        if operation.withdrawCompletion(), let failure { callBack(Callback(failure, nil, error)) }
    }

    /// Calls the handler on the completion queue, or on its own executor.
    public func report(_ error: any Error, to failure: @escaping FailureHandler) {
        callBack(Callback(failure, nil, error))
    }

    /// See ``HTTPRequestOperation/value``.
    public func object(of operation: HTTPRequestOperation) async throws -> (any Sendable)? {
        try await operation.value
    }

    /// See ``HTTPRequestOperation/value(as:)``.
    public func value<Value: Sendable>(of operation: HTTPRequestOperation, as type: Value.Type) async throws
        -> Value
    {
        try await operation.value(as: type)
    }

    /// See ``HTTPRequestOperation/response(as:)``.
    public func response<Value: Sendable>(of operation: HTTPRequestOperation, as type: Value.Type)
        async throws -> Response<Value>
    {
        try await operation.response(as: type)
    }

    /// Makes a call on the completion queue, or on its own executor, and then calls `next` on the queue. Nothing
    /// waits for `next` alone.
    func callBack(_ call: Callback?, then next: @escaping @Sendable () -> Void = {}) {
        let (queue, group) = state.withLock { ($0.completionQueue ?? .main, $0.completionGroup) }
        guard let call else { return queue.async(execute: next) }
        let line = CallbackQueue(on: queue)
        group?.enter()
        line.append { call.callHere() }
        line.append {
            next()
            group?.leave()
            return nil
        }
    }
}

// MARK: - NSCopying

/// A copy has the same settings, and an empty queue with the same limit and priority.
extension OperationManager: NSCopying {}

// MARK: - CustomStringConvertible

extension OperationManager: CustomStringConvertible {
    /// The base URL and the number of operations in the queue.
    public var description: String {
        "<\(type(of: self)): \(baseURL?.publicText ?? "no base URL"), \(operationQueue.operationCount) operations>"
    }
}

// MARK: - CustomReflectable

extension OperationManager: CustomReflectable {
    /// Only the ``description``, so that `dump` does not show credentials.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

extension URL {
    /// The normalized path, equal for equivalent URLs of an origin ([RFC 3986
    /// §6.2](https://www.rfc-editor.org/rfc/rfc3986#section-6.2)).
    fileprivate var comparablePath: String {
        let path = path(percentEncoded: true)
        guard !path.isEmpty else { return "/" }
        var (octets, left) = ([UInt8](), Substring(path).utf8)
        while let octet = left.popFirst() {
            let digits = String(Substring(left.prefix(2)))
            guard octet == UInt8(ascii: "%"), digits.utf8.count == 2, let value = UInt8(digits, radix: 16)
            else {
                octets.append(octet)
                continue
            }
            left = left.dropFirst(2)
            octets += Self.isUnreserved(value) ? [value] : Array("%\(digits.uppercased())".utf8)
        }
        return String(decoding: octets, as: UTF8.self)
    }

    private static func isUnreserved(_ octet: UInt8) -> Bool {
        octet.isASCIIDigit || (octet.lowercasedASCII &- UInt8(ascii: "a")) < 26
            || Array("-._~".utf8).contains(octet)
    }
}
