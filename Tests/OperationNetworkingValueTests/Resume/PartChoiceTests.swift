import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite struct PartChoiceTests {
    /// The index of the part that is resumed: rows by the older one, columns by the newer one, each in the order of
    /// ``PartChoice/Usability``.
    static let table: [[Int?]] = [
        [nil, nil, 1, 1],
        [nil, nil, 1, 1],
        [0, 0, 0, 1],
        [0, 0, 0, 1],
    ]

    @Test func theBetterPartIsContinued() {
        for older in PartChoice.Usability.allCases {
            for newer in PartChoice.Usability.allCases {
                let parts = [(usability: older, count: Int64(9)), (usability: newer, count: Int64(9))]
                #expect(
                    PartChoice.indexToResume(in: parts) == Self.table[older.rawValue][newer.rawValue],
                    "\(older), \(newer)"
                )
            }
        }
        #expect(PartChoice.indexToResume(in: []) == nil)
        #expect(PartChoice.indexToResume(in: [(.proven, 1), (.unproven, 9), (.ofOtherRequest, 9)]) == 0)
        #expect(PartChoice.indexToResume(in: [(.proven, 9), (.proven, 1)]) == 1)
        #expect(PartChoice.indexToResume(in: [(.unproven, 1), (.ofOtherRequest, 9), (.unproven, 5)]) == 2)
    }
}
