import Foundation
import OperationNetworking
import Testing

@testable import opget

@Suite struct PlanTests {
    private func plan(
        _ addresses: [String] = [],
        list: String? = nil,
        d directory: String? = nil,
        o output: String? = nil,
        checksum: String? = nil,
        checksums: String? = nil
    ) throws -> [Item] {
        let lists = try [list].compactMap { $0 }.map {
            (name: "list", entries: try InputList(Data($0.utf8), name: "list").entries)
        }
        let naming = Plan.Naming(directory: directory, output: output, workingDirectory: "/here")
        let expected = try ExpectedChecksums(
            option: checksum,
            list: checksums.map { (name: "sums", contents: Data($0.utf8)) }
        )
        return try Plan(addresses: addresses, lists: lists, naming: naming, checksums: expected).items
    }

    /// Secrets are printed, and kept with what a script has printed.
    @Test(arguments: [
        ["ftp://me:hunter2@h/a"], ["http://me:hunter2@/a"], ["http://me:hunter2@h:x/a"], ["me:hunter2@h/a"],
        ["http://me:hunter2@h/a", "http://me:hunter2@h/a"],
    ])
    func failuresRepeatNoPassword(addresses: [String]) {
        let failure = #expect(throws: Failure.self) { try plan(addresses) }
        #expect(failure?.outcome == .usage)
        #expect(failure?.sentence.contains("hunter2") == false)
    }

    @Test(arguments: [
        ("http://ex%2fx/a", false), ("http://a%20b/a", false), ("http://a%00b/a", false),
        ("http://a%FFb/a", false),
        ("http://ex%61mple.org/a", true), ("http://b\u{FC}cher.example/a", true), ("http://[::1]/a", true),
        ("http://a_b-c.d.:80/a", true), ("http://me:p%E4ss@h/a", false), ("http://m%FFe@h/a", false),
        ("http://me:p%C3%A4ss@h/a", true),
    ])
    func anAddressThatCannotBeAskedIsRefusedAtOnce(address: String, isGood: Bool) {
        var failure: Failure?
        do { _ = try plan([address]) } catch { failure = error as? Failure }
        #expect((failure == nil) == isGood)
        #expect(failure?.outcome ?? .usage == .usage)
        #expect(failure?.sentence.contains("p%E4ss") != true)
    }

    private func path(_ item: Item) -> String? {
        if case .file(let path) = item.destination { path.text } else { nil }
    }

    @Test(
        arguments: [
            (nil, nil, "a.iso"), ("down", nil, "down/a.iso"), ("/data/", nil, "/data/a.iso"), (nil, "b", "b"),
            (nil, "/tmp/b", "/tmp/b"), (nil, "../b", "../b"), ("down", "x/b", "down/x/b"), ("/", "b", "/b"),
        ] as [(String?, String?, String)]
    )
    func savesUnderTheGivenName(directory: String?, output: String?, expected: String) throws {
        let items = try plan(["http://h/a.iso"], d: directory, o: output)
        #expect(items.map(path) == [expected])
    }

    @Test func aDashIsStandardOutput() throws {
        let items = try plan(["http://h/a.iso"], o: "-")
        #expect(items.map(\.destination) == [.descriptor(1)])
        #expect(items[0].name == "a.iso")
    }

    @Test(
        arguments: [
            (nil, "out=x", "x"), (nil, "out=sub/x", "sub/x"), ("down", "out=./x", "down/./x"),
            (nil, "dir=sub", "sub/a"), (nil, "dir=/data", "/data/a"), ("down", "dir=sub", "down/sub/a"),
            ("/data", "dir=/data/sub", "/data/sub/a"), ("/data", "dir=/data", "/data/a"),
            ("/", "dir=/data", "/data/a"),
            ("down", "dir=/here/down/x", "/here/down/x/a"),
        ] as [(String?, String, String)]
    )
    func aListNamesItsFiles(directory: String?, option: String, expected: String) throws {
        #expect(try plan(list: "http://h/a\n  \(option)\n", d: directory).map(path) == [expected])
    }

