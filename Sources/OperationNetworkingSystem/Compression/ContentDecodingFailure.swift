/// Why a body cannot be decoded.
package enum ContentDecodingFailure: Error, Hashable, Sendable {
    /// The data is not what its coding says; its library's sentence.
    case malformed(String)
    /// The body ended before the coded stream did.
    case truncated
}
