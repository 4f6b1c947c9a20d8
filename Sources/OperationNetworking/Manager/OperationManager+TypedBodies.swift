internal import FoundationNetworking

// Bodies that are sent as they are, forms of several parts and lists, with responses as values of a type.
extension OperationManager {
    // MARK: - Bodies as they are

    /// Sends a body as it is, and calls back with the response as a value of `type`: else as the verb without
    /// a type.
    @discardableResult
    public func upload<Value: Decodable & Sendable>(
        _ body: BodySource,
        to path: String,
        method: String = "POST",
        headers: [String: String] = [:],
        as type: Value.Type,
        configure: (HTTPRequestOperation) throws -> Void = { _ in },
        @_inheritActorContext success: ValueHandler<Value>?,
        @_inheritActorContext failure: FailureHandler? = nil
    ) -> HTTPRequestOperation? {
        enqueue(as: type, configure, success: success, failure: failure) {
            try uploadRequest(body, path: path, method: method, headers: headers)
        }
    }

    /// Sends a body as it is, and decodes the response: see ``get(_:parameters:headers:as:configure:)``.
    public nonisolated(nonsending) func upload<Value: Decodable & Sendable>(
        _ body: BodySource,
        to path: String,
        method: String = "POST",
        headers: [String: String] = [:],
        as type: Value.Type,
        configure: (HTTPRequestOperation) throws -> Void = { _ in }
    ) async throws -> Value {
        let request = try uploadRequest(body, path: path, method: method, headers: headers)
        return try await value(of: request, as: type, configure)
    }

    // MARK: - POST

    /// Sends a POST request with a form of several parts, and calls back with the response as a value of
    /// `type`: else as the verb without a type.
    @discardableResult
    public func post<Value: Decodable & Sendable>(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        constructingBody constructBody: (inout MultipartFormData) throws -> Void,
        as type: Value.Type,
        configure: (HTTPRequestOperation) throws -> Void = { _ in },
        @_inheritActorContext success: ValueHandler<Value>?,
        @_inheritActorContext failure: FailureHandler? = nil
    ) -> HTTPRequestOperation? {
        enqueue(as: type, configure, success: success, failure: failure) {
            try multipartRequest("POST", path, parameters, headers, constructBody)
        }
    }

    /// Sends a POST request with a form of several parts, and decodes the response: see
    /// ``get(_:parameters:headers:as:configure:)``.
    public nonisolated(nonsending) func post<Value: Decodable & Sendable>(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        constructingBody constructBody: (inout MultipartFormData) throws -> Void,
        as type: Value.Type,
        configure: (HTTPRequestOperation) throws -> Void = { _ in }
    ) async throws -> Value {
        let request = try multipartRequest("POST", path, parameters, headers, constructBody)
        return try await value(of: request, as: type, configure)
    }

    /// Sends a POST request with a list, and calls back with the response as a value of `type`: else as the
    /// verb without a type.
    @discardableResult
    public func post<Value: Decodable & Sendable>(
        _ path: String,
        parameters: [Any],
        headers: [String: String] = [:],
        as type: Value.Type,
        configure: (HTTPRequestOperation) throws -> Void = { _ in },
        @_inheritActorContext success: ValueHandler<Value>?,
        @_inheritActorContext failure: FailureHandler? = nil
    ) -> HTTPRequestOperation? {
        enqueue(as: type, configure, success: success, failure: failure) {
            try request(for: Call(method: "POST", path: path, parameters: parameters, headers: headers))
        }
    }

    // MARK: - PUT

    /// Sends a PUT request with a form of several parts, and calls back with the response as a value of
    /// `type`: else as the verb without a type.
    @discardableResult
    public func put<Value: Decodable & Sendable>(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        constructingBody constructBody: (inout MultipartFormData) throws -> Void,
        as type: Value.Type,
        configure: (HTTPRequestOperation) throws -> Void = { _ in },
        @_inheritActorContext success: ValueHandler<Value>?,
        @_inheritActorContext failure: FailureHandler? = nil
    ) -> HTTPRequestOperation? {
        enqueue(as: type, configure, success: success, failure: failure) {
            try multipartRequest("PUT", path, parameters, headers, constructBody)
        }
    }

    /// Sends a PUT request with a form of several parts, and decodes the response: see
    /// ``get(_:parameters:headers:as:configure:)``.
    public nonisolated(nonsending) func put<Value: Decodable & Sendable>(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        constructingBody constructBody: (inout MultipartFormData) throws -> Void,
        as type: Value.Type,
        configure: (HTTPRequestOperation) throws -> Void = { _ in }
    ) async throws -> Value {
        let request = try multipartRequest("PUT", path, parameters, headers, constructBody)
        return try await value(of: request, as: type, configure)
    }

    /// Sends a PUT request with a list, and calls back with the response as a value of `type`: else as the
    /// verb without a type.
    @discardableResult
    public func put<Value: Decodable & Sendable>(
        _ path: String,
        parameters: [Any],
        headers: [String: String] = [:],
        as type: Value.Type,
        configure: (HTTPRequestOperation) throws -> Void = { _ in },
        @_inheritActorContext success: ValueHandler<Value>?,
        @_inheritActorContext failure: FailureHandler? = nil
    ) -> HTTPRequestOperation? {
        enqueue(as: type, configure, success: success, failure: failure) {
            try request(for: Call(method: "PUT", path: path, parameters: parameters, headers: headers))
        }
    }

    // MARK: - PATCH

    /// Sends a PATCH request with a form of several parts, and calls back with the response as a value of
    /// `type`: else as the verb without a type.
    @discardableResult
    public func patch<Value: Decodable & Sendable>(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        constructingBody constructBody: (inout MultipartFormData) throws -> Void,
        as type: Value.Type,
        configure: (HTTPRequestOperation) throws -> Void = { _ in },
        @_inheritActorContext success: ValueHandler<Value>?,
        @_inheritActorContext failure: FailureHandler? = nil
    ) -> HTTPRequestOperation? {
        enqueue(as: type, configure, success: success, failure: failure) {
            try multipartRequest("PATCH", path, parameters, headers, constructBody)
        }
    }

    /// Sends a PATCH request with a form of several parts, and decodes the response: see
    /// ``get(_:parameters:headers:as:configure:)``.
    public nonisolated(nonsending) func patch<Value: Decodable & Sendable>(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        constructingBody constructBody: (inout MultipartFormData) throws -> Void,
        as type: Value.Type,
        configure: (HTTPRequestOperation) throws -> Void = { _ in }
    ) async throws -> Value {
        let request = try multipartRequest("PATCH", path, parameters, headers, constructBody)
        return try await value(of: request, as: type, configure)
    }

    /// Sends a PATCH request with a list, and calls back with the response as a value of `type`: else as the
    /// verb without a type.
    @discardableResult
    public func patch<Value: Decodable & Sendable>(
        _ path: String,
        parameters: [Any],
        headers: [String: String] = [:],
        as type: Value.Type,
        configure: (HTTPRequestOperation) throws -> Void = { _ in },
        @_inheritActorContext success: ValueHandler<Value>?,
        @_inheritActorContext failure: FailureHandler? = nil
    ) -> HTTPRequestOperation? {
        enqueue(as: type, configure, success: success, failure: failure) {
            try request(for: Call(method: "PATCH", path: path, parameters: parameters, headers: headers))
        }
    }
}
