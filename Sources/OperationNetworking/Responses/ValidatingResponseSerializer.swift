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
///
/// or in a copy: see ``accepting(statusCodes:)`` and ``accepting(contentTypes:)``.
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

    /// The same as setting ``acceptableStatusCodes``.
    public mutating func setAcceptableStatusCodes(_ statusCodes: IndexSet?) {
        validation.acceptableStatusCodes = statusCodes
    }

    /// The same as setting ``acceptableContentTypes``.
    public mutating func setAcceptableContentTypes(_ contentTypes: Set<String>?) {
        validation.acceptableContentTypes = contentTypes
    }

    /// A copy that accepts these status codes and no others.
    ///
    /// - Parameter statusCodes: numbers that no status can be (less than 100, more than 999) do not count.
    /// - Returns: the copy.
    public func accepting(statusCodes: some Sequence<Int>) -> Self {
        var copy = self
        copy.acceptableStatusCodes = IndexSet(statusCodes.filter { (100...999).contains($0) })
        return copy
    }

    /// A copy that accepts these media types, as in ``HTTPResponseSerializer/acceptableContentTypes``; `nil`:
    /// all.
    public func accepting(contentTypes: Set<String>?) -> Self {
        var copy = self
        copy.acceptableContentTypes = contentTypes
        return copy
    }
}
