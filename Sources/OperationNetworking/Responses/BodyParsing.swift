internal import Foundation
internal import FoundationNetworking

extension HTTPResponseSerializer {
    /// Validates and parses a body as AFNetworking does: a body with an unacceptable status is still parsed,
    /// one with an unacceptable media type is not.
    ///
    /// - Parameters:
    ///   - message: the response.
    ///   - parse: makes the object from a body that is not empty. The second argument is the error found
    ///     before, which becomes the underlying error of an error that `parse` throws.
    /// - Returns: the object that `parse` returned; `nil` for an empty body.
    /// - Throws: the error for the status or the media type, or the error that `parse` threw.
    func responseObject(
        of message: ReceivedMessage,
        parse: (Data, ResponseSerializationError?) throws(ResponseSerializationError) -> (any Sendable)?
    ) throws(ResponseSerializationError) -> (any Sendable)? {
        let body = message.data.flatMap { $0.isEmpty ? nil : $0 }
        do {
            try validate(message)
        } catch {
            guard !error.concernsContentType, let body else { throw error }
            var error = error
            error.responseObject = try parse(body, error)
            throw error
        }
        guard let body else { return nil }
        return try parse(body, nil)
    }
}

/// Returns an object of Foundation as a `Sendable` value that may be passed to another thread.
///
/// The compiler refuses `as? any Sendable`, because `Sendable` cannot be checked at run time; a generic cast
/// costs nothing and always succeeds. So it proves nothing, and is sound only for
///
/// - a tree from JSONSerialization. On Linux it consists of Swift dictionaries, arrays and strings, and of
///   immutable numbers and nulls, as long as no option asks for mutable containers. A test checks the types.
/// - an `XMLParser` or `XMLDocument` that was just created, and that the caller of this function does not
///   keep. Both have a copy of the data and no static state, so the receiver has the only reference. The
///   documentation forbids using it from two threads at once.
/// - a value in an optional whose type is `Sendable`.
func handingOver(_ object: Any) -> (any Sendable)? {
    cast(object, to: (any Sendable).self)
}

private func cast<Target>(_ value: Any, to type: Target.Type) -> Target? {
    value as? Target
}
