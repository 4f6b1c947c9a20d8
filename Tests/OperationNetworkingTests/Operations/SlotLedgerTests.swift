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
        #expect(ledger.settle(lent: row.lent, found: row.found) == row.write)
        #expect(ledger.userLimit == row.userAfter)
    }

    @Test func whatItWroteItselfIsNotTheUsers() {
        var ledger = SlotLedger(limit: 2)
        #expect(ledger.settle(lent: 1, found: 2) == 3)
        #expect(ledger.settle(lent: 2, found: 3) == 4)
        #expect(ledger.settle(lent: 2, found: 4) == nil)
        #expect(ledger.settle(lent: 0, found: 4) == 2)
        #expect(ledger.userLimit == 2)
    }

    @Test func aLimitThatIsSaidIsNeverGuessed() {
        var ledger = SlotLedger(limit: 3)
        #expect(ledger.settle(lent: 2, found: 3) == 5)
        // The same number as the one that was written.
        #expect(ledger.set(userLimit: 5) == 7)
        #expect(ledger.settle(lent: 0, found: 7) == 5)
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
                if let limit = ledger.settle(lent: lent, found: found) { found = limit }
                #expect(found == (users > 0 ? users + lent : users))
            }
            if let limit = ledger.settle(lent: 0, found: found) { found = limit }
            #expect(found == users)
        }
    }
}
