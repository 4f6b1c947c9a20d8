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
