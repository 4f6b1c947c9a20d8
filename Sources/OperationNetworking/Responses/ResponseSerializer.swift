public import Foundation
public import FoundationNetworking

/// Validates a response and turns its body into the object that the caller wants.
///
/// A serializer is a value without state between calls, so that one can serve every operation of a manager at
/// the same time. It runs on a processing queue, never on the network thread.
public protocol ResponseSerializer: Sendable {
    /// Returns the object of a complete response.
    ///
    /// - Parameters:
    ///   - response: the head; `nil` if the body was not received over HTTP.
    ///   - data: the whole body; `nil` if it was delivered elsewhere.
    /// - Returns: the operation's `responseObject`. `nil` is a success as well, for example for an empty
    ///   body.
    /// - Throws: any error; it becomes the operation's `error`. The serializers of this library throw
    ///   ``ResponseSerializationError``.
    func responseObject(for response: HTTPURLResponse?, data: Data?) throws -> (any Sendable)?

    // MARK: Settings of every response

    /// Sets the acceptable status codes, as ``HTTPResponseSerializer/acceptableStatusCodes`` does; `nil`
    /// accepts any.
    ///
    /// - Throws: by default, ``ResponseSerializationError`` with the reason
    ///   ``ResponseSerializationError/Reason/settingNotSupported(_:serializer:)``. A
    ///   ``ValidatingResponseSerializer`` supports the setting.
    mutating func setAcceptableStatusCodes(_ statusCodes: IndexSet?) throws

    /// Sets the acceptable media types, as ``HTTPResponseSerializer/acceptableContentTypes`` does; `nil`
    /// accepts any.
    ///
    /// - Throws: as ``setAcceptableStatusCodes(_:)`` does.
    mutating func setAcceptableContentTypes(_ contentTypes: Set<String>?) throws
}

/// A serializer that waits for something other than the processor, and therefore has its own queue. On the
/// processing queue, which operations share, it would delay the others.
public protocol QueuedResponseSerializer: ResponseSerializer {
    /// The queue on which operations call ``ResponseSerializer/responseObject(for:data:)``; `nil` for the
    /// library's own.
    var processingQueue: ProcessingQueue? { get }
}

// Calls serializers of this library without creating an `HTTPURLResponse`, and all others with one.
extension ResponseSerializer {
    /// Returns the object of a response. Creates an `HTTPURLResponse` only if the serializer needs it.
    func responseObject(from message: ReceivedMessage) throws -> (any Sendable)? {
        if let serializer = messageSerializer {
            return try serializer.responseObject(of: message)
        }
        if let origin = message.origin, let object = try origin.responseObject(of: message, by: self) {
            return object.value
        }
        return try responseObject(for: message.response?.value, data: message.data)
    }

    /// Whether the object can be made quickly and without code of the caller's.
    func isQuick(with data: Data?) -> Bool {
        messageSerializer?.isQuick(byteCount: data?.count) ?? false
    }

    /// The serializer as one of this library's; `nil` if it is not. Checking the conformance takes as long as
    /// the plain serializer's whole work.
    private var messageSerializer: (any MessageSerializer)? {
        (self as? HTTPResponseSerializer) ?? self as? any MessageSerializer
    }
}

// MARK: - Default implementations

extension ResponseSerializer {
    /// - Throws: ``ResponseSerializationError``.
    public mutating func setAcceptableStatusCodes(_ statusCodes: IndexSet?) throws {
        throw lacks("acceptableStatusCodes")
    }

    /// - Throws: ``ResponseSerializationError``.
    public mutating func setAcceptableContentTypes(_ contentTypes: Set<String>?) throws {
        throw lacks("acceptableContentTypes")
    }

    private func lacks(_ setting: String) -> ResponseSerializationError {
        let reason = ResponseSerializationError.Reason.settingNotSupported(
            setting,
            serializer: "\(Self.self)"
        )
        return ResponseSerializationError(reason, response: nil, data: nil)
    }
}
