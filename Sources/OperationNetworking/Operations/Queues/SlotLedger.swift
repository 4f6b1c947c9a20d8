internal import OperationNetworkingSystem

/// The places of a queue: the limit that its user set, the places that are lent, and who waits for one. A
/// value that decides and does nothing.
///
/// A queue counts an operation as running from its start to its end, also while it is paused or waits. So for
/// each that does not need its place the queue's limit goes up by one, and comes down when that one goes on
/// or ends.
///
/// | use                        | its place was not lent         | its place is lent          |
/// |----------------------------|--------------------------------|----------------------------|
/// | runs                       | -                              | ends the loan              |
/// | lends                      | lent                           | lent, not in the line      |
/// | rests: waits for a time    | lent, but not to its own hosts | the same, not in the line  |
/// | held back: its host rests  | goes on, if its host has room; | in the line                |
/// |                            | else lent, and in the line     |                            |
/// | returns                    | goes on                        | in the line                |
/// | is over                    | -                              | ends the loan              |
///
/// The line is in the order of the loans. In it, the first one goes on when the queue has a place
/// (``useTicket()``): one that returns always, one that is held back if its host has room.
///
/// *Room of a host.* Towards operations of its own host one that rests keeps its place: of a limit of 4 and
/// one that rests, three others of that host run. ``Use/runs(_:)`` tells how many do.
///
/// *The limit.* It is public, and its owner may change it at any time. In a queue that does not report that,
/// what is found is compared with what was written last: any other number is the user's new limit. No limit
/// (-1), and the limit 0 that lets nothing start, stay as they are, whatever is lent. Without a limit whoever
/// returns goes on at once.
///
/// *Writing it.* Several threads may have the limit to write, and none may hold a lock while it does: writing
/// makes Foundation ask operations whether they are ready. A thread that has written asks whether another
/// number was decided meanwhile, and then writes that (``write(after:)``): so the number that was decided
/// last is there in the end.
struct SlotLedger<Holder: Hashable & Sendable>: Hashable, Sendable {
    /// What an operation needs its place for.
    enum Use: Hashable, Sendable {
        /// It runs; a request to the host, if that is known.
        case runs(HostWaits.Host?)
        /// It is paused, ends, or waits for code of the app.
        case lends
        /// It waits for a time, because of these hosts.
        case rests(Set<HostWaits.Host>)
        /// The queue started it while another one rests because of the host.
        case isHeldBack(HostWaits.Host)
        /// It can go on.
        case returns
        /// It has ended.
        case isOver
    }

    /// A limit for the queue.
    struct Write: Hashable, Sendable {
        let limit: Int
        /// Counts the decisions.
        let turn: Int
    }

    private struct Loan: Hashable, Sendable {
        let number: Int
        var use: Use
    }

    /// The limit that the user has set; -1: any number.
    private(set) var userLimit: Int
    /// `nil`: the queue's limit was not looked at yet.
    private var written: Int?
    private var turn = 0

    private var loans: [Holder: Loan] = [:]
    private var lastNumber = 0
    /// The numbers of those in the line.
    private var returning = Line()
    private var heldBack: [HostWaits.Host: Line] = [:]
    /// How many rest.
    private var resting: [HostWaits.Host: Int] = [:]
    /// Those that run, of hosts that rest.
    private var runners: [HostWaits.Host: Set<Holder>] = [:]
    /// The tickets in the queue.
    private var tickets = 0

    init(limit: Int? = nil) {
        userLimit = limit ?? -1
        written = limit
    }

    /// Whether the queue's limit was looked at.
    var isKnown: Bool { written != nil }

    /// The number of places that are lent.
    var lent: Int { loans.count }

    /// Whether an operation rests because of the host.
    func rests(_ host: HostWaits.Host) -> Bool { resting[host] != nil }

    /// Whether any does.
    var hasResting: Bool { !resting.isEmpty }

}

// MARK: - Places

extension SlotLedger {
    /// Takes note of what the holder needs its place for now.
    /// - Returns: whether it goes on at once.
    mutating func settle(_ holder: Holder, _ use: Use) -> Bool {
        let loan = takeOut(holder)
        switch use {
        case .runs(let host):
            note(holder, runsTo: host)
        case .isOver:
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

    /// - Returns: the number of tickets that the queue needs besides those that it has.
    mutating func takeTickets() -> Int {
        let open = heldBack.reduce(returning.count) { $0 + min($1.value.count, room(of: $1.key)) }
        let new = max(0, min(open, max(1, userLimit)) - tickets)
        tickets += new
        return new
    }

    /// The queue has a place for one of those in the line.
    /// - Returns: the first one that may go on; its loan has ended.
    mutating func useTicket() -> Holder? {
        tickets -= 1
        return next()
    }

    /// - Returns: one of those in the line that needs no ticket, since there is no limit.
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
        case .runs, .isOver, .lends: break
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
        case .runs, .isOver, .lends: break
        case .returns: returning.insert(number, holder)
        case .isHeldBack(let host): heldBack[host, default: Line()].insert(number, holder)
        case .rests(let hosts): for host in hosts { resting[host, default: 0] += 1 }
        }
    }

    /// In the order of their numbers.
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
    /// The limit that lets as many operations run as the user wants, besides those that have lent their
    /// places.
    var limit: Int {
        guard userLimit > 0 else { return userLimit }
        let (sum, overflow) = userLimit.addingReportingOverflow(lent)
        return overflow ? .max : sum
    }

    /// Takes note of the limit that the queue shows, which the user may have set without saying so.
    mutating func find(_ found: Int) {
        guard found != written else { return }
        userLimit = found
        written = found
    }

    /// The user says what he wants; nothing has to be guessed.
    mutating func set(userLimit: Int) {
        self.userLimit = userLimit
    }

    /// - Returns: the limit to write; `nil`: the queue has the right one, or gets it.
    mutating func write() -> Write? {
        guard let written, written != limit else { return nil }
        self.written = limit
        turn += 1
        return Write(limit: limit, turn: turn)
    }

    /// - Returns: the limit to write after that of `turn`; `nil`: that was the last one.
    func write(after turn: Int) -> Write? {
        turn == self.turn ? nil : Write(limit: limit, turn: self.turn)
    }
}
