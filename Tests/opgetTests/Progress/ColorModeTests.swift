import Testing

@testable import opget

@Suite struct ColorModeTests {
    @Test(
        arguments: [
            (.auto, true, [:], true), (.auto, false, [:], false),
            (.auto, true, ["NO_COLOR": "1"], false), (.auto, true, ["NO_COLOR": ""], true),
            (.auto, false, ["CLICOLOR_FORCE": "1"], true), (.auto, false, ["CLICOLOR_FORCE": "0"], false),
            (.auto, false, ["FORCE_COLOR": "1"], true),
            (.auto, true, ["NO_COLOR": "1", "FORCE_COLOR": "1"], false),
            (.auto, true, ["TERM": "dumb"], false), (.always, true, ["TERM": "dumb"], false),
            (.always, false, ["NO_COLOR": "1"], true), (.never, true, ["FORCE_COLOR": "1"], false),
        ] as [(ColorMode, Bool, [String: String], Bool)]
    )
    func decidesWhetherWordsAreColored(
        mode: ColorMode,
        isTerminal: Bool,
        environment: [String: String],
        colors: Bool
    ) {
        #expect(mode.colors(onTerminal: isTerminal, environment: environment) == colors)
    }
}
