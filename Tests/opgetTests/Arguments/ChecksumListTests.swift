import Foundation
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport
@testable import opget

private let a = String(repeating: "aa", count: 32)
private let b = String(repeating: "bb", count: 32)

@Suite struct ChecksumListTests {
    private func list(_ text: String) throws -> ChecksumList {
        try ChecksumList(Data(text.utf8))
    }

    private func sha256(_ hex: String) throws -> FileDigest {
        try FileDigest(.sha256, hex: hex)
    }

    // MARK: - Lines

    @Test(arguments: [
        "\(a)  name", "\(a) *name", "\(a) name", "\(a)\tname", "  \(a)  name", "\(a.uppercased())  name",
        "SHA256 (name) = \(a)", "sha256 (name) = \(a)", "SHA2-256(name)= \(a)", "SHA256(name)= \(a)",
        "SHA256 (name) =\(a)",
        "\(a)  name\r", "\u{FEFF}\(a)  name", "\\\(a)  name", "\\SHA256 (name) = \(a)",
    ])
    func everyFormOfALineIsRead(line: String) throws {
        for text in [line, line + "\n", "# comment\n\n  \n\r\n#\n".appending(line)]
        where !text.contains("\n\u{FEFF}") {
            let list = try list(text)
            #expect(list.entries.map(\.path) == ["name"])
            #expect(try list.digests(for: "name") == [sha256(a)])
        }
    }

    @Test(arguments: [
        ("\(a)   lead", " lead"), ("\(a)  *star", "*star"), ("\(a)  trail ", "trail "),
        ("\(a)  a  b", "a  b"),
        ("\(a)  a\\nb", "a\\nb"), ("\\\(a)  a\\nb\\\\c\\rd", "a\nb\\c\rd"), ("\(a)  *", "*"),
        ("\(a)  #x", "#x"),
        ("SHA256 ( a) (b ) = x) = \(a)", " a) (b ) = x"), ("\\SHA256 (a\\nb) = \(a)", "a\nb"),
        ("\(a) x", "x"),
        ("\(a)  é", "é"), ("\(a)  \(b)  c", "\(b)  c"),
    ])
    func strangeNamesAreKeptAsTheyAre(line: String, name: String) throws {
        let list = try list(line)
        #expect(list.entries.map(\.path) == [name])
        #expect(try list.digests(for: name) == [sha256(a)])
    }

    @Test func theLengthOfADigestNamesItsAlgorithm() throws {
        let lines = DigestAlgorithm.allCases.map { String(repeating: "0f", count: $0.byteCount) + "  name\n" }
        #expect(try list(lines.joined()).digests(for: "name").map(\.algorithm) == DigestAlgorithm.allCases)
    }

    @Test func entriesKnowTheirLines() throws {
        #expect(try list("# one\n\n\(a)  x\r\n\r\n\(b) *y").entries.map(\.line) == [3, 5])
        #expect(try list("").entries == [])
        #expect(try list("\u{FEFF}# nothing\r\n").entries == [])
    }

    @Test(arguments: [
        ("name", ChecksumListError.malformedLine(1)),
        ("\n\nname", .malformedLine(3)),
        ("#\r\n\(a)", .malformedLine(2)),
        ("\(a) ", .malformedLine(1)),
        ("\(a)  name\0", .malformedLine(1)),
        ("\\\(a)  a\\tb", .malformedLine(1)),
        ("\\\(a)  a\\", .malformedLine(1)),
        ("\(a)g  name", .malformedLine(1)),
        ("\(a)a  name", .malformedLine(1)),
        ("name  \(a)", .malformedLine(1)),
        ("SHA256 name = \(a)", .malformedLine(1)),
        ("SHA256 () = \(a)", .malformedLine(1)),
        ("SHA256 (name) \(a)", .malformedLine(1)),
        ("(name) = \(a)", .malformedLine(1)),
        ("SHA256 )name( = \(a)", .malformedLine(1)),
        ("<html>\n", .malformedLine(1)),
        ("abcd  name", .malformedDigest(.unknownLength(4), line: 1)),
        ("\(a)aa  name", .malformedDigest(.unknownLength(66), line: 1)),
        ("SHA256 (name) = abcd", .malformedDigest(.wrongLength(.sha256, expected: 32, actual: 2), line: 1)),
        ("SHA1 (name) = \(a)", .malformedDigest(.wrongLength(.sha1, expected: 20, actual: 32), line: 1)),
        ("SHA256 (name) = \(a) ", .malformedDigest(.notHexadecimal("\(a) "), line: 1)),
        ("\n# x\nBLAKE2b (name) = \(a)", .unknownAlgorithm("BLAKE2b", line: 3)),
        ("SHA2-384(name)= \(a)", .unknownAlgorithm("SHA2-384", line: 1)),
        ("-----BEGIN PGP SIGNATURE-----", .malformedLine(1)),
    ])
    func aLineThatIsNoneIsAnErrorWithItsNumber(text: String, error: ChecksumListError) {
        #expect(throws: error) { try list(text) }
        // After a line that is one.
        #expect(throws: ChecksumListError.self) { try list("\(a)  x\n" + text + "\n\(a)  y\n") }
    }

