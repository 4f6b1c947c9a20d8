/// The last bytes of a sequence of buffers. Keeps the buffers themselves, because copying every byte would
/// cost as much as receiving it.
///
/// Buffers are recycled: one that is no longer needed replaces one that is kept. Allocating and growing a new
/// one costs more than a copy.
struct KeptBytes: Sendable {
    /// Buffers of fewer bytes are copied together: many small ones would waste memory.
    private static let smallest = 8 * 1024
    /// The ratio of capacity to bytes above which a buffer is copied, so that unused capacity is not kept.
    private static let roomiest = 8
    /// The maximum number of spare buffers, and the minimum capacity of each in bytes.
    private static let mostSpares = 4
    private static let smallestSpare = 32 * 1024

    /// The minimum number of bytes that are kept; 0 to keep none.
    var limit = 0 {
        didSet { if limit == 0 { removeAll() } }
    }
    /// The kept buffers, in order. Without the first one there would be too few bytes.
    private var buffers: [[UInt8]] = []
    private var count = 0
    /// Buffers to recycle, in order of capacity.
    private var spares: [[UInt8]] = []

    /// Takes the bytes of a buffer, and may replace it by a recycled one, to be overwritten.
    mutating func take(_ buffer: inout [UInt8]) {
        guard limit > 0, !buffer.isEmpty else { return }
        count += buffer.count
        let isSmall = buffer.count < Self.smallest
        if isSmall, let last = buffers.last, last.count < Self.smallest {
            buffers[buffers.count - 1] += buffer
        } else if isSmall || buffer.capacity > Self.roomiest * buffer.count {
            var copy: [UInt8] = []
            copy.reserveCapacity(buffer.count)
            copy += buffer
            buffers.append(copy)
        } else {
            buffers.append([])
            swap(&buffers[buffers.count - 1], &buffer)
        }
        while let first = buffers.first, count - first.count >= limit {
            count -= first.count
            spare(buffers.removeFirst())
        }
        if buffer.capacity == 0, let roomiest = spares.popLast() { buffer = roomiest }
    }

    private mutating func spare(_ buffer: [UInt8]) {
        guard buffer.capacity >= Self.smallestSpare else { return }
        let place = spares.firstIndex { $0.capacity > buffer.capacity } ?? spares.count
        spares.insert(buffer, at: place)
        if spares.count > Self.mostSpares { spares.removeFirst() }
    }

    /// The last bytes, at most `length` of them.
    func suffix(_ length: Int) -> [UInt8] {
        var last: [UInt8] = []
        for buffer in buffers.reversed() where last.count < length {
            last = buffer.suffix(length - last.count) + last
        }
        return last
    }

    mutating func removeAll() {
        buffers = []
        spares = []
        count = 0
    }
}
