/// The tasks without closures whose notifications wait for the main queue, as a value: which of them wait on.
///
/// The main queue may be busy for a while; or a program never runs it, and what waits for it would be kept
/// for ever.
///
/// | member                                   | is told on     |
/// |------------------------------------------|----------------|
/// | has not ended                            | the main queue |
/// | is one of the last `limit` that ended    | the main queue |
/// | has ended before these                   | another queue  |
struct UnheardTable<Member: AnyObject> {
    private let limit: Int
    private var lastNumber = 0
    private var members: [ObjectIdentifier: (number: Int, member: Member)] = [:]
    /// The members that have ended, in order; those before `firstEnded` are done with.
    private var ended: [(member: ObjectIdentifier, number: Int)] = []
    private var firstEnded = 0
    private var isScheduled = false

    /// - Parameter limit: how many wait that have ended.
    init(limit: Int) {
        self.limit = limit
    }

    /// The number of waiting members.
    var count: Int { members.count }

    /// Adds a member that does not wait.
    /// - Returns: whether the caller has to see to it that the main queue comes.
    mutating func append(_ member: Member) -> Bool {
        lastNumber += 1
        members[ObjectIdentifier(member)] = (lastNumber, member)
        defer { isScheduled = true }
        return !isScheduled
    }

    /// A member has ended; nothing happens if it does not wait.
    /// - Returns: the one that waits no more, and is to be told elsewhere.
    mutating func end(_ member: Member) -> Member? {
        guard let place = members[ObjectIdentifier(member)] else { return nil }
        ended.append((ObjectIdentifier(member), place.number))
        guard ended.count - firstEnded > limit else { return nil }
        let oldest = ended[firstEnded]
        firstEnded += 1
        if firstEnded > limit {
            ended.removeFirst(firstEnded)
            firstEnded = 0
        }
        // Another one may be there since that was taken out.
        guard members[oldest.member]?.number == oldest.number else { return nil }
        return members.removeValue(forKey: oldest.member)?.member
    }

    /// Takes a member out.
    /// - Returns: whether it waited.
    mutating func remove(_ member: Member) -> Bool {
        members.removeValue(forKey: ObjectIdentifier(member)) != nil
    }

    /// All that wait, in order. The next append has to schedule the queue again.
    mutating func takeAll() -> [Member] {
        defer { self = UnheardTable(limit: limit) }
        return members.values.sorted { $0.number < $1.number }.map(\.member)
    }
}
