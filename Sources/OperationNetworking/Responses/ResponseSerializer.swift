public import Foundation
public import FoundationNetworking

/// Judges a response and turns its body into the object that a caller wants.
///
/// A serializer is a value and keeps nothing between calls, so one can serve every operation of a manager at
/// once. It runs on a processing queue, never on the network thread.
public protocol ResponseSerializer: Sendable {
    /// The object of a response that was received to its end.
    ///
    /// - Parameters:
    ///   - response: the head, `nil` when the body did not come over HTTP.
    ///   - data: the whole body, `nil` when it went elsewhere.
    /// - Returns: what becomes the operation's `responseObject`; `nil` is a success too, such as that of an
    ///   empty body.
    /// - Throws: anything; the operation's `error` is what was thrown. Ours throw
    ///   ``ResponseSerializationError``.
    func responseObject(for response: HTTPURLResponse?, data: Data?) throws -> (any Sendable)?

    // MARK: Settings of every response

    /// Sets the status codes that are accepted, as ``HTTPResponseSerializer/acceptableStatusCodes``; `nil`:
    /// all.
    ///
    /// - Throws: ``ResponseSerializationError``, with the reason
    ///   ``ResponseSerializationError/Reason/settingNotSupported(_:serializer:)``, by default. A
    ///   ``ValidatingResponseSerializer`` has the setting.
    mutating func setAcceptableStatusCodes(_ statusCodes: IndexSet?) throws

    /// Sets the media types that are accepted, as ``HTTPResponseSerializer/acceptableContentTypes``; `nil`:
    /// all.
    ///
    /// - Throws: as ``setAcceptableStatusCodes(_:)``.
    mutating func setAcceptableContentTypes(_ contentTypes: Set<String>?) throws
}

/// A serializer that waits for something else than the processor, and has a queue of its own for that: on the
/// processing queue, which operations share, it would hold up the others.
public protocol QueuedResponseSerializer: ResponseSerializer {
    /// The queue on which operations call ``ResponseSerializer/responseObject(for:data:)``; `nil`: the
    /// library's.
    var processingQueue: ProcessingQueue? { get }
}

// Serializers of ours, which need no form of Foundation's, and all others.
extension ResponseSerializer {
    /// The object of a response, without Foundation's form of its head where that is not needed.
    func responseObject(from message: ReceivedMessage) throws -> (any Sendable)? {
        if let serializer = messageSerializer {
            return try serializer.responseObject(of: message)
        }
        if let origin = message.origin, let object = try origin.responseObject(of: message, by: self) {
            return object.value
        }
        return try responseObject(for: message.response?.value, data: message.data)
    }

    /// Whether the object of a response is made in a moment, without any code of the caller's.
    func isQuick(with data: Data?) -> Bool {
        messageSerializer?.isQuick(byteCount: data?.count) ?? false
    }

    /// The serializer as one of ours; `nil`: it is none. To look for a conformance costs as much as all that
    /// the plain one does.
    private var messageSerializer: (any MessageSerializer)? {
        (self as? HTTPResponseSerializer) ?? self as? any MessageSerializer
    }
}

// MARK: - Settings of a serializer without any

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
