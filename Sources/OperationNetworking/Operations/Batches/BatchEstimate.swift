/// An estimate of a batch's progress, in bytes: a value that counts and does nothing.
///
/// | what is known of a member's size | counts as                                             |
/// |----------------------------------|-------------------------------------------------------|
/// | finished, whatever became of it  | the bytes that came and went                          |
/// | a length was announced           | that length, or what came if that is more             |
/// | nothing, and nothing came yet    | the mean of those known                               |
/// | nothing, and some came           | together: as many means, or what came if that is more |
/// | nothing, and of no other member  | nothing: members are counted instead of bytes         |
///
/// The fraction never goes down. A larger total, or a member that has to begin again, lowers ``confidence``
/// instead; the fraction stays until it is true again. It is 1 when all have finished, and not before.
struct BatchEstimate: Sendable {
    /// The bytes of one member that go one way.
    private struct Flow {
        var moved: Int64 = 0
        /// -1: unknown.
        var length: Int64 = -1
    }

    /// The bytes that one member has moved.
    private struct Part {
        var upload = Flow()
        var download = Flow()
        /// The most that had been downloaded before it had to begin again.
        var lost: Int64 = 0
        var isFinished = false

        var moved: Int64 { upload.moved + download.moved }

        /// `nil`: unknown.
        var length: Int64? {
            if isFinished { return moved }
            guard download.length >= 0 || upload.length > 0 else { return nil }
            return max(0, upload.length, upload.moved) + max(0, download.length, download.moved)
        }

        var isExact: Bool { isFinished || (download.length >= 0 && download.moved >= lost) }
    }

    private var parts: [Part]
    private(set) var finishedCount = 0
    /// Bytes that came and went, of all members.
    private(set) var moved: Int64 = 0
    private var lengthOfKnown: Int64 = 0
    private var knownCount = 0
    private var exactCount = 0
    /// The number of members that moved something and whose length is unknown.
    private var begunCount = 0
    private var movedOfBegun: Int64 = 0
    private var highest = 0.0
    /// Bytes received and sent by these operations: not those from before a resumption, and all that came
    /// twice.
    private(set) var transferred: Int64 = 0
    /// For a `Progress`: bytes, or members while no size is known. Their quotient never goes down.
    /// The total is never 0: Foundation takes that for unfinished.
    private(set) var units: (completed: Int64, total: Int64)
    /// A server may announce anything: sums of as many as this do not overflow.
    private let longest: Int64

    init(count: Int) {
        parts = Array(repeating: Part(), count: count)
        units = count == 0 ? (1, 1) : (0, Int64(count))
        longest = Int64.max / 8 / Int64(max(1, count))
    }

    var count: Int { parts.count }

    var hasFinished: Bool { finishedCount == count }

    // MARK: - What happens

    /// A body begins to come: from `offset`, the number of bytes kept from before. -1: its length is unknown.
    mutating func begin(_ index: Int, at offset: Int64, length: Int64) {
        change(index) { [longest] part in
            part.lost = max(part.lost, part.download.moved)
            part.download = Flow(moved: min(offset, longest), length: min(length, longest))
        }
    }

    mutating func download(_ index: Int, total: Int64, length: Int64) {
        record(\.download, of: index, Flow(moved: min(total, longest), length: min(length, longest)))
    }

    mutating func upload(_ index: Int, total: Int64, length: Int64) {
        record(\.upload, of: index, Flow(moved: min(total, longest), length: min(length, longest)))
    }

    mutating func finish(_ index: Int) {
        guard !parts[index].isFinished else { return }
        finishedCount += 1
        change(index) { $0.isFinished = true }
    }

    private mutating func change(_ index: Int, _ body: (inout Part) -> Void) {
        count(parts[index], times: -1)
        body(&parts[index])
        count(parts[index], times: 1)
        highest = max(highest, fractionNow)
        updateUnits()
    }

    @inline(__always)  // so that the key path is an offset in each of the two callers
    private mutating func record(_ way: WritableKeyPath<Part, Flow>, of index: Int, _ flow: Flow) {
        transferred = transferred.addingSaturated(max(0, flow.moved - parts[index][keyPath: way].moved))
        change(index) { $0[keyPath: way] = flow }
    }

    private mutating func updateUnits() {
        let bytes = total.flatMap { $0 > 0 ? $0 : nil }
        guard !hasFinished else {
            units = (bytes ?? Int64(count), bytes ?? Int64(count))
            return
        }
        // Once bytes were counted, members are too coarse.
        let total = bytes ?? units.total
        // The least that is no smaller a part of the new total than the old one was of the old total.
        let product = units.completed.multipliedFullWidth(by: total)
        let (quotient, remainder) = units.total.dividingFullWidth(product)
        let least = quotient + (remainder > 0 ? 1 : 0)
        let completed = max(least, Int64((fraction * Double(total)).rounded(.down)))
        // A total so small that it cannot say so waits.
        if completed < total { units = (completed, total) }
    }

    private mutating func count(_ part: Part, times sign: Int) {
        moved += Int64(sign) * part.moved
        if let length = part.length {
            lengthOfKnown += Int64(sign) * length
            knownCount += sign
        } else if part.moved > 0 {
            begunCount += sign
            movedOfBegun += Int64(sign) * part.moved
        }
        if part.isExact { exactCount += sign }
    }

    // MARK: - What can be said

    var confidence: BatchConfidence {
        if exactCount == count { return .exact }
        return knownCount == 0 || lengthOfKnown == 0 ? .unknown : .estimated
    }

    /// Bytes of the whole batch; `nil` while unknown.
    var total: Int64? {
        if hasFinished { return moved }
        guard knownCount > 0, lengthOfKnown > 0 else { return nil }
        let mean = Double(lengthOfKnown) / Double(knownCount)
        let untouched = Int64(mean * Double(count - knownCount - begunCount))
        let begun = max(Int64(mean * Double(begunCount)), movedOfBegun)
        return max(lengthOfKnown + begun + untouched, moved)
    }

    /// 0...1.
    var fraction: Double { hasFinished ? 1 : highest }

    private var fractionNow: Double {
        let membersFraction = Double(finishedCount) / Double(count)
        guard let total, total > 0 else { return min(membersFraction, Self.highestBeforeTheEnd) }
        return min(Double(moved) / Double(total), Self.highestBeforeTheEnd)
    }

    private static let highestBeforeTheEnd = 0.999_999

    /// Bytes that are still to come; `nil` while unknown.
    var remaining: Int64? { total.map { $0 - moved } }
}

/// The reliability of a batch's progress.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum BatchConfidence: Hashable, Sendable {
    /// The sizes of all members are known, and none had to begin again.
    case exact
    /// Sizes of some are taken to be the mean of the others'.
    case estimated
    /// No size is known: members are counted, not bytes.
    case unknown
}
