import Testing

@testable import opget

@Suite struct KeyCommandTests {
    @Test(
        arguments: [
            ("", []), ("p", [.pause]), ("P", [.pause]), ("q", [.quit]), ("Q", [.quit]),
            ("ppq", [.pause, .pause, .quit]),
            ("xyz \n日", []), ("\u{1B}OP", []), ("\u{1B}OQ", []), ("p\u{1B}[15~q", [.pause, .quit]),
            ("\u{1B}p", []),
            ("\u{1B}[Pq", [.quit]), ("\u{1B}OQp", [.pause]), ("p\u{1B}", [.pause]), ("\u{1B}[1;2P", []),
        ] as [(String, [KeyCommand])]
    )
    func knowsItsKeysAndNoOthers(typed: String, commands: [KeyCommand]) {
        #expect(KeyCommand.all(in: typed.utf8) == commands)
    }
}
