/// The bytes of a representation that are held, in positions of the whole.
///
/// | Held                                  | `range`    | `completeLength` | `isComplete` |
/// |---------------------------------------|------------|------------------|--------------|
/// | all of ten bytes                      | `0..<10`   | 10               | `true`       |
/// | the first four; the connection broke  | `0..<4`    | 10               | `false`      |
/// | four of a chunked body that broke     | `0..<4`    | `nil`            | `false`      |
/// | `Content-Range: bytes 4-9/10`         | `4..<10`   | 10               | `false`      |
///
/// The byte at `range.lowerBound` is the first of the stored body.
struct CachedExtent: Hashable, Sendable {
    var range: Range<Int64>
    /// `nil`: not known.
    var completeLength: Int64?
    var isComplete: Bool

    /// Without a body.
    static let empty = CachedExtent(range: 0..<0, completeLength: 0, isComplete: true)

    var count: Int64 { range.upperBound - range.lowerBound }
}
