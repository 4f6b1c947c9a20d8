public import Foundation

/// A serializer that judges status and media type as ``HTTPResponseSerializer`` does, and then makes its own
/// object of the body.
///
/// What it accepts is set by ``validation``, or here as well:
///
/// ```swift
/// var serializer = JSONResponseSerializer()
/// serializer.acceptableStatusCodes?.insert(404)
/// ```
public protocol ValidatingResponseSerializer: ResponseSerializer {
    /// Judges the response before anything is made of its body.
    var validation: HTTPResponseSerializer { get set }
}

extension ValidatingResponseSerializer {
    /// The acceptable status codes, as in ``HTTPResponseSerializer/acceptableStatusCodes``.
    public var acceptableStatusCodes: IndexSet? {
        get { validation.acceptableStatusCodes }
        set { validation.acceptableStatusCodes = newValue }
    }

    /// The acceptable media types, as in ``HTTPResponseSerializer/acceptableContentTypes``.
    public var acceptableContentTypes: Set<String>? {
        get { validation.acceptableContentTypes }
        set { validation.acceptableContentTypes = newValue }
    }
}
