internal import OperationNetworkingSystem

/// A sink's queued, in-flight and, if they are kept, most recently written bytes.
struct SinkBuffer: Sendable {
    /// The number of bytes that were accepted and not discarded.
    private(set) var count: Int64 = 0
    /// The number of those that the destination has.
    private var writtenCount: Int64 = 0
    private var waiting: [UInt8] = []
    /// The range of the in-flight bytes that have not been written yet.
    private var inHand = 0..<0
    /// The number of in-flight bytes, written or not, that belong to the body.
    private var handCount = 0
    /// The last bytes written from earlier buffers, at most twice ``keptCount``.
    private var kept: [UInt8] = []

    /// The number of last bytes that are kept after they are written; 0 to keep none.
    var keptCount = 0 {
        didSet { if keptCount == 0 { kept = [] } }
    }

    /// The number of bytes that have not been written yet.
    var rest: Int { waiting.count + inHand.count }

    mutating func append(_ bytes: Span<UInt8>) {
        waiting.append(bytes)
        count += Int64(bytes.count)
    }

    /// Returns the range of in-flight bytes to write, which may be empty. `hand` is the writer's buffer: once
    /// all of it is written, it is swapped with the queued bytes.
    mutating func takeUp(_ hand: inout [UInt8]) -> Range<Int> {
        if inHand.isEmpty, !waiting.isEmpty {
            if handCount == hand.count { keep(hand) }
            hand.removeAll(keepingCapacity: true)
            swap(&hand, &waiting)
            inHand = hand.indices
            handCount = hand.count
        }
        return inHand
    }

    private mutating func keep(_ bytes: [UInt8]) {
        guard keptCount > 0 else { return }
        // Typed, because the `suffix` of a sequence goes through every byte.
        let last: ArraySlice<UInt8> = bytes.suffix(keptCount)
        kept += last
        // Not for each of many small buffers.
        if kept.count > 2 * keptCount { kept.removeFirst(kept.count - keptCount) }
    }

    /// Records that the first `written` of the in-flight bytes have been written.
    /// - Returns: whether they still count: everything may have been discarded in between.
    mutating func didWrite(_ written: Int) -> Bool {
        guard !inHand.isEmpty else { return false }
        inHand = inHand.dropFirst(written)
        writtenCount += Int64(written)
        return true
    }

    /// Discards the unwritten and the kept bytes.
    mutating func dropRest() {
        waiting = []
        inHand = 0..<0
        handCount = 0
        kept = []
        count = writtenCount
    }

    /// Discards everything.
    mutating func removeAll() {
        dropRest()
        count = 0
        writtenCount = 0
    }

    /// Returns the last accepted bytes, at most `count`; `hand` is the writer's buffer.
    func lastBytes(_ count: Int, _ hand: [UInt8]) -> [UInt8] {
        var last = Array(waiting.suffix(count))
        if handCount == hand.count { last.insert(contentsOf: hand.suffix(count - last.count), at: 0) }
        return kept.suffix(count - last.count) + last
    }
}
