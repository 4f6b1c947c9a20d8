// Parameters of a type: the verbs with `encoding:`. The request serializer decides their form: a query, a
// form body, JSON, a property list. The forms that return a result throw the operation's error, or why no
// request could be made, and cancelling their task cancels the operation.
extension OperationManager {
    // MARK: - GET

    /// Sends a GET request with an encoded value as its parameters, and calls back on the completion queue;
    /// else as the verb with `parameters:`.
    @discardableResult
    public func get(
        _ path: String,
        encoding value: some Encodable & Sendable,
        headers: [String: String] = [:],
        configure: (HTTPRequestOperation) throws -> Void = { _ in },
        @_inheritActorContext success: HTTPRequestOperation.SuccessHandler?,
        @_inheritActorContext failure: FailureHandler? = nil
    ) -> HTTPRequestOperation? {
        enqueue(
            Call(method: "GET", path: path, parameters: EncodedParameters(value: value), headers: headers),
            configure,
            success: success,
            failure: failure
        )
    }

    /// Sends a GET request with an encoded value as its parameters, and returns the response object.
    @discardableResult
    public nonisolated(nonsending) func get(
        _ path: String,
        encoding value: some Encodable & Sendable,
        headers: [String: String] = [:],
        configure: (HTTPRequestOperation) throws -> Void = { _ in }
    ) async throws -> (any Sendable)? {
        try await result(
            of: Call(
                method: "GET",
                path: path,
                parameters: EncodedParameters(value: value),
                headers: headers
            ),
            configure
        )
    }

    /// Sends a GET request with an encoded value as its parameters, and returns the response as a value of
    /// `type`.
    public nonisolated(nonsending) func get<Value: Decodable & Sendable>(
        _ path: String,
        encoding value: some Encodable & Sendable,
        headers: [String: String] = [:],
        as type: Value.Type,
        configure: (HTTPRequestOperation) throws -> Void = { _ in }
    ) async throws -> Value {
        let call = Call(
            method: "GET",
            path: path,
            parameters: EncodedParameters(value: value),
            headers: headers
        )
        return try await self.value(of: call, as: type, configure)
    }

    // MARK: - POST

    /// Sends a POST request with an encoded value: see
    /// ``get(_:encoding:headers:configure:success:failure:)``.
    @discardableResult
    public func post(
        _ path: String,
        encoding value: some Encodable & Sendable,
        headers: [String: String] = [:],
        configure: (HTTPRequestOperation) throws -> Void = { _ in },
        @_inheritActorContext success: HTTPRequestOperation.SuccessHandler?,
        @_inheritActorContext failure: FailureHandler? = nil
    ) -> HTTPRequestOperation? {
        enqueue(
            Call(method: "POST", path: path, parameters: EncodedParameters(value: value), headers: headers),
            configure,
            success: success,
            failure: failure
        )
    }

    /// Sends a POST request with an encoded value: see ``get(_:encoding:headers:configure:)``.
    @discardableResult
    public nonisolated(nonsending) func post(
        _ path: String,
        encoding value: some Encodable & Sendable,
        headers: [String: String] = [:],
        configure: (HTTPRequestOperation) throws -> Void = { _ in }
    ) async throws -> (any Sendable)? {
        try await result(
            of: Call(
                method: "POST",
                path: path,
                parameters: EncodedParameters(value: value),
                headers: headers
            ),
            configure
        )
    }

    /// Sends a POST request with an encoded value: see ``get(_:encoding:headers:as:configure:)``.
    public nonisolated(nonsending) func post<Value: Decodable & Sendable>(
        _ path: String,
        encoding value: some Encodable & Sendable,
        headers: [String: String] = [:],
        as type: Value.Type,
        configure: (HTTPRequestOperation) throws -> Void = { _ in }
    ) async throws -> Value {
        let call = Call(
            method: "POST",
            path: path,
            parameters: EncodedParameters(value: value),
            headers: headers
        )
        return try await self.value(of: call, as: type, configure)
    }

    // MARK: - PUT

    /// Sends a PUT request with an encoded value: see ``get(_:encoding:headers:configure:success:failure:)``.
    @discardableResult
    public func put(
        _ path: String,
        encoding value: some Encodable & Sendable,
        headers: [String: String] = [:],
        configure: (HTTPRequestOperation) throws -> Void = { _ in },
        @_inheritActorContext success: HTTPRequestOperation.SuccessHandler?,
        @_inheritActorContext failure: FailureHandler? = nil
    ) -> HTTPRequestOperation? {
        enqueue(
            Call(method: "PUT", path: path, parameters: EncodedParameters(value: value), headers: headers),
            configure,
            success: success,
            failure: failure
        )
    }

