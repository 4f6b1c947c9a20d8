import Foundation
import Testing

@testable import opget

@Suite struct FileNameTests {
    private func name(_ address: String) throws -> String {
        try FileName(suggestedBy: #require(URL(string: address))).text
    }

    @Test(arguments: [
        ("http://h/a/b.iso", "b.iso"),
        ("http://h/b.iso?x=1/2#f", "b.iso"),
        ("http://h", "index.html"),
        ("http://h/", "index.html"),
        ("http://h/dir/", "index.html"),
        ("http://h/?q", "index.html"),
        ("http://h/a%20b.txt", "a b.txt"),
        ("http://h/%E6%97%A5.txt", "日.txt"),
        ("http://h/x%FFy", "x%FFy"),
        ("http://h/..%2F..%2Fetc%2Fpasswd", ".._.._etc_passwd"),
        ("http://h/%2Fetc", "_etc"),
        ("http://h/a%00b%1B%5B31m%0A", "a_b_[31m_"),
        ("http://h/gpj.%E2%80%AEexe", "gpj._exe"),
        ("http://h/...", "..."),
        ("http://h/.hidden", ".hidden"),
    ])
    func comesFromTheAddress(address: String, expected: String) throws {
        #expect(try name(address) == expected)
    }

    @Test(arguments: ["http://h/a/..", "http://h/.", "http://h/%2e%2E", "http://h/a/%2E"])
    func refusesTheNamesOfDirectories(address: String) {
        #expect(throws: Failure.self) { try name(address) }
    }
}
