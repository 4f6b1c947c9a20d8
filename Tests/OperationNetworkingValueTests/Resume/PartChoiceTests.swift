import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite struct PartChoiceTests {
    /// The index of the part that goes on: rows by the older one, columns by the newer one, each in the order of
    /// ``PartChoice/Worth``.
    static let table: [[Int?]] = [
        [nil, nil, 1, 1],
        [nil, nil, 1, 1],
        [0, 0, 0, 1],
        [0, 0, 0, 1],
    ]

    @Test func theBetterPartIsContinued() {
        for older in PartChoice.Worth.allCases {
            for newer in PartChoice.Worth.allCases {
                let parts = [(worth: older, count: Int64(9)), (worth: newer, count: Int64(9))]
                #expect(
                    PartChoice.goesOn(parts) == Self.table[older.rawValue][newer.rawValue],
                    "\(older), \(newer)"
                )
            }
        }
        #expect(PartChoice.goesOn([]) == nil)
        #expect(PartChoice.goesOn([(.proven, 1), (.unproven, 9), (.ofOtherRequest, 9)]) == 0)
        #expect(PartChoice.goesOn([(.proven, 9), (.proven, 1)]) == 1)
        #expect(PartChoice.goesOn([(.unproven, 1), (.ofOtherRequest, 9), (.unproven, 5)]) == 2)
    }
}
