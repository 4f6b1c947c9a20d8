import Testing

@Suite struct VirtualScreenTests {
    private func screen(_ columns: Int, _ rows: Int, _ text: String) -> VirtualScreen {
        var screen = VirtualScreen(columns: columns, rows: rows)
        screen.write(text)
        return screen
    }

    @Test(
        arguments: [
            ("abc", ["abc"]), ("a\r\nb", ["a", "b"]), ("abc\rx", ["xbc"]), ("a\nb", ["a", " b"]),
            ("abcdefgh", ["abcde", "fgh"]), ("abcde", ["abcde"]), ("abcde\r\nf", ["abcde", "f"]),
            ("abcde\rx", ["xbcde"]), ("abcd日", ["abcd", "日"]), ("日本語", ["日本", "語"]),
            ("e\u{301}x", ["e\u{301}x"]), ("abcde\u{301}f", ["abcde\u{301}", "f"]),
            ("日\u{FE0F}x", ["日\u{FE0F}x"]),
            ("1\r\n2\r\n3\r\n4", ["2", "3", "4"]),
        ] as [(String, [String])]
    )
    func showsText(text: String, lines: [String]) {
        let screen = screen(5, 3, text)
        #expect(screen.lines == lines)
        #expect(screen.problems.isEmpty)
    }

    @Test func erasesBelowAndBehindTheCursor() {
        #expect(screen(9, 4, "one\r\ntwo\r\nthree\r\u{1B}[1A\u{1B}[Jx").lines == ["one", "x"])
        #expect(screen(9, 4, "one\r\ntwo\r\u{1B}[1A\u{1B}[Kx").lines == ["x", "two"])
        #expect(screen(9, 4, "one\u{1B}[9Ax").lines == ["onex"])
        #expect(screen(9, 4, "one\u{1B}[Bx\u{1B}[9By").lines == ["one", "   x", "", "    y"])
    }

    @Test func knowsTheCursorAndColors() {
        var screen = screen(9, 4, "a\u{1B}[31mred\u{1B}[0mb\u{1B}[33my\u{1B}[0m")
        #expect(screen.lines == ["aredby"])
        #expect(screen.text(inColor: 31) == ["red"])
        #expect(screen.text(inColor: 33) == ["y"])
        #expect(screen.cursor == (0, 6))
        screen.write("\u{1B}[?25l")
        #expect(!screen.isCursorShown)
        screen.write("\u{1B}[?25h")
        #expect(screen.isCursorShown)
    }

    @Test(arguments: ["\u{1B}[2J", "\u{1B}c", "\t", "\u{8}", "\u{1B}[38m", "\u{1B}[1C", "\u{1B}[J"])
    func reportsUnknownSequences(text: String) {
        #expect(screen(9, 4, text).problems.count == 1)
    }

    @Test func takesCharactersInPieces() {
        var screen = VirtualScreen(columns: 9, rows: 1)
        for byte in "日\u{1B}[31m語".utf8 { screen.write([byte]) }
        #expect(screen.lines == ["日語"])
    }

    @Test func rewrapsWhenItsWidthChanges() {
        var screen = screen(10, 5, "abcdefgh\r\n12345678\r")
        screen.resize(columns: 5, rows: 5)
        #expect(screen.lines == ["abcde", "fgh", "12345", "678"])
        #expect(screen.cursor == (2, 0))
        screen.resize(columns: 10, rows: 5)
        #expect(screen.lines == ["abcdefgh", "12345678"])
        #expect(screen.cursor == (1, 0))
    }

    @Test func scrollsLinesThatNoLongerFit() {
        var screen = screen(10, 5, "abcdefgh\r\n日本語\r")
        screen.resize(columns: 3, rows: 4)
        #expect(screen.lines == ["gh", "日", "本", "語"])
        #expect(screen.cursor == (1, 0))
    }
}
