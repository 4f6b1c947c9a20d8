/// Operations without an audience whose notifications wait for the main queue: a value that says which of
/// them it keeps.
///
/// The main queue may be busy for a while; or a program never runs it, and what is kept for it would be kept
/// for ever. So what has begun *and* ended while it waited is kept only while it is one of the last `limit`.
///
/// | member                             | is kept | when the queue comes        |
/// |------------------------------------|---------|-----------------------------|
/// | has not ended                      | yes     | is told                     |
/// | is one of the last that have ended | yes     | is told                     |
/// | has ended before these             | no      | is told if it is still there |
struct DeliveryLine<Member: AnyObject> {
    private struct Place {
        let number: Int
        var member: Member?
        weak var released: Member?
    }

    private let limit: Int
    private var places: [ObjectIdentifier: Place] = [:]
    /// The members that have ended and are kept, in order; those before `firstEnded` are done with.
    private var ended: [(member: ObjectIdentifier, number: Int)] = []
    private var firstEnded = 0
    private var lastNumber = 0
    private var releasedCount = 0
    /// The number of releases after which the released members are taken out.
    private var sweepCount: Int
    private var isScheduled = false

    /// - Parameter limit: how many are kept that have ended.
    init(limit: Int) {
        self.limit = limit
        sweepCount = limit
    }

    /// The number of waiting members, those included that are gone and not noticed yet.
    var count: Int { places.count }

    /// Adds a member that is not in the line.
    /// - Returns: whether the caller has to see to it that the queue comes.
    mutating func append(_ member: Member) -> Bool {
        lastNumber += 1
        // One that had the same address is gone.
        let place = Place(number: lastNumber, member: member)
        if places.updateValue(place, forKey: ObjectIdentifier(member)) != nil { releasedCount -= 1 }
        defer { isScheduled = true }
        return !isScheduled
    }

    /// Takes a member out.
    /// - Returns: whether it was in the line.
    mutating func remove(_ member: Member) -> Bool {
        guard let place = places.removeValue(forKey: ObjectIdentifier(member)) else { return false }
        if place.member == nil { releasedCount -= 1 }
        return true
    }

    /// A member has ended, and was told nothing.
    /// - Returns: which one is not kept any longer, to be released when no lock is held.
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
        // Another one may be there since that was taken out.
        guard let kept = places[oldest.member], kept.number == oldest.number, let member = kept.member else {
            return nil
        }
        places[oldest.member]?.released = member
        places[oldest.member]?.member = nil
        releasedCount += 1
        if releasedCount > sweepCount { sweep() }
        return member
    }

    /// All that are left, in order. The next append has to schedule the queue again.
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
