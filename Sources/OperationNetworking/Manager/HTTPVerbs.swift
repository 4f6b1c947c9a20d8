public import Foundation
public import FoundationNetworking

/// The verbs of ``OperationManager`` and ``HTTPSessionManager``.
///
/// Each verb (`get`, `head`, `post`, `put`, `patch`, `delete`, and `upload`) has a callback version and an
/// `async` version. Each version also exists with `as:`, which decodes the response as a given type:
///
/// ```swift
/// manager.get("users", parameters: ["page": 2], success: { operation, users in }, failure: { operation, error in })
/// manager.get("users", as: [User].self, success: { operation, users in })
/// let users = try await manager.get("users", parameters: ["page": 2])
/// let made = try await manager.post("users", parameters: .encoding(user), as: User.self)
/// ```
///
/// ``response(_:_:parameters:headers:configure:progress:)`` returns the value with the status, the header
/// fields and the metrics. Everything else about a result is available from the ``Call``, which the callback
/// versions return, and which `configure` receives before it starts. `head` has no `as:`, because its
/// response has no body.
///
/// - Parameters of the verbs:
///   - `path`: relative to the base URL, or an absolute URL.
///   - `parameters`: see ``RequestParameters``.
///   - `headers`: fields of this request only; they override the serializer's.
///   - `as`: the type of the value. The response is decoded as JSON by a decoder of ``makeJSONDecoder``. An
///     optional type accepts an empty body, and ``EmptyResponse`` any body.
///   - `progress`: called on the completion queue with the progress of the request's body for `post`, `put`,
///     `patch` and `upload`, and of the response's for the others.
///   - `configure`: called with the call before it starts; afterwards the call cannot be configured. If it
///     throws, the request fails with that error.
///   - `success`: called on the completion queue with the response object, or the value. A closure written in
///     an actor's code is called on that actor.
///   - `failure`: called on the completion queue with the error of the call or of making the request. The
///     call is `nil` if no request could be made.
///
/// The `async` versions throw that error. Cancelling their task cancels the call and ends the wait. They do
/// not need a completion queue. The callback versions have no default for `success`, so that `try await
/// manager.get("users")` is never ambiguous.
public protocol HTTPVerbs: AnyObject, Sendable {
    /// One request: an operation of a manager, a task of a session.
    associatedtype Call: AnyObject & Sendable

    /// Called with the response object. In a variable of this type, write `@MainActor` in the closure: see
    /// ``HTTPRequestOperation/SuccessHandler``.
    typealias SuccessHandler = @isolated(any) @Sendable (Call, (any Sendable)?) -> Void

    /// Called with the error of a request that failed. The call is `nil` if no request could be made.
    typealias FailureHandler = @isolated(any) @Sendable (Call?, any Error) -> Void

    /// Called with the value that the response was decoded as.
    typealias ValueHandler<Value> = @isolated(any) @Sendable (Call, Value) -> Void

    /// Called at most 20 times a second, and once with the final value.
    typealias ProgressHandler = @isolated(any) @Sendable (Progress) -> Void

    /// Parses responses. Defaults to ``JSONResponseSerializer``.
    var responseSerializer: any ResponseSerializer { get }

    /// Makes the decoder of one response, for the verbs with `as:`. Decoders are objects and are not shared.
    var makeJSONDecoder: @Sendable () -> JSONDecoder { get }

    // MARK: For the verbs

    /// Returns the request that a verb sends.
    ///
    /// - Throws: `URLError.badURL` for a path that is not a URL; any error of the request serializer and the
    ///   parameters.
    func request(
        _ method: String,
        _ path: String,
        parameters: some RequestParameters,
        headers: [String: String]
    ) throws -> URLRequest

    /// Makes a call that calls back with the response object. Does not start it.
    func makeCall(for request: URLRequest, success: SuccessHandler?, failure: FailureHandler?) -> Call

