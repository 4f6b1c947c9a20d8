/// A limit of the parts of a response other than its body: a field, all heads, or a trailer.
enum HeadLimit: Hashable, Sendable {
    /// The length of a field, in bytes. Equal to libcurl's own limit.
    case field
    /// The length of all heads of a transfer and its trailers, in bytes. Equal to libcurl's own limit from
    /// 8.3 on.
    case heads
    /// The number of fields. Only libcurl checks it, from 8.14 on.
    case fieldCount
    /// The length of a trailer, in bytes. Only libcurl checks it.
    case trailer

    var value: Int {
        switch self {
        case .field: 100 * 1024
        case .heads: 300 * 1024
        case .fieldCount: 5000
        case .trailer: 4 * 1024
        }
    }

    /// A sentence that names the part that was too long and its limit.
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
