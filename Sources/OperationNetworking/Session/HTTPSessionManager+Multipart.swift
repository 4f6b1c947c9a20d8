internal import Foundation
internal import FoundationNetworking

// Forms of several parts. As in AFNetworking the closure appends parts to a form that begins with the
// parameters; it is called at once, and what it throws is the error of the request.
extension HTTPSessionManager {
    // MARK: - POST

    /// Sends a POST request with a form of several parts, and calls back on the completion queue.
    ///
    /// - Parameters:
    ///   - path: relative to the base URL, or a whole URL.
    ///   - parameters: become the first parts.
    ///   - headers: of this request only; they win over the serializer's.
    ///   - constructBody: appends parts; called before this returns.
    ///   - progress: hears the task's `uploadProgress`.
    ///   - success: called with the response object.
    ///   - failure: called with the error of the task, or of making the request.
    /// - Returns: the task, resumed; `nil` when no request could be made: see `failure`.
    @discardableResult
    public func post(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        constructingBody constructBody: (inout MultipartFormData) throws -> Void,
        @_inheritActorContext progress: SessionTask.ProgressHandler? = nil,
        @_inheritActorContext success: SuccessHandler?,
        @_inheritActorContext failure: FailureHandler? = nil
    ) -> UploadTask? {
        var closures = Self.closures(success, failure)
        closures.uploadProgress = progress
        return resumedForm(closures, failure) {
            try form("POST", path, parameters, headers, constructBody)
        }
    }

    /// Sends a POST request with a form of several parts, and returns the response object: see
    /// ``get(_:parameters:headers:)``.
    @discardableResult
    public nonisolated(nonsending) func post(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        constructingBody constructBody: (inout MultipartFormData) throws -> Void
    ) async throws -> (any Sendable)? {
        let request = try form("POST", path, parameters, headers, constructBody)
        let task = makeUploadTask(request, TaskDelegate.Closures())
        task.resume()
        return try await task.outcome
    }

    /// Sends a POST request with a form of several parts, and calls back with the response as a value of
    /// `type`: else as the verb without a type.
    @discardableResult
    public func post<Value: Decodable & Sendable>(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        constructingBody constructBody: (inout MultipartFormData) throws -> Void,
        as type: Value.Type,
        @_inheritActorContext progress: SessionTask.ProgressHandler? = nil,
        @_inheritActorContext success: ValueHandler<Value>?,
        @_inheritActorContext failure: FailureHandler? = nil
    ) -> UploadTask? {
        var closures = Self.typedClosures(success, failure)
        closures.uploadProgress = progress
        return resumedForm(closures, failure, serializer: decodableSerializer(for: type)) {
            try form("POST", path, parameters, headers, constructBody)
        }
    }

    /// Sends a POST request with a form of several parts, and decodes the response: see
    /// ``get(_:parameters:headers:as:)``.
    public nonisolated(nonsending) func post<Value: Decodable & Sendable>(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        constructingBody constructBody: (inout MultipartFormData) throws -> Void,
        as type: Value.Type
    ) async throws -> Value {
        try await value(ofForm: form("POST", path, parameters, headers, constructBody), as: type)
    }

    // MARK: - PUT

    /// Sends a PUT request with a form of several parts: see
    /// ``post(_:parameters:headers:constructingBody:progress:success:failure:)``.
    @discardableResult
    public func put(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        constructingBody constructBody: (inout MultipartFormData) throws -> Void,
        @_inheritActorContext progress: SessionTask.ProgressHandler? = nil,
        @_inheritActorContext success: SuccessHandler?,
        @_inheritActorContext failure: FailureHandler? = nil
    ) -> UploadTask? {
        var closures = Self.closures(success, failure)
        closures.uploadProgress = progress
        return resumedForm(closures, failure) {
            try form("PUT", path, parameters, headers, constructBody)
        }
    }

    /// Sends a PUT request with a form of several parts, and returns the response object: see
    /// ``get(_:parameters:headers:)``.
    @discardableResult
    public nonisolated(nonsending) func put(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        constructingBody constructBody: (inout MultipartFormData) throws -> Void
    ) async throws -> (any Sendable)? {
        let request = try form("PUT", path, parameters, headers, constructBody)
        let task = makeUploadTask(request, TaskDelegate.Closures())
        task.resume()
        return try await task.outcome
    }

