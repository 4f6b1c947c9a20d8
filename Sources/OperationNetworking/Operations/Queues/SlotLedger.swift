internal import OperationNetworkingSystem

/// The slots of a queue: the user's limit, the slots that are lent, and the operations that wait for one. A
/// pure value, without side effects.
///
/// A queue counts an operation as running from its start to its end, even while it is paused or waits. So for
/// each operation that does not need its slot, the queue's limit is raised by one; it is lowered when that
/// operation continues or ends.
///
/// | use                       | its slot was not lent             | its slot is lent          |
/// |---------------------------|-----------------------------------|---------------------------|
/// | runs                      | -                                 | ends the loan             |
/// | lends                     | lent                              | lent, not in the line     |
/// | rests: waits for a delay  | lent, but not to its own hosts    | the same, not in the line |
/// | held back: its host rests | continues, if its host has room;  | in the line               |
/// |                           | otherwise lent, and in the line   |                           |
/// | returns                   | continues                         | in the line               |
/// | has ended                 | -                                 | ends the loan             |
///
/// The line is in the order of the loans. The first operation in it continues when the queue has a slot
/// (``useTicket()``): always if it returns, and if its host has room if it is held back.
///
/// *Room of a host.* A resting operation keeps its slot towards operations of its own host: with a limit of 4
/// and one resting, three others of that host run. ``Use/runs(_:)`` counts them.
///
/// *The limit.* It is public, and its owner may change it at any time. In a queue that does not report
/// changes, the limit found is compared with the one written last: any other number is the user's new limit.
/// No limit (-1) and a limit of 0, which lets nothing start, stay as they are regardless of loans. Without a
/// limit, an operation that returns continues at once.
///
/// *Writing it.* Several threads may have to write the limit, and none may hold a lock while it does: writing
/// makes Foundation read `isReady` of operations. A thread that has written checks whether another number was
/// decided in between, and then writes that (``write(after:)``), so the last decision is in effect in the
/// end.
struct SlotLedger<Holder: Hashable & Sendable>: Hashable, Sendable {
    /// The use of an operation's slot.
    enum Use: Hashable, Sendable {
        /// The operation runs a request to the host, if that is known.
        case runs(HostWaits.Host?)
        /// The operation is paused, is ending, or waits for code of the app.
        case lends
        /// The operation waits for a delay because of these hosts.
        case rests(Set<HostWaits.Host>)
        /// The queue started the operation while another one rests because of the host.
        case isHeldBack(HostWaits.Host)
        /// The operation can continue.
        case returns
        /// The operation has ended.
        case ended
    }

    /// A limit for the queue.
    struct Write: Hashable, Sendable {
        let limit: Int
        /// The number of the decision.
        let turn: Int
    }

    private struct Loan: Hashable, Sendable {
        let number: Int
        var use: Use
    }

    /// The limit that the user has set; -1 for no limit.
    private(set) var userLimit: Int
    /// The limit written last; `nil` if the queue's limit has not been read yet.
    private var written: Int?
    private var turn = 0

    private var loans: [Holder: Loan] = [:]
    private var lastNumber = 0
    /// The operations in the line that return.
    private var returning = Line()
    private var heldBack: [HostWaits.Host: Line] = [:]
    /// The number of resting operations.
    private var resting: [HostWaits.Host: Int] = [:]
    /// The running operations to hosts because of which others rest.
    private var runners: [HostWaits.Host: Set<Holder>] = [:]
    /// The number of tickets in the queue.
    private var tickets = 0

    init(limit: Int? = nil) {
        userLimit = limit ?? -1
        written = limit
    }

    /// Whether the queue's limit has been read.
    var isKnown: Bool { written != nil }

    /// The number of lent slots.
    var lent: Int { loans.count }

    /// Whether an operation rests because of the host.
    func rests(_ host: HostWaits.Host) -> Bool { resting[host] != nil }

    /// Whether any operation rests.
    var hasResting: Bool { !resting.isEmpty }

}

// MARK: - Places

extension SlotLedger {
    /// Records the holder's current use of its slot.
    /// - Returns: whether it continues at once.
    mutating func settle(_ holder: Holder, _ use: Use) -> Bool {
        let loan = takeOut(holder)
        switch use {
        case .runs(let host):
            note(holder, runsTo: host)
        case .ended:
            break
        case .lends, .rests:
            putIn(holder, use, loan)
        case .isHeldBack(let host):
            if loan == nil, hasRoom(host) {
                note(holder, runsTo: host)
                return true
            }
            putIn(holder, use, loan)
        case .returns:
            guard loan != nil, userLimit >= 0 else { return true }
            putIn(holder, use, loan)
        }
        return false
    }

