import Testing

@testable import OperationNetworking

@Suite struct PartChoiceTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let older: PartChoice.Worth
        let newer: PartChoice.Worth
        let goesOn: PartChoice.Age?
        let kept: PartChoice.Age?

        init(
            _ older: PartChoice.Worth,
            _ newer: PartChoice.Worth,
            goesOn: PartChoice.Age?,
            kept: PartChoice.Age?
        ) {
            (self.older, self.newer, self.goesOn, self.kept) = (older, newer, goesOn, kept)
        }

        var testDescription: String { "\(older), \(newer)" }
    }

    static let rows = [
        Row(.nothing, .nothing, goesOn: nil, kept: nil),
        Row(.nothing, .ofOtherRequest, goesOn: nil, kept: .newer),
        Row(.nothing, .unproven, goesOn: .newer, kept: nil),
        Row(.nothing, .proven, goesOn: .newer, kept: nil),
        Row(.ofOtherRequest, .nothing, goesOn: nil, kept: .older),
        Row(.ofOtherRequest, .ofOtherRequest, goesOn: nil, kept: .newer),
        Row(.ofOtherRequest, .unproven, goesOn: .newer, kept: .older),
        Row(.ofOtherRequest, .proven, goesOn: .newer, kept: .older),
        Row(.unproven, .nothing, goesOn: .older, kept: nil),
        Row(.unproven, .ofOtherRequest, goesOn: .older, kept: .newer),
        Row(.unproven, .unproven, goesOn: .older, kept: nil),
        Row(.unproven, .proven, goesOn: .newer, kept: .older),
        Row(.proven, .nothing, goesOn: .older, kept: nil),
        Row(.proven, .ofOtherRequest, goesOn: .older, kept: .newer),
        Row(.proven, .unproven, goesOn: .older, kept: nil),
        Row(.proven, .proven, goesOn: .newer, kept: .older),
    ]

    @Test(arguments: rows) func theBetterPartGoesOnAndTheOtherIsKeptIfItIsOfUse(row: Row) {
        let choice = PartChoice.choose(older: row.older, newer: row.newer)
        #expect(choice.goesOn == row.goesOn)
        #expect(choice.kept == row.kept)
    }
}