    /// Makes a call that calls back with the object that `serializer` makes from the response. Does not start
    /// it.
    func makeCall<Serializer: TypedResponseSerializer>(
        for request: URLRequest,
        with serializer: Serializer,
        success: ValueHandler<Serializer.Object>?,
        failure: FailureHandler?
    ) -> Call

    /// Adds an observer of the progress of a call that has not started.
    func observeProgress(of call: Call, isUpload: Bool, _ handler: @escaping ProgressHandler)

    /// Starts a call.
    func start(_ call: Call)

    /// Ends a call that has not started with the error that its configuration threw.
    func fail(_ call: Call, with error: any Error, failure: FailureHandler?)

    /// Calls a handler on the executor of its callbacks, because no request could be made.
    func report(_ error: any Error, to failure: @escaping FailureHandler)

    /// Waits for the response object of a started call. Cancelling the task cancels the call.
    func object(of call: Call) async throws -> (any Sendable)?

    /// Waits for the response object of a started call and returns it as a value of a type.
    func value<Value: Sendable>(of call: Call, as type: Value.Type) async throws -> Value

    /// Waits for a started call and returns the value with the status, the fields and the metrics.
    func response<Value: Sendable>(of call: Call, as type: Value.Type) async throws -> Response<Value>
}

extension HTTPVerbs {
    // MARK: - GET

    /// Sends a GET request and calls back with the response object.
    /// - Returns: the call, started; `nil` when no request could be made: see `failure`.
    @discardableResult
    public func get(
        _ path: String,
        parameters: some RequestParameters = NoParameters(),
        headers: [String: String] = [:],
        configure: (Call) throws -> Void = { _ in },
        @_inheritActorContext progress: ProgressHandler? = nil,
        @_inheritActorContext success: SuccessHandler?,
        @_inheritActorContext failure: FailureHandler? = nil
    ) -> Call? {
        send("GET", path, parameters, headers, progress, configure, success, failure)
    }

    /// Sends a GET request and returns the response object.
    @discardableResult
    public nonisolated(nonsending) func get(
        _ path: String,
        parameters: some RequestParameters = NoParameters(),
        headers: [String: String] = [:],
        configure: (Call) throws -> Void = { _ in },
        @_inheritActorContext progress: ProgressHandler? = nil
    ) async throws -> (any Sendable)? {
        try await object(of: started("GET", path, parameters, headers, progress, configure))
    }

    /// Sends a GET request and calls back with the response as a value of a type.
    /// - Returns: the call, started; `nil` when no request could be made: see `failure`.
    @discardableResult
    public func get<Value: Decodable & Sendable>(
        _ path: String,
        parameters: some RequestParameters = NoParameters(),
        headers: [String: String] = [:],
        as type: Value.Type,
        configure: (Call) throws -> Void = { _ in },
        @_inheritActorContext progress: ProgressHandler? = nil,
        @_inheritActorContext success: ValueHandler<Value>?,
        @_inheritActorContext failure: FailureHandler? = nil
    ) -> Call? {
        send("GET", path, parameters, headers, as: type, progress, configure, success, failure)
    }

    /// Sends a GET request and returns the response as a value of a type.
    public nonisolated(nonsending) func get<Value: Decodable & Sendable>(
        _ path: String,
        parameters: some RequestParameters = NoParameters(),
        headers: [String: String] = [:],
        as type: Value.Type,
        configure: (Call) throws -> Void = { _ in },
        @_inheritActorContext progress: ProgressHandler? = nil
    ) async throws -> Value {
        let call = try started(
            "GET",
            path,
            parameters,
            headers,
            with: serializer(of: type),
            progress,
            configure
        )
        return try await value(of: call, as: type)
    }

    // MARK: - HEAD