    @Test(
        arguments: [
            (nil, "out=/etc/passwd"), (nil, "out=../x"), (nil, "out=a/../../x"), (nil, "out="),
            (nil, "out=a/"),
            (nil, "out=."), (nil, "out=a/.."), (nil, "out=a\0b"), (nil, "dir=../x"), (nil, "dir="),
            ("down", "dir=/etc"), ("/data", "dir=/database"), ("/data", "dir=/data/../etc"),
            (nil, "out=" + String(repeating: "x", count: 256)), ("down", "out=../\u{301}x"),
            ("down", "dir=../\u{301}d"), (nil, "out=/\u{301}x"), ("/data", "dir=/data/../\u{301}d"),
            ("/data/\u{e9}", "dir=/data/e\u{301}"),
        ] as [(String?, String)]
    )
    func aListCannotLeaveTheDirectory(directory: String?, option: String) throws {
        let error = #expect(throws: Failure.self) {
            try plan(list: "# first\nhttp://h/a\n  \(option)\n", d: directory)
        }
        #expect(error?.outcome == .usage)
        #expect(error?.sentence.hasPrefix("list:3: ") == true)
    }

    @Test(arguments: [
        ("down", "/etc/passwd"), ("down", "../x"), ("down", "a/../../x"), (nil, ""), (nil, "x/"),
    ])
    func theNameOfTheOneFileIsChecked(directory: String?, output: String) {
        #expect(throws: Failure.self) { try plan(["http://h/a"], d: directory, o: output) }
    }

    @Test(arguments: [
        ("ftp://h/a", "ftp://h/a: Only http and https URLs can be fetched, not ftp."),
        ("file:///etc/passwd", "file:///etc/passwd: Only http and https URLs can be fetched, not file."),
        ("example.com/a", "example.com/a: This is not a URL that begins with http:// or https://."),
        ("http:///a", "http:///a: The URL has no host."),
        ("", "\"\": This is not a URL that begins with http:// or https://."),
    ])
    func refusesOtherAddresses(address: String, sentence: String) {
        #expect(throws: Failure(.usage, sentence)) { try plan([address]) }
    }

    @Test func anErrorInAListNamesItsLine() {
        #expect(throws: Failure(.usage, "list:2: Only http and https URLs can be fetched, not ftp.")) {
            try plan(list: "http://h/a\nftp://h/b\n")
        }
    }

    @Test func oneNameForSeveralAddressesIsRefused() {
        #expect(throws: Failure.self) { try plan(["http://h/a", "http://h/b"], o: "x") }
        #expect(throws: Failure.self) { try plan(["http://h/a"], list: "http://h/b", o: "-") }
    }

    @Test(
        arguments: [
            (["http://h/a", "http://g/a"], nil), (["http://h/a"], "http://g/b\n out=./a\n"),
            ([], "http://h/a?1\nhttp://h/a?2\n"), ([], "http://h/a\n dir=/here\nhttp://g/a\n"),
            (["http://h/a"], "http://g/x\n out=.//a"),
        ] as [([String], String?)]
    )
    func twoItemsThatWouldWriteTheSameFileAreRefused(addresses: [String], list: String?) {
        let error = #expect(throws: Failure.self) { try plan(addresses, list: list) }
        #expect(error?.sentence.contains("is already the destination of") == true)
    }

    @Test func whatIsPrintedHasNoPassword() throws {
        let items = try plan(["http://me:secret@h/a?b"])
        #expect(items[0].printableURL == "http://h/a?b")
    }

    // MARK: - Checksums

    private let one = String(repeating: "1", count: 64)
    private let two = String(repeating: "2", count: 64)

    @Test(arguments: ["sha-256=", "sha256:", "", "SHA-256="])
    func theChecksumOfTheOneFileHasManyForms(prefix: String) throws {
        let items = try plan(["http://h/a"], checksum: prefix + one)
        #expect(items[0].digests.map(\.description) == ["sha256:" + one])
    }

    @Test(arguments: ["sha-256=12", "crc32=12345678", "xyz", "", "sha256:"])
    func aChecksumThatIsNoneIsRefused(text: String) {
        let error = #expect(throws: Failure.self) { try plan(["http://h/a"], checksum: text) }
        #expect(error?.outcome == .usage)
        #expect(error?.sentence.hasPrefix("--checksum: ") == true)
    }

    @Test func oneChecksumIsNotThatOfTwoFiles() {
        let error = #expect(throws: Failure.self) { try plan(["http://h/a", "http://h/b"], checksum: one) }
        #expect(error?.sentence.contains("2 URLs") == true)
    }

    @Test func aListOfChecksumsKnowsFilesByTheirNames() throws {
        let sums = "\(one)  sub/a\n\(two)  b\n"
        let items = try plan(list: "http://h/x\n out=sub/a\nhttp://h/b\n", checksums: sums)
        #expect(items.map { $0.digests.map(\.hex) } == [[one], [two]])
        // Below another directory, and under another name.
        #expect(try plan(["http://h/b"], d: "down", checksums: sums)[0].digests.map(\.hex) == [two])
        #expect(try plan(["http://h/b"], o: "other", checksums: sums)[0].digests.map(\.hex) == [two])
        #expect(try plan(["http://h/a"], checksums: sums)[0].digests.map(\.hex) == [one])
    }

    /// As `sha256sum -c` does, in the working directory or in that of `-d`.
    @Test(
        arguments: [
            (nil, "a/x"), (nil, "./a//x"), (nil, "/here/a/x"), (nil, "b/../a/x"), ("down", "a/x"),
            ("/data", "a/x"), ("/here", "a/x"), ("a", "a/x"),
        ] as [(String?, String)]
    )
    func aListOfChecksumsKnowsFilesByTheirPathsFirst(directory: String?, output: String) throws {
        let sums = "\(two)  x\n\(one)  a/x\n\(two)  down/a/x\n\(two)  /data/a/x\n\(two)  a/a/x\n"
        let items = try plan(["http://h/x"], d: directory, o: output, checksums: sums)
        #expect(items[0].digests.map(\.hex) == [one])
    }

    @Test func filesOfOneNameInTwoDirectoriesHaveTheirOwnChecksums() throws {
        let list = "http://h/x\n dir=a\nhttp://g/x\n dir=b\nhttp://g/y\n dir=b\n out=c/x\n"
        let sums = "\(one)  a/x\n\(two)  b/x\n\(one)  b/c/x\n"
        #expect(try plan(list: list, checksums: sums).map { $0.digests.map(\.hex) } == [[one], [two], [one]])
        // As seen from the working directory, or from /.
        let far = "\(two)  down/a/x\n\(one)  /here/down/b/x\n\(two)  /here/down/b/c/x\n\(one)  x/x\n"
        let items = try plan(list: list, d: "down", checksums: far)
        #expect(items.map { $0.digests.map(\.hex) } == [[two], [one], [two]])
    }

    @Test func aFileThatTheListOfChecksumsDoesNotKnowNeedsItsOwn() throws {
        let error = #expect(throws: Failure.self) {
            try plan(list: "http://h/a\nhttp://h/b\n", checksums: "\(one)  a\n")
        }
        #expect(error == Failure(.usage, "list:2: sums has no checksum for b."))
        let items = try plan(list: "http://h/b\n checksum=sha256:\(two)\n", checksums: "\(one)  a\n")
        #expect(items[0].digests.map(\.hex) == [two])
    }

    @Test func checksumsThatContradictEachOtherAreRefused() {
        #expect(throws: Failure.self) { try plan(["http://h/a"], checksum: two, checksums: "\(one)  a\n") }
        #expect(throws: Failure.self) { try plan(["http://h/a"], checksums: "\(one)  a\n\(two)  a\n") }
        #expect(throws: Failure.self) { try plan(["http://h/a"], checksums: "\(one)  x/a\n\(two)  y/a\n") }
    }

    @Test func anErrorInTheChecksumOfAListNamesItsLine() {
        let error = #expect(throws: Failure.self) { try plan(list: "http://h/a\n checksum=nonsense\n") }
        #expect(error?.sentence.hasPrefix("list:2: checksum: ") == true)
        let other = #expect(throws: Failure.self) { try plan(["http://h/a"], checksums: "nonsense\n") }
        #expect(other?.sentence.hasPrefix("sums: Line 1 ") == true)
    }

    @Test func standardOutputHasNoChecksum() {
        #expect(throws: Failure.self) { try plan(["http://h/a"], o: "-", checksum: one) }
    }

    /// Two files on Linux.
    @Test func namesThatAreComposedDifferentlyAreDifferent() throws {
        let items = try plan(["http://h/caf%C3%A9", "http://h/cafe%CC%81"])
        #expect(items.count == 2)
        #expect(throws: Failure.self) { try plan(["http://h/caf%C3%A9", "http://h/caf\u{e9}"]) }
    }

    @Test(arguments: [
        ("http://h/a%20[1].txt", "http://h/a%20%5B1%5D.txt", "a [1].txt"),
        ("http://h/a?b[]=x%2Fy", "http://h/a?b%5B%5D=x%2Fy", "a"),
        ("http://h/100%25 {x}", "http://h/100%25%20%7Bx%7D", "100% {x}"),
        ("http://me:p%40w@h:8/\u{fc}%20", "http://me:p%40w@h:8/%C3%BC%20", "\u{fc} "),
        ("http://[::1]:8/a b", "http://[::1]:8/a%20b", "a b"), ("HTTP://h/a%2Fb", "HTTP://h/a%2Fb", nil),
    ])
    func whatIsEscapedInAnAddressStays(address: String, expected: String, name: String?) throws {
        let item = try #require(try plan([address]).first)
        #expect(item.url.absoluteString == expected)
        if let name { #expect(path(item) == name) }
    }
}
