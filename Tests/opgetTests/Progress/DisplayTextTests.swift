import Testing

@testable import opget

@Suite struct DisplayTextTests {
    @Test(arguments: [
        ("plain", 5), ("", 0), ("é", 1), ("e\u{301}", 1), ("日本", 4), ("ｶﾅ", 2), ("Ａ", 2), ("한글", 4),
        ("😀", 2), ("👩‍💻", 4), ("❤️", 2), ("\u{1112}\u{1161}\u{11AB}", 2), ("a\u{200D}b", 2), ("…", 1),
    ])
    func hasAWidth(text: String, width: Int) {
        #expect(DisplayText(text).width == width)
    }

    @Test(arguments: [
        ("a\u{1B}[31mb", "a?[31mb"), ("a\r\nb", "a??b"), ("tab\t", "tab?"), ("\u{7F}", "?"),
        ("\u{9B}31m", "?31m"),
        ("\u{202E}txt.exe", "?txt.exe"), ("a\u{2028}b", "a?b"), ("\u{2066}x", "?x"), ("\0", "?"),
    ])
    func neverHasAControlCharacter(raw: String, shown: String) {
        #expect(DisplayText(raw).string == shown)
    }

    @Test(arguments: [
        ("abcdefghij", 10, "abcdefghij"), ("abcdefghij", 7, "abc…hij"), ("abcdefghij", 6, "abc…ij"),
        ("abcdefghij", 1, "…"), ("abcdefghij", 0, ""), ("日本語の名前", 7, "日本…前"), ("日本語の名前", 6, "日…前"),
        ("e\u{301}e\u{301}e\u{301}e\u{301}", 3, "e\u{301}…e\u{301}"),
    ])
    func isShortenedInTheMiddle(text: String, columns: Int, expected: String) {
        let shortened = DisplayText(text).shortened(to: columns)
        #expect(shortened.string == expected)
        #expect(shortened.width <= columns)
    }

    @Test(arguments: 0..<30)
    func isFittedExactly(columns: Int) {
        for text in ["short", "日本語のファイル.tar.gz", "a👩‍💻b❤️c", ""] {
            #expect(DisplayText(text).fitted(to: columns).width == columns)
        }
    }

    @Test(arguments: [
        ("", 5, 1), ("abcde", 5, 1), ("abcdef", 5, 2), ("日本語", 5, 2), ("日本語", 4, 2), ("日本語", 3, 3),
        ("日本語", 1, 3), ("abcdefghijk", 5, 3),
    ])
    func hasRows(text: String, columns: Int, rows: Int) {
        #expect(DisplayText(text).rows(in: columns) == rows)
    }
}
