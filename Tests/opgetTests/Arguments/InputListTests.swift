import Foundation
import Testing

@testable import opget

@Suite struct InputListTests {
    private func list(_ text: String) throws -> [InputList.Entry] {
        try InputList(Data(text.utf8), name: "list").entries
    }

    @Test func anAddressALineWithCommentsAndEmptyLines() throws {
        let entries = try list("# comment\n\nhttp://a/1\n   \n  # indented comment\nhttp://a/2#part\n")
        #expect(entries.map(\.url) == ["http://a/1", "http://a/2#part"])
        #expect(entries.map(\.line) == [3, 6])
    }

    @Test(arguments: [
        ("http://a/1 # one", "http://a/1"), ("http://a/1\t# one", "http://a/1"),
        ("http://a/1 #", "http://a/1"), ("http://a/1#x # y", "http://a/1#x"),
        ("http://a/a b", "http://a/a b"),
    ])
    func aCommentAfterAnAddressIsNoPartOfIt(line: String, address: String) throws {
        #expect(try list(line + "\n out=x\n").map(\.url) == [address])
    }

    @Test func indentedOptionsBelongToTheAddressAbove() throws {
        let entries = try list("http://a/1\n  out=x/y.iso\n\tdir = down loads \nhttp://a/2\n out=a=b\n")
        #expect(entries[0].out == InputList.Value(text: "x/y.iso", line: 2))
        #expect(entries[0].dir == InputList.Value(text: "down loads", line: 3))
        #expect(entries[1].out == InputList.Value(text: "a=b", line: 5))
        #expect(entries[1].dir == nil)
        #expect(try list("http://a/1\n checksum=md5=00\n")[0].checksum?.text == "md5=00")
    }

    @Test func windowsLinesAByteOrderMarkAndAMissingLastNewlineAreRead() throws {
        let entries = try list("\u{FEFF}http://a/1\r\n  out=x\r\nhttp://a/2")
        #expect(entries.map(\.url) == ["http://a/1", "http://a/2"])
        #expect(entries[0].out?.text == "x")
    }

    @Test(arguments: [
        ("  out=x\n", "list:1: This option has no URL above it."),
        (
            "http://a\n\n  referer=b\n",
            "list:3: Unknown option \"referer\"; the options are out, dir and checksum."
        ),
        ("http://a\n  word\n", "list:2: An indented line is an option such as out=NAME, not \"word\"."),
        ("http://a\n out=1\n out=2\n", "list:3: A second out= for the same file."),
        ("http://a\n dir=1\n dir=2\n", "list:3: A second dir= for the same file."),
        ("http://a\n checksum=1\n checksum=2\n", "list:3: A second checksum= for the same file."),
        ("http://a\thttp://b\n", "list:1: More than one URL for a file: mirrors are not supported."),
        ("# nothing\n", "list: it contains no URL."),
        ("", "list: it contains no URL."),
    ])
    func refusesNamingTheLine(text: String, sentence: String) {
        #expect(throws: Failure(.usage, sentence)) { try list(text) }
    }

    @Test func refusesBytesThatAreNotUTF8() {
        #expect(throws: Failure(.usage, "list:2: It is not UTF-8.")) {
            try InputList(Data("http://a\n".utf8) + Data([0xFF, 0x0A]), name: "list")
        }
    }
}