    /// Sends a PUT request with a form of several parts, and calls back with the response as a value of
    /// `type`: else as the verb without a type.
    @discardableResult
    public func put<Value: Decodable & Sendable>(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        constructingBody constructBody: (inout MultipartFormData) throws -> Void,
        as type: Value.Type,
        @_inheritActorContext progress: SessionTask.ProgressHandler? = nil,
        @_inheritActorContext success: ValueHandler<Value>?,
        @_inheritActorContext failure: FailureHandler? = nil
    ) -> UploadTask? {
        var closures = Self.typedClosures(success, failure)
        closures.uploadProgress = progress
        return resumedForm(closures, failure, serializer: decodableSerializer(for: type)) {
            try form("PUT", path, parameters, headers, constructBody)
        }
    }

    /// Sends a PUT request with a form of several parts, and decodes the response: see
    /// ``get(_:parameters:headers:as:)``.
    public nonisolated(nonsending) func put<Value: Decodable & Sendable>(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        constructingBody constructBody: (inout MultipartFormData) throws -> Void,
        as type: Value.Type
    ) async throws -> Value {
        try await value(ofForm: form("PUT", path, parameters, headers, constructBody), as: type)
    }

    // MARK: - PATCH

    /// Sends a PATCH request with a form of several parts: see
    /// ``post(_:parameters:headers:constructingBody:progress:success:failure:)``.
    @discardableResult
    public func patch(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        constructingBody constructBody: (inout MultipartFormData) throws -> Void,
        @_inheritActorContext progress: SessionTask.ProgressHandler? = nil,
        @_inheritActorContext success: SuccessHandler?,
        @_inheritActorContext failure: FailureHandler? = nil
    ) -> UploadTask? {
        var closures = Self.closures(success, failure)
        closures.uploadProgress = progress
        return resumedForm(closures, failure) {
            try form("PATCH", path, parameters, headers, constructBody)
        }
    }

    /// Sends a PATCH request with a form of several parts, and returns the response object: see
    /// ``get(_:parameters:headers:)``.
    @discardableResult
    public nonisolated(nonsending) func patch(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        constructingBody constructBody: (inout MultipartFormData) throws -> Void
    ) async throws -> (any Sendable)? {
        let request = try form("PATCH", path, parameters, headers, constructBody)
        let task = makeUploadTask(request, TaskDelegate.Closures())
        task.resume()
        return try await task.outcome
    }

    /// Sends a PATCH request with a form of several parts, and calls back with the response as a value of
    /// `type`: else as the verb without a type.
    @discardableResult
    public func patch<Value: Decodable & Sendable>(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        constructingBody constructBody: (inout MultipartFormData) throws -> Void,
        as type: Value.Type,
        @_inheritActorContext progress: SessionTask.ProgressHandler? = nil,
        @_inheritActorContext success: ValueHandler<Value>?,
        @_inheritActorContext failure: FailureHandler? = nil
    ) -> UploadTask? {
        var closures = Self.typedClosures(success, failure)
        closures.uploadProgress = progress
        return resumedForm(closures, failure, serializer: decodableSerializer(for: type)) {
            try form("PATCH", path, parameters, headers, constructBody)
        }
    }

    /// Sends a PATCH request with a form of several parts, and decodes the response: see
    /// ``get(_:parameters:headers:as:)``.
    public nonisolated(nonsending) func patch<Value: Decodable & Sendable>(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        constructingBody constructBody: (inout MultipartFormData) throws -> Void,
        as type: Value.Type
    ) async throws -> Value {
        try await value(ofForm: form("PATCH", path, parameters, headers, constructBody), as: type)
    }

    // MARK: - For the verbs

    func form(
        _ method: String,
        _ path: String,
        _ parameters: [String: Any]?,
        _ headers: [String: String],
        _ constructBody: (inout MultipartFormData) throws -> Void
    ) throws -> URLRequest {
        try core.operations.multipartRequest(method, path, parameters, headers, constructBody)
    }

    private func resumedForm(
        _ closures: TaskDelegate.Closures,
        _ failure: FailureHandler?,
        serializer: (any ResponseSerializer)? = nil,
        _ form: () throws -> URLRequest
    ) -> UploadTask? {
        let task = making(failure) { () throws -> UploadTask in
            makeUploadTask(try form(), closures, serializer: serializer)
        }
        task?.resume()
        return task
    }

    private nonisolated(nonsending) func value<Value: Decodable & Sendable>(
        ofForm request: URLRequest,
        as type: Value.Type
    ) async throws -> Value {
        let serializer = decodableSerializer(for: type)
        let task = makeUploadTask(request, TaskDelegate.Closures(), serializer: serializer)
        task.resume()
        guard let value = try await task.outcome as? Value else {
            throw Self.noObject(of: task, as: type)
        }
        return value
    }
}