    /// Sends a HEAD request and calls back with the response object.
    /// - Returns: the call, started; `nil` when no request could be made: see `failure`.
    @discardableResult
    public func head(
        _ path: String,
        parameters: some RequestParameters = NoParameters(),
        headers: [String: String] = [:],
        configure: (Call) throws -> Void = { _ in },
        @_inheritActorContext progress: ProgressHandler? = nil,
        @_inheritActorContext success: SuccessHandler?,
        @_inheritActorContext failure: FailureHandler? = nil
    ) -> Call? {
        send("HEAD", path, parameters, headers, progress, configure, success, failure)
    }

    /// Sends a HEAD request and returns the response object.
    @discardableResult
    public nonisolated(nonsending) func head(
        _ path: String,
        parameters: some RequestParameters = NoParameters(),
        headers: [String: String] = [:],
        configure: (Call) throws -> Void = { _ in },
        @_inheritActorContext progress: ProgressHandler? = nil
    ) async throws -> (any Sendable)? {
        try await object(of: started("HEAD", path, parameters, headers, progress, configure))
    }

    // MARK: - POST

    /// Sends a POST request and calls back with the response object.
    /// - Returns: the call, started; `nil` when no request could be made: see `failure`.
    @discardableResult
    public func post(
        _ path: String,
        parameters: some RequestParameters = NoParameters(),
        headers: [String: String] = [:],
        configure: (Call) throws -> Void = { _ in },
        @_inheritActorContext progress: ProgressHandler? = nil,
        @_inheritActorContext success: SuccessHandler?,
        @_inheritActorContext failure: FailureHandler? = nil
    ) -> Call? {
        send("POST", path, parameters, headers, progress, configure, success, failure)
    }

    /// Sends a POST request and returns the response object.
    @discardableResult
    public nonisolated(nonsending) func post(
        _ path: String,
        parameters: some RequestParameters = NoParameters(),
        headers: [String: String] = [:],
        configure: (Call) throws -> Void = { _ in },
        @_inheritActorContext progress: ProgressHandler? = nil
    ) async throws -> (any Sendable)? {
        try await object(of: started("POST", path, parameters, headers, progress, configure))
    }

    /// Sends a POST request and calls back with the response as a value of a type.
    /// - Returns: the call, started; `nil` when no request could be made: see `failure`.
    @discardableResult
    public func post<Value: Decodable & Sendable>(
        _ path: String,
        parameters: some RequestParameters = NoParameters(),
        headers: [String: String] = [:],
        as type: Value.Type,
        configure: (Call) throws -> Void = { _ in },
        @_inheritActorContext progress: ProgressHandler? = nil,
        @_inheritActorContext success: ValueHandler<Value>?,
        @_inheritActorContext failure: FailureHandler? = nil
    ) -> Call? {
        send("POST", path, parameters, headers, as: type, progress, configure, success, failure)
    }

    /// Sends a POST request and returns the response as a value of a type.
    public nonisolated(nonsending) func post<Value: Decodable & Sendable>(
        _ path: String,
        parameters: some RequestParameters = NoParameters(),
        headers: [String: String] = [:],
        as type: Value.Type,
        configure: (Call) throws -> Void = { _ in },
        @_inheritActorContext progress: ProgressHandler? = nil
    ) async throws -> Value {
        let call = try started(
            "POST",
            path,
            parameters,
            headers,
            with: serializer(of: type),
            progress,
            configure
        )
        return try await value(of: call, as: type)
    }

    // MARK: - PUT

    /// Sends a PUT request and calls back with the response object.
    /// - Returns: the call, started; `nil` when no request could be made: see `failure`.
    @discardableResult
    public func put(
        _ path: String,
        parameters: some RequestParameters = NoParameters(),
        headers: [String: String] = [:],
        configure: (Call) throws -> Void = { _ in },
        @_inheritActorContext progress: ProgressHandler? = nil,
        @_inheritActorContext success: SuccessHandler?,
        @_inheritActorContext failure: FailureHandler? = nil
    ) -> Call? {
        send("PUT", path, parameters, headers, progress, configure, success, failure)
    }

