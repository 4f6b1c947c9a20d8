/// An estimate of a batch's progress, in bytes. A pure value, without side effects.
///
/// | what is known of a member's size | counts as                                                        |
/// |----------------------------------|------------------------------------------------------------------|
/// | finished, successfully or not    | the bytes transferred                                            |
/// | a length was announced           | that length, or the bytes transferred if that is more            |
/// | nothing, and nothing transferred | the mean of the known ones                                       |
/// | nothing, but some transferred    | as many means together, or the bytes transferred if that is more |
/// | nothing, and of no other member  | nothing: members are counted instead of bytes                    |
///
/// The fraction never decreases. If the total grows, or a member starts over, ``confidence`` drops instead,
/// and the fraction stays until it is accurate again. It is 1 only when all members have finished.
struct BatchEstimate: Sendable {
    /// The bytes of one member in one direction.
    private struct Flow {
        var moved: Int64 = 0
        /// -1 if unknown.
        var length: Int64 = -1
    }

    /// The bytes of one member.
    private struct Part {
        var upload = Flow()
        var download = Flow()
        /// The maximum that had been downloaded before it started over.
        var lost: Int64 = 0
        var isFinished = false

        var moved: Int64 { upload.moved + download.moved }

        /// `nil` if unknown.
        var length: Int64? {
            if isFinished { return moved }
            guard download.length >= 0 || upload.length > 0 else { return nil }
            return max(0, upload.length, upload.moved) + max(0, download.length, download.moved)
        }

        var isExact: Bool { isFinished || (download.length >= 0 && download.moved >= lost) }
    }

    private var parts: [Part]
    private(set) var finishedCount = 0
    /// The bytes transferred by all members.
    private(set) var moved: Int64 = 0
    private var lengthOfKnown: Int64 = 0
    private var knownCount = 0
    private var exactCount = 0
    /// The number of members of unknown length that have transferred bytes.
    private var begunCount = 0
    private var movedOfBegun: Int64 = 0
    private var highest = 0.0
    /// The bytes received and sent by these operations: without those from before a resumption, and including
    /// repeated ones.
    private(set) var transferred: Int64 = 0
    /// The counts for a `Progress`: bytes, or members while no size is known. Their quotient never decreases.
    /// The total is never 0, which Foundation treats as unfinished.
    private(set) var units: (completed: Int64, total: Int64)
    /// The maximum length per member, so that sums do not overflow whatever servers announce.
    private let longest: Int64

    init(count: Int) {
        parts = Array(repeating: Part(), count: count)
        units = count == 0 ? (1, 1) : (0, Int64(count))
        longest = Int64.max / 8 / Int64(max(1, count))
    }

    var count: Int { parts.count }

    var hasFinished: Bool { finishedCount == count }

    // MARK: - Events

    /// Records the start of a body at `offset`, the number of bytes kept from before. A `length` of -1 means
    /// unknown.
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
        // Once bytes have been counted, members are too coarse.
        let total = bytes ?? units.total
        // The smallest count whose fraction of the new total is not below the old fraction.
        let product = units.completed.multipliedFullWidth(by: total)
        let (quotient, remainder) = units.total.dividingFullWidth(product)
        let least = quotient + (remainder > 0 ? 1 : 0)
        let completed = max(least, Int64((fraction * Double(total)).rounded(.down)))
        // A total too small to express that fraction is ignored for now.
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

    // MARK: - Values

    var confidence: BatchConfidence {
        if exactCount == count { return .exact }
        return knownCount == 0 || lengthOfKnown == 0 ? .unknown : .estimated
    }

    /// The bytes of the whole batch; `nil` while unknown.
    var total: Int64? {
        if hasFinished { return moved }
        guard knownCount > 0, lengthOfKnown > 0 else { return nil }
        let mean = Double(lengthOfKnown) / Double(knownCount)
        let untouched = Int64(mean * Double(count - knownCount - begunCount))
        let begun = max(Int64(mean * Double(begunCount)), movedOfBegun)
        return max(lengthOfKnown + begun + untouched, moved)
    }

    /// From 0 to 1.
    var fraction: Double { hasFinished ? 1 : highest }

    private var fractionNow: Double {
        let membersFraction = Double(finishedCount) / Double(count)
        guard let total, total > 0 else { return min(membersFraction, Self.highestBeforeTheEnd) }
        return min(Double(moved) / Double(total), Self.highestBeforeTheEnd)
    }

    private static let highestBeforeTheEnd = 0.999_999

    /// The bytes still to be transferred; `nil` while unknown.
    var remaining: Int64? { total.map { $0 - moved } }
}

/// The reliability of a batch's progress.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum BatchConfidence: Hashable, Sendable {
    /// The sizes of all members are known, and none started over.
    case exact
    /// The sizes of some members are estimated as the mean of the others.
    case estimated
    /// No size is known: members are counted instead of bytes.
    case unknown
}
