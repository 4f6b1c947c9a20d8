internal import Foundation
internal import FoundationNetworking
internal import OperationNetworkingSystem

// The verbs that call back with a value of a type.
extension HTTPSessionManager {
    /// Called on the completion queue when a task succeeded, with the value that the response was decoded as.
    public typealias ValueHandler<Value> = @isolated(any) @Sendable (_ task: DataTask, _ value: Value) -> Void

    // MARK: - GET

    /// Sends a GET request and calls back with the response as a value of `type`.
    ///
    /// - Parameters:
    ///   - path: relative to the base URL, or a whole URL.
    ///   - parameters: as for the verb without a type.
    ///   - headers: of this request only; they win over the serializer's.
    ///   - type: the type of the value, decoded by a decoder of ``makeJSONDecoder``.
    ///   - progress: hears the task's `downloadProgress`.
    ///   - success: called with the value.
    ///   - failure: called with the error of the task, or of making the request.
    /// - Returns: the task, resumed; `nil` when no request could be made: see `failure`.
    @discardableResult
    public func get<Value: Decodable & Sendable>(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        as type: Value.Type,
        @_inheritActorContext progress: SessionTask.ProgressHandler? = nil,
        @_inheritActorContext success: ValueHandler<Value>?,
        @_inheritActorContext failure: FailureHandler? = nil
    ) -> DataTask? {
        let call = Call(method: "GET", path: path, parameters: parameters, headers: headers)
        return resumed(call, as: type, downloadProgress: progress, success, failure)
    }

    /// Sends a GET request with an encoded value, and calls back: else as the verb with `parameters:`.
    @discardableResult
    public func get<Value: Decodable & Sendable>(
        _ path: String,
        encoding value: some Encodable & Sendable,
        headers: [String: String] = [:],
        as type: Value.Type,
        @_inheritActorContext progress: SessionTask.ProgressHandler? = nil,
        @_inheritActorContext success: ValueHandler<Value>?,
        @_inheritActorContext failure: FailureHandler? = nil
    ) -> DataTask? {
        let call = Call(method: "GET", path: path, parameters: value, headers: headers)
        return resumed(call, as: type, downloadProgress: progress, success, failure)
    }

    // MARK: - POST

    /// Sends a POST request and calls back: see
    /// ``get(_:parameters:headers:as:progress:success:failure:)``.
    @discardableResult
    public func post<Value: Decodable & Sendable>(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        as type: Value.Type,
        @_inheritActorContext progress: SessionTask.ProgressHandler? = nil,
        @_inheritActorContext success: ValueHandler<Value>?,
        @_inheritActorContext failure: FailureHandler? = nil
    ) -> DataTask? {
        let call = Call(method: "POST", path: path, parameters: parameters, headers: headers)
        return resumed(call, as: type, uploadProgress: progress, success, failure)
    }

    /// Sends a POST request with an encoded value, and calls back: else as the verb with `parameters:`.
    @discardableResult
    public func post<Value: Decodable & Sendable>(
        _ path: String,
        encoding value: some Encodable & Sendable,
        headers: [String: String] = [:],
        as type: Value.Type,
        @_inheritActorContext progress: SessionTask.ProgressHandler? = nil,
        @_inheritActorContext success: ValueHandler<Value>?,
        @_inheritActorContext failure: FailureHandler? = nil
    ) -> DataTask? {
        let call = Call(method: "POST", path: path, parameters: value, headers: headers)
        return resumed(call, as: type, uploadProgress: progress, success, failure)
    }

    // MARK: - PUT

    /// Sends a PUT request and calls back: see
    /// ``get(_:parameters:headers:as:progress:success:failure:)``.
    @discardableResult
    public func put<Value: Decodable & Sendable>(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        as type: Value.Type,
        @_inheritActorContext progress: SessionTask.ProgressHandler? = nil,
        @_inheritActorContext success: ValueHandler<Value>?,
        @_inheritActorContext failure: FailureHandler? = nil
    ) -> DataTask? {
        let call = Call(method: "PUT", path: path, parameters: parameters, headers: headers)
        return resumed(call, as: type, uploadProgress: progress, success, failure)
    }

    /// Sends a PUT request with an encoded value, and calls back: else as the verb with `parameters:`.
    @discardableResult
    public func put<Value: Decodable & Sendable>(
        _ path: String,
        encoding value: some Encodable & Sendable,
        headers: [String: String] = [:],
        as type: Value.Type,
        @_inheritActorContext progress: SessionTask.ProgressHandler? = nil,
        @_inheritActorContext success: ValueHandler<Value>?,
        @_inheritActorContext failure: FailureHandler? = nil
    ) -> DataTask? {
        let call = Call(method: "PUT", path: path, parameters: value, headers: headers)
        return resumed(call, as: type, uploadProgress: progress, success, failure)
    }