    /// - Returns: the number of additional tickets that the queue needs.
    mutating func takeTickets() -> Int {
        let open = heldBack.reduce(returning.count) { $0 + min($1.value.count, room(of: $1.key)) }
        let new = max(0, min(open, max(1, userLimit)) - tickets)
        tickets += new
        return new
    }

    /// Uses a slot of the queue for an operation in the line.
    /// - Returns: the first operation that may continue; its loan has ended.
    mutating func useTicket() -> Holder? {
        tickets -= 1
        return next()
    }

    /// - Returns: an operation in the line that needs no ticket, because there is no limit.
    mutating func nextWithoutLimit() -> Holder? {
        userLimit < 0 ? next() : nil
    }

    private mutating func next() -> Holder? {
        let held = heldBack.filter { room(of: $0.key) > 0 }.compactMap(\.value.first)
        guard let first = (held + [returning.first].compactMap { $0 }).min(by: { $0.number < $1.number })
        else { return nil }
        let loan = takeOut(first.holder)
        if case .isHeldBack(let host) = loan?.use { note(first.holder, runsTo: host) }
        return first.holder
    }

    private func hasRoom(_ host: HostWaits.Host) -> Bool { room(of: host) > 0 }

    private func room(of host: HostWaits.Host) -> Int {
        guard let resting = resting[host], userLimit >= 0 else { return .max }
        return max(0, userLimit - resting - (runners[host]?.count ?? 0))
    }

    private mutating func note(_ holder: Holder, runsTo host: HostWaits.Host?) {
        if let host, rests(host) { runners[host, default: []].insert(holder) }
    }

    private mutating func takeOut(_ holder: Holder) -> Loan? {
        for host in runners.keys { runners[host]?.remove(holder) }
        guard let loan = loans.removeValue(forKey: holder) else { return nil }
        switch loan.use {
        case .runs, .ended, .lends: break
        case .returns: returning.remove(loan.number)
        case .isHeldBack(let host):
            heldBack[host]?.remove(loan.number)
            if heldBack[host]?.count == 0 { heldBack[host] = nil }
        case .rests(let hosts):
            for host in hosts {
                resting[host] = resting[host].flatMap { $0 > 1 ? $0 - 1 : nil }
                if resting[host] == nil { runners[host] = nil }
            }
        }
        return loan
    }

    private mutating func putIn(_ holder: Holder, _ use: Use, _ old: Loan?) {
        if old == nil { lastNumber += 1 }
        let number = old?.number ?? lastNumber
        loans[holder] = Loan(number: number, use: use)
        switch use {
        case .runs, .ended, .lends: break
        case .returns: returning.insert(number, holder)
        case .isHeldBack(let host): heldBack[host, default: Line()].insert(number, holder)
        case .rests(let hosts): for host in hosts { resting[host, default: 0] += 1 }
        }
    }

    /// Operations in the order of their loans' numbers.
    private struct Line: Hashable, Sendable {
        struct Entry: Hashable, Sendable {
            let number: Int
            let holder: Holder
        }

        private var entries: [Entry] = []

        var count: Int { entries.count }
        var first: Entry? { entries.first }

        mutating func insert(_ number: Int, _ holder: Holder) {
            entries.insert(Entry(number: number, holder: holder), at: index(of: number))
        }

        mutating func remove(_ number: Int) {
            entries.remove(at: index(of: number))
        }

        private func index(of number: Int) -> Int {
            var (low, high) = (0, entries.count)
            while low < high {
                let middle = (low + high) / 2
                if entries[middle].number < number { low = middle + 1 } else { high = middle }
            }
            return low
        }
    }
}

// MARK: - The limit

extension SlotLedger {
    /// The limit to write: the user's limit plus the number of lent slots.
    var limit: Int {
        guard userLimit > 0 else { return userLimit }
        let (sum, overflow) = userLimit.addingReportingOverflow(lent)
        return overflow ? .max : sum
    }

    /// Records the limit found in the queue, which the user may have set without notice.
    mutating func find(_ found: Int) {
        guard found != written else { return }
        userLimit = found
        written = found
    }

    /// Sets the user's limit, for a queue that reports it.
    mutating func set(userLimit: Int) {
        self.userLimit = userLimit
    }

    /// - Returns: the limit to write; `nil` if the queue has the right one, or is about to.
    mutating func write() -> Write? {
        guard let written, written != limit else { return nil }
        self.written = limit
        turn += 1
        return Write(limit: limit, turn: turn)
    }

    /// - Returns: the limit to write after that of `turn`; `nil` if that was the last one.
    func write(after turn: Int) -> Write? {
        turn == self.turn ? nil : Write(limit: limit, turn: self.turn)
    }
}
