// Parameters of a type: the verbs with `encoding:`. The request serializer decides their form: a query, a
// form body, JSON, a property list. The forms that return a result throw the task's error, or why no request
// could be made, and cancelling their Swift task cancels the session's.
extension HTTPSessionManager {
    // MARK: - GET

    /// Sends a GET request with an encoded value as its parameters, and calls back on the completion queue;
    /// else as the verb with `parameters:`.
    @discardableResult
    public func get(
        _ path: String,
        encoding value: some Encodable & Sendable,
        headers: [String: String] = [:],
        @_inheritActorContext progress: SessionTask.ProgressHandler? = nil,
        @_inheritActorContext success: SuccessHandler?,
        @_inheritActorContext failure: FailureHandler? = nil
    ) -> DataTask? {
        resumed(
            Call(method: "GET", path: path, parameters: EncodedParameters(value: value), headers: headers),
            downloadProgress: progress,
            success,
            failure
        )
    }

    /// Sends a GET request with an encoded value as its parameters, and returns the response object.
    @discardableResult
    public nonisolated(nonsending) func get(
        _ path: String,
        encoding value: some Encodable & Sendable,
        headers: [String: String] = [:]
    ) async throws -> (any Sendable)? {
        try await outcome(
            of: Call(method: "GET", path: path, parameters: EncodedParameters(value: value), headers: headers)
        )
    }

    /// Sends a GET request with an encoded value as its parameters, and returns the response as a value of
    /// `type`.
    public nonisolated(nonsending) func get<Value: Decodable & Sendable>(
        _ path: String,
        encoding value: some Encodable & Sendable,
        headers: [String: String] = [:],
        as type: Value.Type
    ) async throws -> Value {
        let call = Call(
            method: "GET",
            path: path,
            parameters: EncodedParameters(value: value),
            headers: headers
        )
        return try await self.value(of: call, as: type)
    }

    // MARK: - POST

    /// Sends a POST request with an encoded value: see
    /// ``get(_:encoding:headers:progress:success:failure:)``.
    @discardableResult
    public func post(
        _ path: String,
        encoding value: some Encodable & Sendable,
        headers: [String: String] = [:],
        @_inheritActorContext progress: SessionTask.ProgressHandler? = nil,
        @_inheritActorContext success: SuccessHandler?,
        @_inheritActorContext failure: FailureHandler? = nil
    ) -> DataTask? {
        resumed(
            Call(method: "POST", path: path, parameters: EncodedParameters(value: value), headers: headers),
            uploadProgress: progress,
            success,
            failure
        )
    }

    /// Sends a POST request with an encoded value: see ``get(_:encoding:headers:)``.
    @discardableResult
    public nonisolated(nonsending) func post(
        _ path: String,
        encoding value: some Encodable & Sendable,
        headers: [String: String] = [:]
    ) async throws -> (any Sendable)? {
        try await outcome(
            of: Call(
                method: "POST",
                path: path,
                parameters: EncodedParameters(value: value),
                headers: headers
            )
        )
    }

    /// Sends a POST request with an encoded value: see ``get(_:encoding:headers:as:)``.
    public nonisolated(nonsending) func post<Value: Decodable & Sendable>(
        _ path: String,
        encoding value: some Encodable & Sendable,
        headers: [String: String] = [:],
        as type: Value.Type
    ) async throws -> Value {
        let call = Call(
            method: "POST",
            path: path,
            parameters: EncodedParameters(value: value),
            headers: headers
        )
        return try await self.value(of: call, as: type)
    }

    // MARK: - PUT

    /// Sends a PUT request with an encoded value: see
    /// ``get(_:encoding:headers:progress:success:failure:)``.
    @discardableResult
    public func put(
        _ path: String,
        encoding value: some Encodable & Sendable,
        headers: [String: String] = [:],
        @_inheritActorContext progress: SessionTask.ProgressHandler? = nil,
        @_inheritActorContext success: SuccessHandler?,
        @_inheritActorContext failure: FailureHandler? = nil
    ) -> DataTask? {
        resumed(
            Call(method: "PUT", path: path, parameters: EncodedParameters(value: value), headers: headers),
            uploadProgress: progress,
            success,
            failure
        )
    }

