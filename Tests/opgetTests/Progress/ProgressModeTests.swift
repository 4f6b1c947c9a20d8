import Testing

@testable import opget

@Suite struct ProgressModeTests {
    @Test(
        arguments: [
            (.auto, true, [:], true), (.auto, false, [:], false), (.auto, true, ["TERM": "dumb"], false),
            (.auto, true, ["CI": "1"], false), (.auto, true, ["CI": ""], true),
            (.always, false, ["CI": "1"], true), (.always, true, ["TERM": "dumb"], false),
            (.never, true, [:], false), (.plain, true, [:], false),
        ] as [(ProgressMode, Bool, [String: String], Bool)]
    )
    func decidesWhatIsDrawn(mode: ProgressMode, isTerminal: Bool, environment: [String: String], draws: Bool)
    {
        #expect(mode.draws(onTerminal: isTerminal, environment: environment) == draws)
    }

    @Test(
        arguments: [
            (nil, [:], 80), (132, [:], 132), (132, ["COLUMNS": "40"], 40), (132, ["COLUMNS": "x"], 132),
            (132, ["COLUMNS": "0"], 132), (nil, ["COLUMNS": "10"], 10),
        ] as [(Int?, [String: String], Int)]
    )
    func columnsAreOverridden(terminal: Int?, environment: [String: String], columns: Int) {
        #expect(ProgressMode.columns(terminal, environment: environment) == columns)
    }
}
