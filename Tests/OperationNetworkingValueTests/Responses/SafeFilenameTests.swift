import Foundation
import FoundationNetworking
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite struct SafeFilenameTests {
    private func name(_ disposition: String?, _ address: String = "http://h/a/b%20c.iso?x=1") throws -> String
    {
        let url = try #require(URL(string: address))
        let fields = disposition.map { ["Content-Disposition": $0] } ?? [:]
        let response = HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: fields)
        return try #require(response).safeFilename
    }

    @Test(arguments: [
        ("attachment; filename=plan.pdf", "plan.pdf"),
        ("attachment; filename=\"a b.pdf\"", "a b.pdf"),
        ("inline; FileName = \"a.pdf\" ; size=3", "a.pdf"),
        ("ATTACHMENT;filename=my plan.pdf", "my plan.pdf"),
        ("filename=\"a.pdf\"", "a.pdf"),
        // Quoted pairs, and separators within quotes.
        (#"attachment; filename="a\"b.pdf""#, #"a"b.pdf"#),
        (#"attachment; filename="a;b=c.pdf""#, "a;b=c.pdf"),
        // UTF-8 as it is, and no percent-encoding where there is none.
        ("attachment; filename=\"报告.pdf\"", "报告.pdf"),
        ("attachment; filename=\"a%20b.pdf\"", "a%20b.pdf"),
    ])
    func thePlainNameIsTaken(disposition: String, expected: String) throws {
        #expect(try name(disposition) == expected)
    }

    /// RFC 6266 §4.3 and RFC 8187.
    @Test(arguments: [
        ("attachment; filename*=UTF-8''%E6%8A%A5.pdf", "报.pdf"),
        ("attachment; filename*=utf-8'en'a%20b.pdf; filename=x.pdf", "a b.pdf"),
        ("attachment; filename=x.pdf; FILENAME*=UTF-8''%e2%82%ac.pdf", "€.pdf"),
        ("attachment; filename*=ISO-8859-1''%E9t%E9.pdf", "été.pdf"),
        ("attachment; filename*=\"UTF-8''a.pdf\"", "a.pdf"),
        // Malformed, or in another character set: the plain name counts.
        ("attachment; filename*=UTF-8''%E6%8A.pdf; filename=x.pdf", "x.pdf"),
        ("attachment; filename*=UTF-8''%4; filename=x.pdf", "x.pdf"),
        ("attachment; filename*=UTF-8''%+1; filename=x.pdf", "x.pdf"),
        ("attachment; filename*=KOI8-R''a; filename=x.pdf", "x.pdf"),
        ("attachment; filename*=a.pdf; filename=x.pdf", "x.pdf"),
        ("attachment; filename*=UTF-8''..; filename=x.pdf", "x.pdf"),
    ])
    func theExtendedNameComesFirst(disposition: String, expected: String) throws {
        #expect(try name(disposition) == expected)
    }

    @Test(arguments: [
        nil, "", "attachment", "attachment; filename", "attachment; filename=", "attachment; filename=\"\"",
        "attachment; filename=.", "attachment; filename=\"..\"", "attachment; filename=\"a/\"",
        "attachment; filename=\" \"", "attachment; x-filename=a", "form-data; name=a",
    ])
    func withoutANameTheURLsLastPartIsTaken(disposition: String?) throws {
        #expect(try name(disposition) == "b c.iso")
        #expect(try name(disposition, "http://h/a/") == "index.html")
        #expect(try name(disposition, "http://h") == "index.html")
        #expect(try name(disposition, "http://h/a/%2e%2e") == "index.html")
        #expect(try name(disposition, "http://h/a.part") == "a.part_")
        #expect(try name(disposition, "http://h/a%2EPART.resume?x=1") == "a.PART.resume_")
    }

    @Test(arguments: [
        ("../../etc/passwd", "passwd"), ("/etc/passwd", "passwd"), (#"C:\\dir\\a.txt"#, "a.txt"),
        ("a\u{0}b\u{7F}\u{85}c", "a_b__c"), ("a\u{1B}[31m", "a_[31m"), ("a\tb", "a_b"),
        ("gpj.\u{202E}exe", "gpj._exe"), ("\u{2066}a\u{61C}", "_a_"), ("a\u{2028}b\u{2029}c", "a_b_c"),
        ("a.part", "a.part_"), ("a.PART.resume", "a.PART.resume_"),
        ("a.part.resume.new", "a.part.resume.new_"),
        ("👩‍💻.txt", "👩‍💻.txt"), (" a.txt ", "a.txt"), ("...", "..."),
    ])
    func theNameIsOneNameThatReadsAsItIs(raw: String, expected: String) throws {
        #expect(SafeFilename(disposition: "attachment; filename=\"\(raw)\"")?.text == expected)
    }

    @Test(arguments: [
        (String(repeating: "a", count: 255), String(repeating: "a", count: 255)),
        (String(repeating: "a", count: 300), String(repeating: "a", count: 255)),
        (String(repeating: "a", count: 300) + ".iso", String(repeating: "a", count: 251) + ".iso"),
        (String(repeating: "a", count: 300) + ".tar.gz", String(repeating: "a", count: 248) + ".tar.gz"),
        (String(repeating: "日", count: 100) + ".z", String(repeating: "日", count: 84) + ".z"),
        ("." + String(repeating: "a", count: 300), "." + String(repeating: "a", count: 254)),
        (String(repeating: "a", count: 300) + ".part", String(repeating: "a", count: 249) + ".part_"),
    ])
    func isCutToTheLongestNameWithItsExtension(raw: String, expected: String) throws {
        #expect(try name("attachment; filename=\"\(raw)\"") == expected)
    }

    @Test func oneEndlessCharacterIsCutToo() {
        let shortened = SafeFilename.shortened("e" + String(repeating: "\u{301}", count: 400), toBytes: 255)
        #expect(!shortened.isEmpty && shortened.utf8.count <= 255)
    }
}
