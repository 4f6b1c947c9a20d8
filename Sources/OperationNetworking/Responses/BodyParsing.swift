internal import Foundation
internal import FoundationNetworking

extension HTTPResponseSerializer {
    /// AFNetworking's order of things for a body that is parsed: validate, parse the body of an unacceptable
    /// status all the same, and do not look into a body of an unacceptable media type.
    ///
    /// - Parameters:
    ///   - message: the response.
    ///   - parse: makes the object of the body, never of an empty one. Its second argument is the error that
    ///     was found before; what it throws gets that one under it.
    /// - Returns: what `parse` made; `nil` for an empty body.
    /// - Throws: the error of the status or the media type, or what `parse` threw.
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

/// An object of Foundation as what it is: something to hand over.
///
/// `as? any Sendable` is refused by the compiler, since `Sendable` leaves nothing to look for at run time;
/// cast generically it costs nothing and always succeeds. So it proves nothing, and is sound only for
///
/// - a tree of JSONSerialization, which on Linux is made of Swift dictionaries, arrays and strings, and of
///   numbers and nulls that never change, as long as no option asks for mutable containers; a test pins the
///   types;
/// - an `XMLParser` or `XMLDocument` that was just made and that this function's caller does not keep. Both
///   have their own copy of the data, and no static state; so the receiver has the only reference. The
///   documentation asks that two threads do not use it at once;
/// - what was wrapped in an optional whose type is `Sendable`.
func handingOver(_ object: Any) -> (any Sendable)? {
    cast(object, to: (any Sendable).self)
}

private func cast<Target>(_ value: Any, to type: Target.Type) -> Target? {
    value as? Target
}
