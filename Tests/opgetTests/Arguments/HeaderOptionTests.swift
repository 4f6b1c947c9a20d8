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

    @Test func severalCookiesAreOneField() throws {
        let fields = try HeaderOption.all(["Cookie: a=b", "Accept: x", "cookie: c=d", "COOKIE:", "Accept: y"])
        #expect(fields.map(\.name) == ["Cookie", "Accept", "Accept"])
        #expect(fields.map(\.value) == ["a=b; c=d", "x", "y"])
    }

    @Test(arguments: ["User-Agent", "Referer", "Range", "Host", "Authorization"])
    func aFieldThatHasOneValueIsGivenOnce(name: String) throws {
        let error = #expect(throws: Failure.self) {
            try HeaderOption.all([name + ": a", "X: 1", name.lowercased() + ": hunter2"])
        }
        #expect(error?.outcome == .usage)
        #expect(error?.sentence.contains(name.lowercased()) == true)
        #expect(error?.sentence.contains("hunter2") == false)
        #expect(try HeaderOption.all([name + ": a", "X: 1", "X: 1"]).count == 3)
    }
}
