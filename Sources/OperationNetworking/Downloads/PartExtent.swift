/// The bytes of a partial file: how many there are, how many there are going to be, and where the next one
/// belongs.
struct PartExtent {
    /// The number of bytes in the file.
    private(set) var count: Int64
    /// The length of the whole, `nil` while it is unknown.
    var total: Int64?
    /// The offset of the next byte; less than `count` while bytes are compared.
    private(set) var position: Int64

    init(count: Int64, total: Int64?) {
        self.count = count
        self.total = total
        position = count
    }

    var isComplete: Bool { position == count && total.map { $0 == count } ?? true }

    /// The next byte belongs behind the others; or at `offset`, within them.
    mutating func begin(again offset: Int64?) {
        position = offset.map { min(max($0, 0), count) } ?? count
    }

    /// The number of the next `length` bytes that are there already.
    func known(of length: Int) -> Int { Int(min(Int64(length), count - position)) }

    /// Bytes that are there came again.
    mutating func didCompare(_ length: Int) {
        position += Int64(length)
    }

    /// Bytes were appended.
    mutating func append(_ length: Int) {
        count += Int64(length)
        position = count
    }

    /// Some bytes were appended, of `length`, and then the disk failed; `size` is that of the file, if known.
    mutating func append(atMost length: Int, size: Int64?) {
        if let size { count = min(max(count, size), count + Int64(length)) }
        position = count
    }

    /// Nothing behind `length` counts any more.
    mutating func cut(to length: Int64) {
        count = length
        position = min(position, count)
    }
}
