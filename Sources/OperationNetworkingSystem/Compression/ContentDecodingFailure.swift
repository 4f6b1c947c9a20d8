/// Why a body cannot be decoded.
package enum ContentDecodingFailure: Error, Hashable, Sendable {
    /// The data violates its coding. The message of the decoder's library.
    case malformed(String)
    /// The body ended before the coded stream did.
    case truncated
}