    /// Sends a PUT request and returns the response object.
    @discardableResult
    public nonisolated(nonsending) func put(
        _ path: String,
        parameters: some RequestParameters = NoParameters(),
        headers: [String: String] = [:],
        configure: (Call) throws -> Void = { _ in },
        @_inheritActorContext progress: ProgressHandler? = nil
    ) async throws -> (any Sendable)? {
        try await object(of: started("PUT", path, parameters, headers, progress, configure))
    }

    /// Sends a PUT request and calls back with the response as a value of a type.
    /// - Returns: the call, started; `nil` when no request could be made: see `failure`.
    @discardableResult
    public func put<Value: Decodable & Sendable>(
        _ path: String,
        parameters: some RequestParameters = NoParameters(),
        headers: [String: String] = [:],
        as type: Value.Type,
        configure: (Call) throws -> Void = { _ in },
        @_inheritActorContext progress: ProgressHandler? = nil,
        @_inheritActorContext success: ValueHandler<Value>?,
        @_inheritActorContext failure: FailureHandler? = nil
    ) -> Call? {
        send("PUT", path, parameters, headers, as: type, progress, configure, success, failure)
    }

    /// Sends a PUT request and returns the response as a value of a type.
    public nonisolated(nonsending) func put<Value: Decodable & Sendable>(
        _ path: String,
        parameters: some RequestParameters = NoParameters(),
        headers: [String: String] = [:],
        as type: Value.Type,
        configure: (Call) throws -> Void = { _ in },
        @_inheritActorContext progress: ProgressHandler? = nil
    ) async throws -> Value {
        let call = try started(
            "PUT",
            path,
            parameters,
            headers,
            with: serializer(of: type),
            progress,
            configure
        )
        return try await value(of: call, as: type)
    }

    // MARK: - PATCH

    /// Sends a PATCH request and calls back with the response object.
    /// - Returns: the call, started; `nil` when no request could be made: see `failure`.
    @discardableResult
    public func patch(
        _ path: String,
        parameters: some RequestParameters = NoParameters(),
        headers: [String: String] = [:],
        configure: (Call) throws -> Void = { _ in },
        @_inheritActorContext progress: ProgressHandler? = nil,
        @_inheritActorContext success: SuccessHandler?,
        @_inheritActorContext failure: FailureHandler? = nil
    ) -> Call? {
        send("PATCH", path, parameters, headers, progress, configure, success, failure)
    }

    /// Sends a PATCH request and returns the response object.
    @discardableResult
    public nonisolated(nonsending) func patch(
        _ path: String,
        parameters: some RequestParameters = NoParameters(),
        headers: [String: String] = [:],
        configure: (Call) throws -> Void = { _ in },
        @_inheritActorContext progress: ProgressHandler? = nil
    ) async throws -> (any Sendable)? {
        try await object(of: started("PATCH", path, parameters, headers, progress, configure))
    }

    /// Sends a PATCH request and calls back with the response as a value of a type.
    /// - Returns: the call, started; `nil` when no request could be made: see `failure`.
    @discardableResult
    public func patch<Value: Decodable & Sendable>(
        _ path: String,
        parameters: some RequestParameters = NoParameters(),
        headers: [String: String] = [:],
        as type: Value.Type,
        configure: (Call) throws -> Void = { _ in },
        @_inheritActorContext progress: ProgressHandler? = nil,
        @_inheritActorContext success: ValueHandler<Value>?,
        @_inheritActorContext failure: FailureHandler? = nil
    ) -> Call? {
        send("PATCH", path, parameters, headers, as: type, progress, configure, success, failure)
    }

    /// Sends a PATCH request and returns the response as a value of a type.
    public nonisolated(nonsending) func patch<Value: Decodable & Sendable>(
        _ path: String,
        parameters: some RequestParameters = NoParameters(),
        headers: [String: String] = [:],
        as type: Value.Type,
        configure: (Call) throws -> Void = { _ in },
        @_inheritActorContext progress: ProgressHandler? = nil
    ) async throws -> Value {
        let call = try started(
            "PATCH",
            path,
            parameters,
            headers,
            with: serializer(of: type),
            progress,
            configure
        )
        return try await value(of: call, as: type)
    }

