/// The error of a request that is not HTTP/1.1.
struct MalformedRequest: Error, Hashable, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
