import OperationNetworkingTesting
import Testing

@testable import OperationNetworking

@Suite struct SlotLedgerTests {
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
        var ledger = SlotLedger(limit: row.user)
        #expect(ledger.write(lent: row.lent, found: row.found) == row.write)
        #expect(ledger.userLimit == row.userAfter)
    }

    @Test func whatItWroteItselfIsNotTheUsers() {
        var ledger = SlotLedger(limit: 2)
        #expect(ledger.write(lent: 1, found: 2) == 3)
        #expect(ledger.write(lent: 2, found: 3) == 4)
        #expect(ledger.write(lent: 2, found: 4) == nil)
        #expect(ledger.write(lent: 0, found: 4) == 2)
        #expect(ledger.userLimit == 2)
    }

    @Test func aLimitThatIsSaidIsNeverGuessed() {
        var ledger = SlotLedger(limit: 3)
        #expect(ledger.write(lent: 2, found: nil) == 5)
        // The same number as the one that was written.
        ledger.set(userLimit: 5)
        #expect(ledger.write() == 7)
        #expect(ledger.write(lent: 0, found: nil) == 5)
    }

    /// Whatever is lent and set in whatever order: with nothing lent the queue has the user's limit again.
    @Test func theUsersLimitComesBack() {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<2000 {
            var users = Int.random(in: -1...5, using: &generator)
            var found = users
            var ledger = SlotLedger(limit: users)
            for _ in 0..<20 {
                // A limit that happens to be the one shown cannot be told from it.
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

    @Test func oneWritesAndTheOthersWait() {
        var ledger = SlotLedger(limit: 1)
        ledger.settle(lent: 1, found: nil)
        #expect(ledger.next() == .write(2, turn: 1))
        ledger.set(userLimit: 5)
        // Else the 2 might be written after the 6.
        #expect(ledger.next() == .wait(2, turn: 1))
        ledger.hasWritten(1)
        #expect(ledger.next() == .write(6, turn: 2))
        // The first call returns at last.
        ledger.hasWritten(1)
        #expect(ledger.next() == .wait(6, turn: 2))
        ledger.hasWritten(2)
        #expect(ledger.next() == .done)
    }

    @Test func whatIsRightIsWaitedForTooWhileItIsBeingWritten() {
        var ledger = SlotLedger(limit: 2)
        ledger.set(userLimit: 1)
        #expect(ledger.next() == .write(1, turn: 1))
        #expect(ledger.next() == .wait(1, turn: 1))
    }

    /// Two threads whose steps come in any order: the queue has the right limit when both have nothing more to do.
    @Test func theLastDecisionIsWrittenLast() {
        struct Writer {
            var changes: Int
            var isDone = false
            /// The write that it is about to make, the one that it has made without having said so, the one
            /// that it waits for.
            var isAbout: (number: Int, turn: Int)?
            var hasDone: Int?
            var waits: (number: Int, turn: Int)?
        }
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<5000 {
            var found = 3
            var ledger = SlotLedger(limit: found)
            var writers = [Writer(changes: 3), Writer(changes: 3)]
            while let index = writers.indices.filter({ !writers[$0].isDone }).randomElement(using: &generator)
            {
                var writer = writers[index]
                defer { writers[index] = writer }
                if let (number, turn) = writer.isAbout {
                    found = number
                    (writer.isAbout, writer.hasDone) = (nil, turn)
                } else if let turn = writer.hasDone {
                    ledger.hasWritten(turn)
                    writer.hasDone = nil
                } else if let (number, turn) = writer.waits {
                    if found == number { ledger.hasWritten(turn) }
                    writer.waits = nil
                } else if writer.changes > 0, Bool.random(using: &generator) {
                    writer.changes -= 1
                    if Bool.random(using: &generator) {
                        ledger.set(userLimit: Int.random(in: 1...4, using: &generator))
                    } else {
                        ledger.settle(lent: Int.random(in: 0...3, using: &generator), found: nil)
                    }
                } else {
                    switch ledger.next() {
                    case .write(let number, let turn): writer.isAbout = (number, turn)
                    case .wait(let number, let turn): writer.waits = (number, turn)
                    case .done:
                        #expect(found == ledger.limit)
                        writer.isDone = writer.changes == 0
                    }
                }
            }
            #expect(found == ledger.limit)
        }
    }
}

extension SlotLedger {
    /// The number that is written after a change that no other thread disturbs.
    fileprivate mutating func write(lent: Int, found: Int?) -> Int? {
        settle(lent: lent, found: found)
        return write()
    }

    fileprivate mutating func write() -> Int? {
        guard case .write(let number, let turn) = next() else { return nil }
        hasWritten(turn)
        return next() == .done ? number : nil
    }
}
