/// Why the body of an entry cannot be read.
enum BodyError: Error, Hashable, Sendable {
    /// The file is gone, or shorter than the index says.
    case missing
    /// The bytes are not those that were stored.
    case damaged
}