    // MARK: - DELETE

    /// Sends a DELETE request and calls back with the response object.
    /// - Returns: the call, started; `nil` when no request could be made: see `failure`.
    @discardableResult
    public func delete(
        _ path: String,
        parameters: some RequestParameters = NoParameters(),
        headers: [String: String] = [:],
        configure: (Call) throws -> Void = { _ in },
        @_inheritActorContext progress: ProgressHandler? = nil,
        @_inheritActorContext success: SuccessHandler?,
        @_inheritActorContext failure: FailureHandler? = nil
    ) -> Call? {
        send("DELETE", path, parameters, headers, progress, configure, success, failure)
    }

    /// Sends a DELETE request and returns the response object.
    @discardableResult
    public nonisolated(nonsending) func delete(
        _ path: String,
        parameters: some RequestParameters = NoParameters(),
        headers: [String: String] = [:],
        configure: (Call) throws -> Void = { _ in },
        @_inheritActorContext progress: ProgressHandler? = nil
    ) async throws -> (any Sendable)? {
        try await object(of: started("DELETE", path, parameters, headers, progress, configure))
    }

    /// Sends a DELETE request and calls back with the response as a value of a type.
    /// - Returns: the call, started; `nil` when no request could be made: see `failure`.
    @discardableResult
    public func delete<Value: Decodable & Sendable>(
        _ path: String,
        parameters: some RequestParameters = NoParameters(),
        headers: [String: String] = [:],
        as type: Value.Type,
        configure: (Call) throws -> Void = { _ in },
        @_inheritActorContext progress: ProgressHandler? = nil,
        @_inheritActorContext success: ValueHandler<Value>?,
        @_inheritActorContext failure: FailureHandler? = nil
    ) -> Call? {
        send("DELETE", path, parameters, headers, as: type, progress, configure, success, failure)
    }

    /// Sends a DELETE request and returns the response as a value of a type.
    public nonisolated(nonsending) func delete<Value: Decodable & Sendable>(
        _ path: String,
        parameters: some RequestParameters = NoParameters(),
        headers: [String: String] = [:],
        as type: Value.Type,
        configure: (Call) throws -> Void = { _ in },
        @_inheritActorContext progress: ProgressHandler? = nil
    ) async throws -> Value {
        let call = try started(
            "DELETE",
            path,
            parameters,
            headers,
            with: serializer(of: type),
            progress,
            configure
        )
        return try await value(of: call, as: type)
    }

    // MARK: - Bodies that are sent as they are

    /// Sends a body as it is, and calls back with the response object.
    /// - Returns: the call, started; `nil` when no request could be made: see `failure`.
    @discardableResult
    public func upload(
        _ body: BodySource,
        to path: String,
        method: String = "POST",
        headers: [String: String] = [:],
        configure: (Call) throws -> Void = { _ in },
        @_inheritActorContext progress: ProgressHandler? = nil,
        @_inheritActorContext success: SuccessHandler?,
        @_inheritActorContext failure: FailureHandler? = nil
    ) -> Call? {
        send(method, path, .body(body), headers, progress, configure, success, failure)
    }

    /// Sends a body as it is, and returns the response object.
    @discardableResult
    public nonisolated(nonsending) func upload(
        _ body: BodySource,
        to path: String,
        method: String = "POST",
        headers: [String: String] = [:],
        configure: (Call) throws -> Void = { _ in },
        @_inheritActorContext progress: ProgressHandler? = nil
    ) async throws -> (any Sendable)? {
        try await object(of: started(method, path, .body(body), headers, progress, configure))
    }

