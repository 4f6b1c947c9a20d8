import Testing

@testable import OperationNetworking

@Suite struct PartChoiceTests {
    /// The index of the part that goes on: rows by the older one, columns by the newer one, each in the order of
    /// ``PartChoice/Worth``.
    static let table: [[Int?]] = [
        [nil, nil, 1, 1],
        [nil, nil, 1, 1],
        [0, 0, 0, 1],
        [0, 0, 0, 1],
    ]

    @Test func theBetterPartGoesOn() {
        for older in PartChoice.Worth.allCases {
            for newer in PartChoice.Worth.allCases {
                #expect(
                    PartChoice.goesOn([older, newer]) == Self.table[older.rawValue][newer.rawValue],
                    "\(older), \(newer)"
                )
            }
        }
        #expect(PartChoice.goesOn([]) == nil)
        #expect(PartChoice.goesOn([.proven, .unproven, .ofOtherRequest]) == 0)
    }

    @Test func whatSavesLessGoes() {
        #expect(PartChoice.isLess((.unproven, 9), (.proven, 1)))
        #expect(PartChoice.isLess((.unproven, 9), (.ofOtherRequest, 1)))
        #expect(PartChoice.isLess((.proven, 1), (.ofOtherRequest, 9)))
        #expect(PartChoice.isLess((.proven, 1), (.proven, 9)))
        #expect(!PartChoice.isLess((.proven, 1), (.unproven, 9)))
        #expect(!PartChoice.isLess((.proven, 5), (.proven, 5)))
    }
}
