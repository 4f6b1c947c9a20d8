internal import OperationNetworkingSystem

/// The bytes of a sink that is written on a queue of its own: those that wait, those in the writer's hand,
/// and the last ones that were written, if they are kept.
struct SinkBuffer: Sendable {
    /// Bytes that were taken and not thrown away.
    private(set) var count: Int64 = 0
    /// The bytes, of `count`, that the destination has.
    private var writtenCount: Int64 = 0
    private var waiting: [UInt8] = []
    /// The range of the bytes in hand that are not written yet.
    private var inHand = 0..<0
    /// Bytes in hand, written or not, that are of the body.
    private var handCount = 0
    /// The last bytes that were written from earlier hands.
    private var kept = KeptBytes()

    /// The number of last bytes that are kept when they are written; 0: none.
    var keptCount: Int {
        get { kept.limit }
        set { kept.limit = newValue }
    }

    /// The number of bytes that are not written yet.
    var rest: Int { waiting.count + inHand.count }

    mutating func append(_ bytes: Span<UInt8>) {
        waiting.append(bytes)
        count += Int64(bytes.count)
    }

    /// The bytes in hand that are to be written; empty: none. `hand` is the buffer of the writer: it changes
    /// places with the bytes that wait when all in it is written.
    mutating func takeUp(_ hand: inout [UInt8]) -> Range<Int> {
        if inHand.isEmpty, !waiting.isEmpty {
            if handCount == hand.count { kept.take(&hand) }
            hand.removeAll(keepingCapacity: true)
            swap(&hand, &waiting)
            inHand = hand.indices
            handCount = hand.count
        }
        return inHand
    }

    /// The first `written` of the bytes in hand are written.
    /// - Returns: whether they still count: all may have been thrown away meanwhile.
    mutating func didWrite(_ written: Int) -> Bool {
        guard !inHand.isEmpty else { return false }
        inHand = inHand.dropFirst(written)
        writtenCount += Int64(written)
        return true
    }

    /// Throws away what is not written, and what was kept.
    mutating func dropRest() {
        waiting = []
        inHand = 0..<0
        handCount = 0
        kept.removeAll()
        count = writtenCount
    }

    /// Throws away everything.
    mutating func removeAll() {
        dropRest()
        count = 0
        writtenCount = 0
    }

    /// The last bytes that were taken, at most `count`; `hand` is the buffer of the writer.
    func lastBytes(_ count: Int, _ hand: [UInt8]) -> [UInt8] {
        var last = Array(waiting.suffix(count))
        if handCount == hand.count { last.insert(contentsOf: hand.suffix(count - last.count), at: 0) }
        return kept.suffix(count - last.count) + last
    }
}