    /// Sends a body as it is, and calls back with the response as a value of a type.
    /// - Returns: the call, started; `nil` when no request could be made: see `failure`.
    @discardableResult
    public func upload<Value: Decodable & Sendable>(
        _ body: BodySource,
        to path: String,
        method: String = "POST",
        headers: [String: String] = [:],
        as type: Value.Type,
        configure: (Call) throws -> Void = { _ in },
        @_inheritActorContext progress: ProgressHandler? = nil,
        @_inheritActorContext success: ValueHandler<Value>?,
        @_inheritActorContext failure: FailureHandler? = nil
    ) -> Call? {
        send(method, path, .body(body), headers, as: type, progress, configure, success, failure)
    }

    /// Sends a body as it is, and returns the response as a value of a type.
    public nonisolated(nonsending) func upload<Value: Decodable & Sendable>(
        _ body: BodySource,
        to path: String,
        method: String = "POST",
        headers: [String: String] = [:],
        as type: Value.Type,
        configure: (Call) throws -> Void = { _ in },
        @_inheritActorContext progress: ProgressHandler? = nil
    ) async throws -> Value {
        let call = try started(
            method,
            path,
            .body(body),
            headers,
            with: serializer(of: type),
            progress,
            configure
        )
        return try await value(of: call, as: type)
    }

    // MARK: - Values with their responses

    /// Sends a request and returns the response object with the status, the fields and the metrics.
    ///
    /// ```swift
    /// let page = try await manager.response("GET", "users", as: [User].self)
    /// print(page.value.count, page.statusCode, page.value(forHTTPHeaderField: "Link") ?? "the last page")
    /// ```
    @discardableResult
    public nonisolated(nonsending) func response(
        _ method: String,
        _ path: String,
        parameters: some RequestParameters = NoParameters(),
        headers: [String: String] = [:],
        configure: (Call) throws -> Void = { _ in },
        @_inheritActorContext progress: ProgressHandler? = nil
    ) async throws -> Response<(any Sendable)?> {
        let call = try started(method, path, parameters, headers, progress, configure)
        return try await response(of: call, as: (any Sendable)?.self)
    }

    /// Sends a request and returns the response as a value of a type, with the status, the fields and the
    /// metrics.
    public nonisolated(nonsending) func response<Value: Decodable & Sendable>(
        _ method: String,
        _ path: String,
        parameters: some RequestParameters = NoParameters(),
        headers: [String: String] = [:],
        as type: Value.Type,
        configure: (Call) throws -> Void = { _ in },
        @_inheritActorContext progress: ProgressHandler? = nil
    ) async throws -> Response<Value> {
        let serializer = serializer(of: type)
        return try await response(
            method,
            path,
            parameters: parameters,
            headers: headers,
            with: serializer,
            configure: configure,
            progress: progress
        )
    }

    /// Sends a request and returns the object that a serializer makes from the response, with the status, the
    /// fields and the metrics.
    public nonisolated(nonsending) func response<Serializer: TypedResponseSerializer>(
        _ method: String,
        _ path: String,
        parameters: some RequestParameters = NoParameters(),
        headers: [String: String] = [:],
        with serializer: Serializer,
        configure: (Call) throws -> Void = { _ in },
        @_inheritActorContext progress: ProgressHandler? = nil
    ) async throws -> Response<Serializer.Object> {
        let call = try started(method, path, parameters, headers, with: serializer, progress, configure)
        return try await response(of: call, as: Serializer.Object.self)
    }

    /// Sends a given request and returns the object that a serializer makes from the response, with the
    /// status, the fields and the metrics.
    public nonisolated(nonsending) func response<Serializer: TypedResponseSerializer>(
        for request: URLRequest,
        with serializer: Serializer,
        configure: (Call) throws -> Void = { _ in },
        @_inheritActorContext progress: ProgressHandler? = nil
    ) async throws -> Response<Serializer.Object> {
        let call = makeCall(for: request, with: serializer, success: nil, failure: nil)
        _ = try started(call, for: request, progress, configure)
        return try await response(of: call, as: Serializer.Object.self)
    }

