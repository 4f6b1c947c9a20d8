internal import Foundation
internal import FoundationNetworking

// Forms of several parts. As in AFNetworking the closure appends parts to a form that begins with the
// parameters; it is called at once, and what it throws is the error of the request.
extension HTTPSessionManager {
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
        let task = making(failure) { () throws -> UploadTask in
            let request = try form(path, parameters, headers, constructBody)
            return makeUploadTask(request, closures)
        }
        task?.resume()
        return task
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
        let request = try form(path, parameters, headers, constructBody)
        let task = makeUploadTask(request, TaskDelegate.Closures())
        task.resume()
        return try await task.outcome
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
        let request = try form(path, parameters, headers, constructBody)
        let task = makeUploadTask(
            request,
            TaskDelegate.Closures(),
            serializer: decodableSerializer(for: type)
        )
        task.resume()
        guard let value = try await task.outcome as? Value else {
            throw Self.noObject(of: task, as: type)
        }
        return value
    }

    // MARK: - Private

    private func form(
        _ path: String,
        _ parameters: [String: Any]?,
        _ headers: [String: String],
        _ constructBody: (inout MultipartFormData) throws -> Void
    ) throws -> URLRequest {
        try core.operations.multipartRequest("POST", path, parameters, headers, constructBody)
    }
}