    /// Sends a PUT request with an encoded value: see ``get(_:encoding:headers:configure:)``.
    @discardableResult
    public nonisolated(nonsending) func put(
        _ path: String,
        encoding value: some Encodable & Sendable,
        headers: [String: String] = [:],
        configure: (HTTPRequestOperation) throws -> Void = { _ in }
    ) async throws -> (any Sendable)? {
        try await result(
            of: Call(
                method: "PUT",
                path: path,
                parameters: EncodedParameters(value: value),
                headers: headers
            ),
            configure
        )
    }

    /// Sends a PUT request with an encoded value: see ``get(_:encoding:headers:as:configure:)``.
    public nonisolated(nonsending) func put<Value: Decodable & Sendable>(
        _ path: String,
        encoding value: some Encodable & Sendable,
        headers: [String: String] = [:],
        as type: Value.Type,
        configure: (HTTPRequestOperation) throws -> Void = { _ in }
    ) async throws -> Value {
        let call = Call(
            method: "PUT",
            path: path,
            parameters: EncodedParameters(value: value),
            headers: headers
        )
        return try await self.value(of: call, as: type, configure)
    }

    // MARK: - PATCH

    /// Sends a PATCH request with an encoded value: see
    /// ``get(_:encoding:headers:configure:success:failure:)``.
    @discardableResult
    public func patch(
        _ path: String,
        encoding value: some Encodable & Sendable,
        headers: [String: String] = [:],
        configure: (HTTPRequestOperation) throws -> Void = { _ in },
        @_inheritActorContext success: HTTPRequestOperation.SuccessHandler?,
        @_inheritActorContext failure: FailureHandler? = nil
    ) -> HTTPRequestOperation? {
        enqueue(
            Call(method: "PATCH", path: path, parameters: EncodedParameters(value: value), headers: headers),
            configure,
            success: success,
            failure: failure
        )
    }

    /// Sends a PATCH request with an encoded value: see ``get(_:encoding:headers:configure:)``.
    @discardableResult
    public nonisolated(nonsending) func patch(
        _ path: String,
        encoding value: some Encodable & Sendable,
        headers: [String: String] = [:],
        configure: (HTTPRequestOperation) throws -> Void = { _ in }
    ) async throws -> (any Sendable)? {
        try await result(
            of: Call(
                method: "PATCH",
                path: path,
                parameters: EncodedParameters(value: value),
                headers: headers
            ),
            configure
        )
    }

    /// Sends a PATCH request with an encoded value: see ``get(_:encoding:headers:as:configure:)``.
    public nonisolated(nonsending) func patch<Value: Decodable & Sendable>(
        _ path: String,
        encoding value: some Encodable & Sendable,
        headers: [String: String] = [:],
        as type: Value.Type,
        configure: (HTTPRequestOperation) throws -> Void = { _ in }
    ) async throws -> Value {
        let call = Call(
            method: "PATCH",
            path: path,
            parameters: EncodedParameters(value: value),
            headers: headers
        )
        return try await self.value(of: call, as: type, configure)
    }

    // MARK: - DELETE

    /// Sends a DELETE request with an encoded value: see
    /// ``get(_:encoding:headers:configure:success:failure:)``.
    @discardableResult
    public func delete(
        _ path: String,
        encoding value: some Encodable & Sendable,
        headers: [String: String] = [:],
        configure: (HTTPRequestOperation) throws -> Void = { _ in },
        @_inheritActorContext success: HTTPRequestOperation.SuccessHandler?,
        @_inheritActorContext failure: FailureHandler? = nil
    ) -> HTTPRequestOperation? {
        enqueue(
            Call(method: "DELETE", path: path, parameters: EncodedParameters(value: value), headers: headers),
            configure,
            success: success,
            failure: failure
        )
    }

    /// Sends a DELETE request with an encoded value: see ``get(_:encoding:headers:configure:)``.
    @discardableResult
    public nonisolated(nonsending) func delete(
        _ path: String,
        encoding value: some Encodable & Sendable,
        headers: [String: String] = [:],
        configure: (HTTPRequestOperation) throws -> Void = { _ in }
    ) async throws -> (any Sendable)? {
        try await result(
            of: Call(
                method: "DELETE",
                path: path,
                parameters: EncodedParameters(value: value),
                headers: headers
            ),
            configure
        )
    }

    /// Sends a DELETE request with an encoded value: see ``get(_:encoding:headers:as:configure:)``.
    public nonisolated(nonsending) func delete<Value: Decodable & Sendable>(
        _ path: String,
        encoding value: some Encodable & Sendable,
        headers: [String: String] = [:],
        as type: Value.Type,
        configure: (HTTPRequestOperation) throws -> Void = { _ in }
    ) async throws -> Value {
        let call = Call(
            method: "DELETE",
            path: path,
            parameters: EncodedParameters(value: value),
            headers: headers
        )
        return try await self.value(of: call, as: type, configure)
    }
}
