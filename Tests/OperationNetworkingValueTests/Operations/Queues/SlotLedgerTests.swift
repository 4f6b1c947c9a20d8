import Foundation
import OperationNetworkingTesting
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite struct SlotLedgerTests {
    typealias Ledger = SlotLedger<Int>

    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var user = 3
        let lent: Int
        let found: Int
        let write: Int?
        let userAfter: Int
    }

    static let rows = [
        Row(testDescription: "nothing lent", lent: 0, found: 3, write: nil, userAfter: 3),
        Row(testDescription: "one is lent", lent: 1, found: 3, write: 4, userAfter: 3),
        Row(testDescription: "raised while one is lent", lent: 1, found: 5, write: 6, userAfter: 5),
        Row(testDescription: "lowered while two are lent", lent: 2, found: 1, write: 3, userAfter: 1),
        Row(testDescription: "set to 0", lent: 2, found: 0, write: nil, userAfter: 0),
        Row(testDescription: "set to unlimited", lent: 2, found: -1, write: nil, userAfter: -1),
        Row(testDescription: "0 all the time", user: 0, lent: 1, found: 0, write: nil, userAfter: 0),
        Row(
            testDescription: "unlimited all the time",
            user: -1,
            lent: 1,
            found: -1,
            write: nil,
            userAfter: -1
        ),
        Row(testDescription: "no longer 0", user: 0, lent: 1, found: 2, write: 3, userAfter: 2),
        Row(testDescription: "no longer unlimited", user: -1, lent: 1, found: 2, write: 3, userAfter: 2),
        Row(
            testDescription: "as large as can be",
            user: .max,
            lent: 1,
            found: .max,
            write: nil,
            userAfter: .max
        ),
    ]

    @Test(arguments: rows) func settles(_ row: Row) {
        var ledger = Ledger(limit: row.user)
        #expect(ledger.write(lent: row.lent, found: row.found) == row.write)
        #expect(ledger.userLimit == row.userAfter)
    }

    @Test func itsOwnLimitIsNotTheUsers() {
        var ledger = Ledger(limit: 2)
        #expect(ledger.write(lent: 1, found: 2) == 3)
        #expect(ledger.write(lent: 2, found: 3) == 4)
        #expect(ledger.write(lent: 2, found: 4) == nil)
        #expect(ledger.write(lent: 0, found: 4) == 2)
        #expect(ledger.userLimit == 2)
    }

    @Test func aLimitThatIsSaidIsNeverGuessed() {
        var ledger = Ledger(limit: 3)
        #expect(ledger.write(lent: 2, found: nil) == 5)
        // The same number as the one that was written.
        ledger.set(userLimit: 5)
        #expect(ledger.write()?.limit == 7)
        #expect(ledger.write(lent: 0, found: nil) == 5)
    }

    /// Whatever is lent and set in whatever order: with nothing lent the queue has the user's limit again.
    @Test func theUsersLimitIsRestored() {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<2000 {
            var users = Int.random(in: -1...5, using: &generator)
            var found = users
            var ledger = Ledger(limit: users)
            for _ in 0..<20 {
                // A limit that happens to be the one shown cannot be distinguished from it.
                let new = Int.random(in: -1...5, using: &generator)
                if Bool.random(using: &generator), new != found {
                    users = new
                    found = new
                }
                let lent = Int.random(in: 0...4, using: &generator)
                found = ledger.write(lent: lent, found: found) ?? found
                #expect(found == (users > 0 ? users + lent : users))
            }
            found = ledger.write(lent: 0, found: found) ?? found
            #expect(found == users)
        }
    }

    // MARK: Several threads

    /// A thread that has decided on a number writes it; whoever decides meanwhile writes, too.
    @Test func theWriterAlsoWritesLaterDecisions() {
        var ledger = Ledger(limit: 1)
        ledger.lend(1)
        let first = ledger.write()
        ledger.set(userLimit: 5)
        let second = ledger.write()
        #expect(first == Ledger.Write(limit: 2, turn: 1) && second == Ledger.Write(limit: 6, turn: 2))
        #expect(ledger.write(after: 2) == nil)
        #expect(ledger.write(after: 1) == second)
    }

    /// Two threads whose steps come in any order: the queue has the right limit when both have nothing more to do.
    @Test func theLastDecisionIsWrittenLast() {
        struct Writer {
            var changes = 3
            var isAbout: Ledger.Write?
            var hasWritten: Int?
            var isDone: Bool { changes == 0 && isAbout == nil && hasWritten == nil }
        }
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<5000 {
            var found = 3
            var ledger = Ledger(limit: found)
            var writers = [Writer(), Writer()]
            while let index = writers.indices.filter({ !writers[$0].isDone }).randomElement(using: &generator)
            {
                var writer = writers[index]
                defer { writers[index] = writer }
                if let write = writer.isAbout {
                    found = write.limit
                    (writer.isAbout, writer.hasWritten) = (nil, write.turn)
                } else if let turn = writer.hasWritten {
                    (writer.isAbout, writer.hasWritten) = (ledger.write(after: turn), nil)
                } else {
                    writer.changes -= 1
                    if Bool.random(using: &generator) {
                        ledger.set(userLimit: Int.random(in: 1...4, using: &generator))
                    } else {
                        ledger.lend(Int.random(in: 0...3, using: &generator))
                    }
                    writer.isAbout = ledger.write()
                }
            }
            #expect(found == ledger.limit)
        }
    }

    // MARK: Places

    private static let x = HostWaits.Host(servers: ServerSet(), origin: Origin(URL(fileURLWithPath: "/")))
    private static let y = HostWaits.Host(servers: ServerSet(), origin: Origin(URL(fileURLWithPath: "/")))

    @Test func anOperationThatLentNoSlotContinuesAtOnce() {
        var ledger = Ledger(limit: 1)
        #expect(ledger.settle(1, .returns) == true)
        #expect(ledger.lent == 0 && ledger.takeTickets() == 0)
    }

    @Test func returningOperationsWaitInTheOrderOfTheirLoans() {
        var ledger = Ledger(limit: 1)
        for holder in 1...3 { #expect(ledger.settle(holder, .lends) == false) }
        #expect(ledger.limit == 4 && ledger.takeTickets() == 0)
        for holder in [3, 1, 2] { #expect(ledger.settle(holder, .returns) == false) }
        // One at a time is all that the limit lets run.
        #expect(ledger.takeTickets() == 1 && ledger.takeTickets() == 0)
        #expect(ledger.limit == 4)
        #expect(ledger.useTicket() == 1)
        #expect(ledger.limit == 3 && ledger.takeTickets() == 1)
        #expect(ledger.useTicket() == 2)
        #expect(ledger.takeTickets() == 1)
        #expect(ledger.useTicket() == 3)
        #expect(ledger.limit == 1 && ledger.takeTickets() == 0)
    }

    @Test func pausedAndFinishedOperationsLeaveTheQueue() {
        var ledger = Ledger(limit: 2)
        for holder in 1...3 { _ = ledger.settle(holder, .lends) }
        for holder in 1...3 { _ = ledger.settle(holder, .returns) }
        #expect(ledger.takeTickets() == 2)
        _ = ledger.settle(1, .lends)
        _ = ledger.settle(2, .ended)
        #expect(ledger.lent == 2)
        #expect(ledger.useTicket() == 3)
        #expect(ledger.useTicket() == nil)
        #expect(ledger.limit == 3)
    }

    @Test func withoutALimitReturningOperationsContinueAtOnce() {
        var ledger = Ledger(limit: -1)
        _ = ledger.settle(1, .lends)
        #expect(ledger.settle(1, .returns) == true && ledger.lent == 0)
        ledger.set(userLimit: 1)
        _ = ledger.settle(2, .lends)
        #expect(ledger.settle(2, .returns) == false)
        #expect(ledger.nextWithoutLimit() == nil)
        ledger.set(userLimit: -1)
        #expect(ledger.nextWithoutLimit() == 2)
    }

    @Test func aLimitOfOneLeavesNothingForAWaitingHost() {
        var ledger = Ledger(limit: 1)
        _ = ledger.settle(1, .rests([Self.x]))
        #expect(ledger.rests(Self.x) && !ledger.rests(Self.y) && ledger.limit == 2)
        #expect(ledger.settle(2, .isHeldBack(Self.x)) == false)
        #expect(ledger.limit == 3 && ledger.takeTickets() == 0)
        // The time has come: first the one that was there first.
        _ = ledger.settle(1, .returns)
        #expect(!ledger.hasResting && ledger.takeTickets() == 1)
        #expect(ledger.useTicket() == 1)
        #expect(ledger.takeTickets() == 1 && ledger.useTicket() == 2)
        #expect(ledger.limit == 1)
    }

    /// One that rests keeps its place towards its own host, and no more.
    @Test func aLimitOfFourLeavesThreeBesideAWaitingHost() {
        var ledger = Ledger(limit: 4)
        _ = ledger.settle(1, .rests([Self.x]))
        _ = ledger.settle(2, .runs(Self.x))
        #expect(ledger.settle(3, .isHeldBack(Self.x)) == true)
        #expect(ledger.settle(4, .isHeldBack(Self.x)) == true)
        #expect(ledger.settle(5, .isHeldBack(Self.x)) == false)
        #expect(ledger.limit == 6 && ledger.takeTickets() == 0)
        // The end of one gives its place to the one that was held back.
        _ = ledger.settle(2, .ended)
        #expect(ledger.takeTickets() == 1)
        #expect(ledger.useTicket() == 5)
        #expect(ledger.limit == 5 && ledger.settle(6, .isHeldBack(Self.x)) == false)
    }

    @Test func aHostThatRestsDelaysNoOther() {
        var ledger = Ledger(limit: 1)
        _ = ledger.settle(1, .rests([Self.x]))
        _ = ledger.settle(2, .isHeldBack(Self.x))
        #expect(ledger.settle(3, .isHeldBack(Self.y)) == true)
        _ = ledger.settle(3, .lends)
        _ = ledger.settle(3, .returns)
        #expect(ledger.takeTickets() == 1)
        #expect(ledger.useTicket() == 3)
    }

    /// Whatever happens in whatever order: no more run than the limit says, and all of them go on in the end.
    @Test(arguments: [1, 2, 4]) func allContinueInTheEnd(_ limit: Int) {
        var generator = SeededGenerator(seed: UInt64(limit))
        for _ in 0..<500 {
            var ledger = Ledger(limit: limit)
            var running: Set<Int> = []
            var tickets = 0
            var waiting = Set(0..<8)
            func settleTickets() { tickets += ledger.takeTickets() }
            for _ in 0..<60 {
                let holder = Int.random(in: 0..<8, using: &generator)
                if running.contains(holder) {
                    let uses: [Ledger.Use] = [.lends, .rests([Self.x]), .rests([Self.y]), .ended]
                    _ = ledger.settle(holder, uses[Int.random(in: 0..<4, using: &generator)])
                    running.remove(holder)
                } else if !waiting.contains(holder), Bool.random(using: &generator) {
                    if ledger.settle(holder, .returns) { _ = ledger.settle(holder, .ended) }
                } else if waiting.contains(holder), running.count + tickets < limit {
                    waiting.remove(holder)
                    let host = holder.isMultiple(of: 2) ? Self.x : Self.y
                    if ledger.settle(holder, .isHeldBack(host)) { running.insert(holder) }
                }
                settleTickets()
                while tickets > 0, running.count < limit {
                    tickets -= 1
                    if let next = ledger.useTicket() { running.insert(next) }
                    settleTickets()
                }
                #expect(running.count <= limit)
            }
            // All times have come, and all answers are there.
            for holder in 0..<8 where !running.contains(holder) && !waiting.contains(holder) {
                if ledger.settle(holder, .returns) { _ = ledger.settle(holder, .ended) }
            }
            for _ in 0..<20 {
                for holder in running { _ = ledger.settle(holder, .ended) }
                running = []
                settleTickets()
                while tickets > 0, running.count < limit {
                    tickets -= 1
                    if let next = ledger.useTicket() { running.insert(next) }
                    settleTickets()
                }
            }
            #expect(ledger.lent == 0 && ledger.limit == limit)
        }
    }
}

extension SlotLedger<Int> {
    /// The number that is written after a change that no other thread disturbs.
    fileprivate mutating func write(lent: Int, found: Int?) -> Int? {
        if let found { find(found) }
        lend(lent)
        return write()?.limit
    }

    fileprivate mutating func lend(_ count: Int) {
        for holder in 0..<max(count, lent) { _ = settle(holder, holder < count ? .lends : .ended) }
    }
}