    // MARK: - Private

    /// Whether to report the progress of the request's body: according to the method, as in AFNetworking 3,
    /// or if there is a body that is sent as it is.
    private func isUpload(_ request: URLRequest) -> Bool {
        ["POST", "PUT", "PATCH"].contains(request.httpMethod) || request.bodySource != nil
    }

    /// Decodes JSON, and accepts what ``responseSerializer`` accepts if that is a ``JSONResponseSerializer``.
    private func serializer<Value>(of type: Value.Type) -> DecodableResponseSerializer<Value> {
        var serializer = DecodableResponseSerializer(type, makeDecoder: makeJSONDecoder)
        if let json = responseSerializer as? JSONResponseSerializer {
            serializer.validation = json.validation
        }
        return serializer
    }

    private func send(
        _ method: String,
        _ path: String,
        _ parameters: some RequestParameters,
        _ headers: [String: String],
        _ progress: ProgressHandler?,
        _ configure: (Call) throws -> Void,
        _ success: SuccessHandler?,
        _ failure: FailureHandler?
    ) -> Call? {
        start(method, path, parameters, headers, progress, configure, failure) { request in
            makeCall(for: request, success: success, failure: failure)
        }
    }

    private func send<Value: Decodable & Sendable>(
        _ method: String,
        _ path: String,
        _ parameters: some RequestParameters,
        _ headers: [String: String],
        as type: Value.Type,
        _ progress: ProgressHandler?,
        _ configure: (Call) throws -> Void,
        _ success: ValueHandler<Value>?,
        _ failure: FailureHandler?
    ) -> Call? {
        start(method, path, parameters, headers, progress, configure, failure) { request in
            makeCall(for: request, with: serializer(of: type), success: success, failure: failure)
        }
    }

    private func start(
        _ method: String,
        _ path: String,
        _ parameters: some RequestParameters,
        _ headers: [String: String],
        _ progress: ProgressHandler?,
        _ configure: (Call) throws -> Void,
        _ failure: FailureHandler?,
        _ make: (URLRequest) -> Call
    ) -> Call? {
        let request: URLRequest
        do {
            request = try self.request(method, path, parameters: parameters, headers: headers)
        } catch {
            if let failure { report(error, to: failure) }
            return nil
        }
        let call = make(request)
        if let progress { observeProgress(of: call, isUpload: isUpload(request), progress) }
        do {
            try configure(call)
        } catch {
            fail(call, with: error, failure: failure)
            return nil
        }
        start(call)
        return call
    }

    private func started(
        _ method: String,
        _ path: String,
        _ parameters: some RequestParameters,
        _ headers: [String: String],
        _ progress: ProgressHandler?,
        _ configure: (Call) throws -> Void
    ) throws -> Call {
        let request = try request(method, path, parameters: parameters, headers: headers)
        let call = makeCall(for: request, success: nil, failure: nil)
        return try started(call, for: request, progress, configure)
    }

    private func started(
        _ method: String,
        _ path: String,
        _ parameters: some RequestParameters,
        _ headers: [String: String],
        with serializer: some TypedResponseSerializer,
        _ progress: ProgressHandler?,
        _ configure: (Call) throws -> Void
    ) throws -> Call {
        let request = try request(method, path, parameters: parameters, headers: headers)
        let call = makeCall(for: request, with: serializer, success: nil, failure: nil)
        return try started(call, for: request, progress, configure)
    }

    private func started(
        _ call: Call,
        for request: URLRequest,
        _ progress: ProgressHandler?,
        _ configure: (Call) throws -> Void
    ) throws -> Call {
        if let progress { observeProgress(of: call, isUpload: isUpload(request), progress) }
        do {
            try configure(call)
        } catch {
            fail(call, with: error, failure: nil)
            throw error
        }
        start(call)
        return call
    }
}
