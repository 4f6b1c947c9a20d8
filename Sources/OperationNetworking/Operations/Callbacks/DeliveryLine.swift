/// The operations without an audience whose notifications wait for the main queue. A pure value, which
/// decides which of them to keep.
///
/// The main queue may be busy for a while, or a program may never run it; then everything that waits for it
/// would be kept forever. So an operation that has begun *and* finished while it waited is kept only while it
/// is one of the last `limit`.
///
/// | member                                | is kept | when the queue runs         |
/// |---------------------------------------|---------|-----------------------------|
/// | has not finished                      | yes     | is delivered                |
/// | is one of the last that have finished | yes     | is delivered                |
/// | has finished before these             | no      | is delivered if still alive |
struct DeliveryLine<Member: AnyObject> {
    private struct Place {
        let number: Int
        var member: Member?
        weak var released: Member?
    }

    private let limit: Int
    private var places: [ObjectIdentifier: Place] = [:]
    /// The finished members that are kept, in order; those before `firstEnded` are no longer kept.
    private var ended: [(member: ObjectIdentifier, number: Int)] = []
    private var firstEnded = 0
    private var lastNumber = 0
    private var releasedCount = 0
    /// The number of released members at which they are removed.
    private var sweepCount: Int
    private var isScheduled = false

    /// - Parameter limit: the maximum number of finished members that are kept.
    init(limit: Int) {
        self.limit = limit
        sweepCount = limit
    }

    /// The number of waiting members, including deallocated ones that have not been removed yet.
    var count: Int { places.count }

    /// Adds a member that is not in the line.
    /// - Returns: whether the caller has to schedule the queue.
    mutating func append(_ member: Member) -> Bool {
        lastNumber += 1
        // An earlier member with the same address has been deallocated.
        let place = Place(number: lastNumber, member: member)
        if places.updateValue(place, forKey: ObjectIdentifier(member)) != nil { releasedCount -= 1 }
        defer { isScheduled = true }
        return !isScheduled
    }

    /// Removes a member.
    /// - Returns: whether it was in the line.
    mutating func remove(_ member: Member) -> Bool {
        guard let place = places.removeValue(forKey: ObjectIdentifier(member)) else { return false }
        if place.member == nil { releasedCount -= 1 }
        return true
    }

    /// Records that a member has finished and none of its events was delivered.
    /// - Returns: the member that is no longer kept, to be released when no lock is held.
    mutating func end(_ member: Member) -> Member? {
        guard let place = places[ObjectIdentifier(member)], place.member != nil else { return nil }
        ended.append((ObjectIdentifier(member), place.number))
        guard ended.count - firstEnded > limit else { return nil }
        let oldest = ended[firstEnded]
        firstEnded += 1
        if firstEnded > limit {
            ended.removeFirst(firstEnded)
            firstEnded = 0
        }
        // The place may have been reused after that member was removed.
        guard let kept = places[oldest.member], kept.number == oldest.number, let member = kept.member else {
            return nil
        }
        places[oldest.member]?.released = member
        places[oldest.member]?.member = nil
        releasedCount += 1
        if releasedCount > sweepCount { sweep() }
        return member
    }

    /// Takes all remaining members, in order. The next append has to schedule the queue again.
    mutating func takeAll() -> [Member] {
        defer { self = DeliveryLine(limit: limit) }
        return places.values.sorted { $0.number < $1.number }.compactMap { $0.member ?? $0.released }
    }

    private mutating func sweep() {
        places = places.filter { $0.value.member != nil || $0.value.released != nil }
        releasedCount = places.values.count { $0.member == nil }
        sweepCount = max(limit, 2 * releasedCount)
    }
}