    // MARK: - PATCH

    /// Sends a PATCH request and calls back: see
    /// ``get(_:parameters:headers:as:progress:success:failure:)``.
    @discardableResult
    public func patch<Value: Decodable & Sendable>(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        as type: Value.Type,
        @_inheritActorContext progress: SessionTask.ProgressHandler? = nil,
        @_inheritActorContext success: ValueHandler<Value>?,
        @_inheritActorContext failure: FailureHandler? = nil
    ) -> DataTask? {
        let call = Call(method: "PATCH", path: path, parameters: parameters, headers: headers)
        return resumed(call, as: type, uploadProgress: progress, success, failure)
    }

    /// Sends a PATCH request with an encoded value, and calls back: else as the verb with `parameters:`.
    @discardableResult
    public func patch<Value: Decodable & Sendable>(
        _ path: String,
        encoding value: some Encodable & Sendable,
        headers: [String: String] = [:],
        as type: Value.Type,
        @_inheritActorContext progress: SessionTask.ProgressHandler? = nil,
        @_inheritActorContext success: ValueHandler<Value>?,
        @_inheritActorContext failure: FailureHandler? = nil
    ) -> DataTask? {
        let call = Call(method: "PATCH", path: path, parameters: value, headers: headers)
        return resumed(call, as: type, uploadProgress: progress, success, failure)
    }

    // MARK: - DELETE

    /// Sends a DELETE request and calls back, without progress: see
    /// ``get(_:parameters:headers:as:progress:success:failure:)``.
    @discardableResult
    public func delete<Value: Decodable & Sendable>(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        as type: Value.Type,
        @_inheritActorContext success: ValueHandler<Value>?,
        @_inheritActorContext failure: FailureHandler? = nil
    ) -> DataTask? {
        let call = Call(method: "DELETE", path: path, parameters: parameters, headers: headers)
        return resumed(call, as: type, success, failure)
    }

    /// Sends a DELETE request with an encoded value, and calls back: else as the verb with `parameters:`.
    @discardableResult
    public func delete<Value: Decodable & Sendable>(
        _ path: String,
        encoding value: some Encodable & Sendable,
        headers: [String: String] = [:],
        as type: Value.Type,
        @_inheritActorContext success: ValueHandler<Value>?,
        @_inheritActorContext failure: FailureHandler? = nil
    ) -> DataTask? {
        let call = Call(method: "DELETE", path: path, parameters: value, headers: headers)
        return resumed(call, as: type, success, failure)
    }

    // MARK: - For the verbs

    func resumed<Value: Decodable & Sendable>(
        _ call: Call,
        as type: Value.Type,
        uploadProgress: SessionTask.ProgressHandler? = nil,
        downloadProgress: SessionTask.ProgressHandler? = nil,
        _ success: ValueHandler<Value>?,
        _ failure: FailureHandler?
    ) -> DataTask? {
        var closures = Self.typedClosures(success, failure)
        closures.uploadProgress = uploadProgress
        closures.downloadProgress = downloadProgress
        let task = making(failure) {
            makeDataTask(
                try core.operations.request(for: call),
                closures,
                serializer: decodableSerializer(for: type)
            )
        }
        task?.resume()
        return task
    }

    static func typedClosures<Value: Sendable>(
        _ success: ValueHandler<Value>?,
        _ failure: FailureHandler?
    ) -> TaskDelegate.Closures {
        guard success != nil || failure != nil else { return TaskDelegate.Closures() }
        return TaskDelegate.Closures(completion: { task, _, object, error in
            guard let task = task as? DataTask else { return nil }
            if let error { return failure.map { Detour($0, task, error) } }
            guard let value = object as? Value else {
                return failure.map { Detour($0, task, Self.noObject(of: task, as: Value.self)) }
            }
            return success.map { Detour($0, task, value) }
        })
    }

    /// The error of a task that has become a download, and has a file instead.
    static func noObject<Value>(of task: SessionTask, as type: Value.Type) -> any Error {
        ResponseSerializationError(
            .unexpectedStructure(type: "\(type)", "the task became a download"),
            response: task.response.map { ReceivedResponse($0) },
            data: nil
        )
    }
}