    @Test func errorsAreSentences() {
        #expect(
            ChecksumListError.malformedDigest(.unknownLength(4), line: 7).description
                == "Line 7 of the checksum list: No known algorithm has digests of 4 hexadecimal digits."
        )
    }

    @Test func theFrameOfAClearsignedListIsSkipped() throws {
        let text = """
            -----BEGIN PGP SIGNED MESSAGE-----
            Hash: SHA256

            # image.iso: 12 bytes
            SHA256 (image.iso) = \(a)
            - \(b)  -dash
            -----BEGIN PGP SIGNATURE-----

            iQIzBAEBCAAdFiEE
            =abcd
            -----END PGP SIGNATURE-----

            """
        for text in [text, text.replacingOccurrences(of: "\n", with: "\r\n")] {
            let list = try list(text)
            #expect(list.entries.map(\.line) == [5, 6])
            #expect(try list.digests(for: "image.iso") == [sha256(a)])
            #expect(list.entries.map(\.path) == ["image.iso", "-dash"])
        }
    }

    // MARK: - Looking up

    @Test func aPathIsFoundHoweverItIsWritten() throws {
        let list = try list("\(a)  ./dir/name\n\(b)  /top/other\n")
        for path in ["dir/name", "./dir/name", "dir//name", "././dir/./name", "name"] {
            #expect(try list.digests(for: path) == [sha256(a)])
        }
        for path in ["/top/other", "//top/other", "other"] {
            #expect(try list.digests(for: path) == [sha256(b)])
        }
        for path in [
            "", ".", "/", "dir", "Name", "dir/other", "/dir/name", "/name", "top/other", "../dir/name",
            "x/name",
        ] {
            #expect(try list.digests(for: path) == [])
        }
    }

    @Test func aPathCountsBeforeTheSameNameInADirectory() throws {
        let list = try list("\(a)  dir/name\n\(b)  name\n")
        #expect(try list.digests(for: "name") == [sha256(b)])
        #expect(try list.digests(for: "dir/name") == [sha256(a)])
    }

    @Test func namesAreComparedOctetForOctet() throws {
        let list = try list("\(a)  e\u{301}\n")
        #expect(try list.digests(for: "e\u{301}") == [sha256(a)])
        #expect(try list.digests(for: "\u{E9}") == [])
    }

    @Test func aNameThatIsNotTextMatchesNothing() throws {
        let data = Data("\(a)  x\n\(b)  ".utf8) + [0xFF, 0x0A]
        let list = try ChecksumList(data)
        #expect(list.entries.map(\.path) == ["x", "\u{FFFD}"])
        #expect(try list.digests(for: "\u{FFFD}") == [])
    }

    @Test func aFileMayBeThereTwiceIfBothLinesAgree() throws {
        let list = try list("\(a)  x\n\(a.uppercased()) *./x\nMD5 (x) = \(a.prefix(32))\n")
        #expect(try list.digests(for: "x") == [sha256(a), FileDigest(.md5, hex: a.prefix(32))])
    }

    @Test(arguments: ["x", "./x", ".//x"])
    func linesThatDifferAboutAFileAreAnError(path: String) {
        #expect(throws: ChecksumListError.contradiction(path: path, line: 4, earlierLine: 2)) {
            try list("#\n\(a)  x\n\(a)  y\n\(b)  \(path)\n")
        }
    }

    @Test func aNameInTwoDirectoriesIsFoundIfTheFilesAreTheSame() throws {
        let list = try list("\(a)  one/x\n\(a)  two/x\n\(a)  one/y\n\(b)  two/y\n")
        #expect(try list.digests(for: "x") == [sha256(a)])
        #expect(throws: ChecksumListError.ambiguousName("y", line: 4, earlierLine: 3)) {
            try list.digests(for: "y")
        }
        #expect(try list.digests(for: "two/y") == [sha256(b)])
    }

    /// As in a mirror of packages, each with an empty file of one name.
    @Test(.timeLimit(.minutes(1))) func manyFilesOfOneNameAreLookedUpOneByOne() throws {
        let count = 10_000
        let lines = (0..<count).map { "\(a)  package\($0)/__init__.py\n" }
        let list = try list(lines.joined())
        for _ in 0..<count { #expect(try list.digests(for: "__init__.py").count == 1) }
    }

    // MARK: - Against the programs that write such lists

    @Test(
        "lists that coreutils writes, with its escapes",
        arguments: [
            ("md5sum", [String]()), ("sha1sum", []), ("sha256sum", []), ("sha512sum", []),
            ("sha256sum", ["--binary"]),
            ("sha256sum", ["--tag"]), ("md5sum", ["--tag"]), ("sha512sum", ["--tag"]),
        ]
    )
    func listsOfCoreutilsAreRead(program: String, options: [String]) throws {
        let directory = try TemporaryDirectory()
        let names = [
            "plain", "a b", " lead", "trail ", "*star", "#hash", "back\\slash", "line\nfeed", "\\n", "end\\",
            "(x) = y", "é",
            "-dash", "\"quotes\"", "tab\tx", "'", "\\\\n\n\\", "MD5 (x) = 0",
        ]
        for name in names { try Data(name.utf8).write(to: directory.file(name)) }
        let printed = try ChecksumProgram.run(program, options + ["--"] + names, in: directory.url)
        let list = try ChecksumList(printed)
        let algorithm = try #require(DigestAlgorithm(name: program.dropLast(3)))
        #expect(list.entries.map(\.path) == names)
        for name in names {
            #expect(try list.digests(for: name) == [FileDigest.of(Data(name.utf8), algorithm: algorithm)])
        }
    }

    @Test func aListOfOpenSSLIsRead() throws {
        let directory = try TemporaryDirectory()
        for name in ["one", "(two)"] { try Data(name.utf8).write(to: directory.file(name)) }
        for algorithm in DigestAlgorithm.allCases {
            let printed = try ChecksumProgram.run(
                "openssl",
                ["dgst", "-\(algorithm.rawValue)", "one", "(two)"],
                in: directory.url
            )
            let list = try ChecksumList(printed)
            for name in ["one", "(two)"] {
                #expect(try list.digests(for: name) == [FileDigest.of(Data(name.utf8), algorithm: algorithm)])
            }
        }
    }

    @Test func whatIsMadeOfTheCharactersOfListsNeverTraps() {
        var random = SeededGenerator(seed: 256)
        let pieces = [
            a, b, "  ", " *", " ", "\n", "\r\n", "\\", "SHA256 (", ") = ", "name", "/", ".", "#", "\\n",
            "MD5 (", "ab",
            "\u{FEFF}", "-----BEGIN PGP SIGNED MESSAGE-----\n", "-----BEGIN PGP SIGNATURE-----\n", "\t", "\0",
            "=", "(", ")",
        ]
        var readable = 0
        for _ in 0..<5000 {
            let count = Int.random(in: 0..<10, using: &random)
            let text = (0..<count).map { _ in pieces[Int.random(in: pieces.indices, using: &random)] }
                .joined()
            guard let list = try? list(text) else { continue }
            readable += list.entries.count
            for entry in list.entries {
                #expect(throws: Never.self) { try list.digests(for: entry.path).contains(entry.digest) }
            }
        }
        #expect(readable > 20)
    }
}
