/// A limit of a response beside its body: of one field, of all heads, of a trailer.
enum HeadLimit: Hashable, Sendable {
    /// One field, in bytes; libcurl's limit, too.
    case field
    /// All heads of a transfer and its trailers, in bytes; as in libcurl from 8.3 on.
    case heads
    /// The number of fields; only libcurl looks, from 8.14 on.
    case fieldCount
    /// One trailer, in bytes; only libcurl looks.
    case trailer

    var value: Int {
        switch self {
        case .field: 100 * 1024
        case .heads: 300 * 1024
        case .fieldCount: 5000
        case .trailer: 4 * 1024
        }
    }

    /// A sentence that names the part that was too long, and its limit.
    var sentence: String {
        switch self {
        case .field: "A field of the response's head is longer than \(value / 1024) KiB."
        case .heads:
            "The response's heads and trailers are longer than \(value / 1024) KiB together."
        case .fieldCount: "The response's heads have more than \(value) fields."
        case .trailer: "A trailer of the response is longer than \(value / 1024) KiB."
        }
    }
}
