public import Foundation

/// A serializer that validates status and media type as ``HTTPResponseSerializer`` does, and then makes an
/// object from the body.
///
/// Change what it accepts in ``validation``, or directly:
///
/// ```swift
/// var serializer = JSONResponseSerializer()
/// serializer.acceptableStatusCodes?.insert(404)
/// ```
///
/// ``accepting(statusCodes:)`` and ``accepting(contentTypes:)`` return a changed copy.
public protocol ValidatingResponseSerializer: ResponseSerializer {
    /// The validation of a response before its body is used.
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

    /// Equivalent to setting ``acceptableStatusCodes``.
    public mutating func setAcceptableStatusCodes(_ statusCodes: IndexSet?) {
        validation.acceptableStatusCodes = statusCodes
    }

    /// Equivalent to setting ``acceptableContentTypes``.
    public mutating func setAcceptableContentTypes(_ contentTypes: Set<String>?) {
        validation.acceptableContentTypes = contentTypes
    }

    /// Returns a copy that accepts only these status codes.
    ///
    /// - Parameter statusCodes: the codes. Numbers less than 100 or greater than 999 are ignored.
    /// - Returns: the copy.
    public func accepting(statusCodes: some Sequence<Int>) -> Self {
        var copy = self
        copy.acceptableStatusCodes = IndexSet(statusCodes.filter { (100...999).contains($0) })
        return copy
    }

    /// Returns a copy that accepts only these media types, as in
    /// ``HTTPResponseSerializer/acceptableContentTypes``; `nil` accepts any.
    public func accepting(contentTypes: Set<String>?) -> Self {
        var copy = self
        copy.acceptableContentTypes = contentTypes
        return copy
    }
}