    /// Sends a PUT request with an encoded value: see ``get(_:encoding:headers:)``.
    @discardableResult
    public nonisolated(nonsending) func put(
        _ path: String,
        encoding value: some Encodable & Sendable,
        headers: [String: String] = [:]
    ) async throws -> (any Sendable)? {
        try await outcome(
            of: Call(method: "PUT", path: path, parameters: EncodedParameters(value: value), headers: headers)
        )
    }

    /// Sends a PUT request with an encoded value: see ``get(_:encoding:headers:as:)``.
    public nonisolated(nonsending) func put<Value: Decodable & Sendable>(
        _ path: String,
        encoding value: some Encodable & Sendable,
        headers: [String: String] = [:],
        as type: Value.Type
    ) async throws -> Value {
        let call = Call(
            method: "PUT",
            path: path,
            parameters: EncodedParameters(value: value),
            headers: headers
        )
        return try await self.value(of: call, as: type)
    }

    // MARK: - PATCH

    /// Sends a PATCH request with an encoded value: see
    /// ``get(_:encoding:headers:progress:success:failure:)``.
    @discardableResult
    public func patch(
        _ path: String,
        encoding value: some Encodable & Sendable,
        headers: [String: String] = [:],
        @_inheritActorContext progress: SessionTask.ProgressHandler? = nil,
        @_inheritActorContext success: SuccessHandler?,
        @_inheritActorContext failure: FailureHandler? = nil
    ) -> DataTask? {
        resumed(
            Call(method: "PATCH", path: path, parameters: EncodedParameters(value: value), headers: headers),
            uploadProgress: progress,
            success,
            failure
        )
    }

    /// Sends a PATCH request with an encoded value: see ``get(_:encoding:headers:)``.
    @discardableResult
    public nonisolated(nonsending) func patch(
        _ path: String,
        encoding value: some Encodable & Sendable,
        headers: [String: String] = [:]
    ) async throws -> (any Sendable)? {
        try await outcome(
            of: Call(
                method: "PATCH",
                path: path,
                parameters: EncodedParameters(value: value),
                headers: headers
            )
        )
    }

    /// Sends a PATCH request with an encoded value: see ``get(_:encoding:headers:as:)``.
    public nonisolated(nonsending) func patch<Value: Decodable & Sendable>(
        _ path: String,
        encoding value: some Encodable & Sendable,
        headers: [String: String] = [:],
        as type: Value.Type
    ) async throws -> Value {
        let call = Call(
            method: "PATCH",
            path: path,
            parameters: EncodedParameters(value: value),
            headers: headers
        )
        return try await self.value(of: call, as: type)
    }

    // MARK: - DELETE

    /// Sends a DELETE request with an encoded value: see
    /// ``get(_:encoding:headers:progress:success:failure:)``.
    @discardableResult
    public func delete(
        _ path: String,
        encoding value: some Encodable & Sendable,
        headers: [String: String] = [:],
        @_inheritActorContext success: SuccessHandler?,
        @_inheritActorContext failure: FailureHandler? = nil
    ) -> DataTask? {
        resumed(
            Call(method: "DELETE", path: path, parameters: EncodedParameters(value: value), headers: headers),
            success,
            failure
        )
    }

    /// Sends a DELETE request with an encoded value: see ``get(_:encoding:headers:)``.
    @discardableResult
    public nonisolated(nonsending) func delete(
        _ path: String,
        encoding value: some Encodable & Sendable,
        headers: [String: String] = [:]
    ) async throws -> (any Sendable)? {
        try await outcome(
            of: Call(
                method: "DELETE",
                path: path,
                parameters: EncodedParameters(value: value),
                headers: headers
            )
        )
    }

    /// Sends a DELETE request with an encoded value: see ``get(_:encoding:headers:as:)``.
    public nonisolated(nonsending) func delete<Value: Decodable & Sendable>(
        _ path: String,
        encoding value: some Encodable & Sendable,
        headers: [String: String] = [:],
        as type: Value.Type
    ) async throws -> Value {
        let call = Call(
            method: "DELETE",
            path: path,
            parameters: EncodedParameters(value: value),
            headers: headers
        )
        return try await self.value(of: call, as: type)
    }
}
