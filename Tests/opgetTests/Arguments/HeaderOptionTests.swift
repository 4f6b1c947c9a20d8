import Testing

@testable import opget

@Suite struct HeaderOptionTests {
    @Test(arguments: [
        ("Accept: text/plain", "Accept", "text/plain"), ("X:a:b", "X", "a:b"), ("X-Empty:", "X-Empty", ""),
        ("X-Empty: \t ", "X-Empty", ""), ("X: \u{A0}a\t", "X", "\u{A0}a"),
    ])
    func isANameAndAValue(text: String, name: String, value: String) throws {
        let option = try HeaderOption(text)
        #expect(option.name == name)
        #expect(option.value == value)
    }

    @Test(arguments: ["Accept", ": x", "A b: x", "A: x\r\nB: y", "A: \0", "Ä: x"])
    func refuses(text: String) {
        let error = #expect(throws: Failure.self) { try HeaderOption(text) }
        #expect(error?.outcome == .usage)
    }
}
