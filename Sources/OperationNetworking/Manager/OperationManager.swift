public import Dispatch
public import Foundation
public import FoundationNetworking
internal import OperationNetworkingSystem

/// Builds requests, makes operations of them, and runs those in a queue.
///
/// Each verb (`get`, `head`, `post`, `put`, `patch`, `delete`, `upload`: see ``HTTPVerbs``) adds an operation to
/// ``operationQueue``. A verb with closures returns the operation and calls back; an `async` verb waits for the
/// result. Settings of the manager count for operations that are made afterwards. Everything may be called from
/// any thread.
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
        /// The manager's way to know whether there is a network; `nil`: the one of the process.
        var network: (any NetworkWaiting)?

        /// See ``shared``.
        var settings: TransferSettings {
            _read { yield shared.value }
            _modify { yield &shared.value }
        }
    }

    /// The URL that paths are relative to; `nil`: they have to be whole URLs. Its path ends in a slash,
    /// unless there is none.
    public let baseURL: URL?
    let state = Locked(State())
    /// For operations, which do not keep the manager.
    let reference = ManagerReference()
    private let serializer = Locked<any RequestSerializer>(HTTPRequestSerializer())

    /// - Parameter baseURL: `http://host/v1` is taken for `http://host/v1/`, so that `users` leads to
    ///   `http://host/v1/users`.
    public required init(baseURL: URL? = nil) {
        self.baseURL = baseURL.map(Self.withTrailingSlash)
        reference.refer(to: self)
    }

    // MARK: - Configuration

    /// Makes requests of methods, URLs, parameters and headers; an ``HTTPRequestSerializer`` unless something
    /// else is set.
    ///
    /// A change in place, such as this one, is one step for all other threads:
    ///
    /// ```swift
    /// try manager.requestSerializer.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
    /// ```
    ///
    /// A serializer of your own must not ask the manager for its serializer while it is changed.
    public var requestSerializer: any RequestSerializer {
        get { serializer.withLock { $0 } }
        _modify { yield &serializer.exclusive }
        set { serializer.change { $0 = newValue } }
    }

    /// Makes sense of responses; JSON unless something else is set. A change in place is one step for all
    /// other threads:
    ///
    /// ```swift
    /// try manager.responseSerializer.setAcceptableContentTypes(["application/json", "text/html"])
    /// ```
    public var responseSerializer: any ResponseSerializer {
        get { state.withLock { $0.responseSerializer } }
        _modify { yield &state.exclusive.responseSerializer }
        set { state.change { $0.responseSerializer = newValue } }
    }

    /// Makes the decoder of one response, for the verbs with `as:`. Decoders are objects, and none is shared.
    public var makeJSONDecoder: @Sendable () -> JSONDecoder {
        get { state.withLock { $0.makeJSONDecoder } }
        set { state.change { $0.makeJSONDecoder = newValue } }
    }

    /// The queue in which operations run; a ``TransferQueue`` of the manager's own unless another one is set.
    public var operationQueue: OperationQueue {
        get { state.withLock { $0.operationQueue } }
        set { state.change { $0.operationQueue = newValue } }
    }

    /// The queue of operations' callbacks; `nil`: the main queue.
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

    /// Makes an operation with the manager's settings. It is not in any queue yet. Every verb comes through
    /// here.
    ///
    /// An override that passes closures of its own to `super` calls the closures that it was given by the two
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

    /// The settings of an operation with this request: the manager's secrets are for the origin of
    /// ``baseURL``, if there is one.
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

    /// The URL that `path` means: relative to ``baseURL``, whole, or empty for ``baseURL`` itself.
    /// - Throws: `URLError.badURL` when that is no URL with a scheme and a host, or when ``baseURL`` has a
    ///   query, which a relative URL would drop.
    public func url(for path: String) throws(URLError) -> URL {
        let url = path.isEmpty ? baseURL : URL(reference: path, relativeTo: baseURL)
        if let query = baseURL?.query, !path.isEmpty, URL(string: path)?.scheme == nil {
            throw URLError(
                .badURL,
                url: baseURL,
                sentence:
                    "The base URL has a query, \"\(Redaction.form(query))\", which no path keeps (RFC 3986, 5.2.2)."
            )
        }
        guard let url = url?.absoluteURL, url.scheme != nil, url.host?.isEmpty == false else {
            throw URLError(
                .badURL,
                url: nil,
                sentence: "\"\(Redaction.text(ofURL: path))\" is not a URL, or has no base URL to belong to."
            )
        }
        return url
    }

    // MARK: - Copying

    /// See `NSCopying`.
    open func copy(with zone: NSZone? = nil) -> Any { copied() }

    /// A copy as by `copy()`, with its type.
    ///
    /// The copy is made by ``init(baseURL:)``. A subclass with settings of its own overrides this method, and
    /// gives them to the copy that `super` returns.
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

    /// Cancels the operations in the queue whose requests have this method and this path, as AFNetworking 1
    /// could.
    ///
    /// - Parameters:
    ///   - method: in any case; `nil`: all methods.
    ///   - path: as for the verbs; the query does not count.
    /// - Throws: `URLError.badURL` when `path` is no URL.
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

    /// As in AFNetworking: only a path that is not empty gets a slash, and a query stays.
    private static func withTrailingSlash(_ url: URL) -> URL {
        guard !url.path.isEmpty, !url.absoluteString.hasSuffix("/") else { return url }
        return url.appendingPathComponent("")
    }
}

// MARK: - HTTPVerbs

extension OperationManager: HTTPVerbs {
    /// An operation in the queue.
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

    /// Makes an operation by ``operation(for:success:failure:)``.
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
        // The queue may be one that does not know it.
        operation.seal()
        operationQueue.addOperation(operation)
    }

    /// Calls the handler, unless the operation has called back.
    public func abandon(
        _ operation: HTTPRequestOperation,
        with error: any Error,
        failure: FailureHandler?
    ) {
        // If it was cancelled before, the end of the operation may have been told.
        if operation.withdrawCompletion(), let failure { callBack(Callback(failure, nil, error)) }
    }

    /// Calls the handler on the completion queue, or where it belongs.
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

    /// Makes a call on the completion queue, or where it belongs, and then calls `next`, on the queue.
    func callBack(_ call: Callback?, then next: @escaping @Sendable () -> Void = {}) {
        let (queue, group) = state.withLock { ($0.completionQueue ?? .main, $0.completionGroup) }
        queue.async(group: group) {
            guard let elsewhere = call?.callHere() else { return next() }
            group?.enter()
            elsewhere.call {
                queue.async(group: group) { next() }; group?.leave()
            }
        }
        MainQueue.noteCallback(on: queue)
    }
}

// MARK: - NSCopying

/// Another manager with the same settings. Its queue is empty and its own, with the same limit and priority.
extension OperationManager: NSCopying {}

// MARK: - CustomStringConvertible

extension OperationManager: CustomStringConvertible {
    /// The base URL, and how busy the queue is.
    public var description: String {
        "<\(type(of: self)): \(baseURL?.publicText ?? "no base URL"), \(operationQueue.operationCount) operations>"
    }
}

// MARK: - CustomReflectable

extension OperationManager: CustomReflectable {
    /// Only the ``description``: `dump` would show credentials.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

extension URL {
    /// The path by which two URLs of an origin are one
    /// ([RFC 3986 §6.2](https://www.rfc-editor.org/rfc/rfc3986#section-6.2)).
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
