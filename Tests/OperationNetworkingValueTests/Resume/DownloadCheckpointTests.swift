import Foundation
import FoundationNetworking
import OperationNetworkingSystem
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite struct DownloadCheckpointTests {
    @Test func isReadAsItWasWritten() throws {
        var checkpoint = try Sample.checkpoint(
            try Sample.request("http://example.com/a?b=%20c#d", ["Accept": "text/html", "X-Shape": "round"]),
            blocks: [10, 20]
        )
        checkpoint.namedDigest = try FileDigest.of(Data(), algorithm: .sha256)
        let read = try DownloadCheckpoint(fileBytes: try checkpoint.fileBytes())
        #expect(read == checkpoint)
        #expect(read.committed == 20)
        #expect(read.request.url == "http://example.com/a?b=%20c")
    }

    @Test(arguments: [
        "\"plain\"", "W/\"weak\"", "\"\u{E9}\"", "\"e\u{301}\"", "\"\u{FFFD}\"", "\"a\\b/c\"",
        "\t\u{1F600}\u{1}",
        "Sun, 06 Nov 1994 08:49:37 GMT", "",
    ])
    func fieldValuesSurviveOctetForOctet(value: String) throws {
        let fields: HeaderFields = ["ETag": value, "Last-Modified": value, "etag": "second"]
        let checkpoint = try Sample.checkpoint(try Sample.request(), fields: fields)
        let read = try DownloadCheckpoint(fileBytes: try checkpoint.fileBytes()).origin.headerFields
        #expect(read.values(for: "ETag").count == 2)
        #expect(read.values(for: "ETag")[1] == "second")
        for name in ["ETag", "Last-Modified"] {
            #expect(Array(try #require(read[name]).utf8) == Array(value.utf8))
        }
    }

    @Test func describesItsBytesToTheResumeRules() throws {
        let fields: HeaderFields = [
            "Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT", "Date": "Sun, 06 Nov 1994 08:50:07 GMT",
            "Via": "1.1 cache", "Content-Length": "100", "Content-Type": "text/plain", "Set-Cookie": "a=b",
        ]
        let checkpoint = try Sample.checkpoint(try Sample.request(), fields: fields, total: nil, blocks: [10])
        #expect(checkpoint.origin.headerFields["Set-Cookie"] == nil)
        // Half a minute is not enough for a date that went through a proxy.
        let content = PartialContent(fields: fields, offset: 12, url: checkpoint.origin.url)
        #expect(checkpoint.partialContent(offset: 12) == content)
        #expect(checkpoint.partialContent(offset: 12).validator == .weak)
        #expect(checkpoint.partialContent(offset: 12).total == 100)
    }

    @Test func aTotalThatIsKnownLaterIsKept() throws {
        let checkpoint = try Sample.checkpoint(try Sample.request(), total: 50)
        #expect(checkpoint.partialContent(offset: 1).total == 50)
    }

    @Test func keepsTheLatestBlocks() throws {
        let ends = (1...40).map { Int64($0 * 10) }
        var checkpoint = try Sample.checkpoint(try Sample.request(), total: nil, blocks: ends)
        #expect(checkpoint.blocks.map(\.end) == Array(ends.suffix(16)))
        #expect(checkpoint.committed == 400)
        checkpoint.rollBack(to: 390)
        #expect(checkpoint.committed == 390 && checkpoint.blocks.count == 15)
    }

    // MARK: - What cannot be read

    @Test func aTornFileIsNotReadWhereverItEnds() throws {
        let bytes = try Sample.checkpoint(try Sample.request(), blocks: [10]).fileBytes()
        for length in bytes.indices {
            #expect(throws: DownloadCheckpoint.Unreadable.self) {
                try DownloadCheckpoint(fileBytes: Array(bytes[..<length]))
            }
            var holed = bytes
            for index in length..<bytes.count { holed[index] = 0 }
            #expect(throws: DownloadCheckpoint.Unreadable.self) { try DownloadCheckpoint(fileBytes: holed) }
        }
    }

    @Test func reportsWhyItIsNotRead() throws {
        let text = String(decoding: try Sample.checkpoint(try Sample.request()).fileBytes(), as: UTF8.self)
        func reading(_ text: String) throws { _ = try DownloadCheckpoint(fileBytes: Array(text.utf8)) }
        #expect(throws: DownloadCheckpoint.Unreadable.notACheckpoint) { try reading("[]\n{}") }
        #expect(throws: DownloadCheckpoint.Unreadable.otherSchema) {
            try reading(
                text.replacingOccurrences(of: "download \(DownloadCheckpoint.schema) ", with: "download 99 ")
            )
        }
        #expect(throws: DownloadCheckpoint.Unreadable.damaged) {
            try reading(text.replacingOccurrences(of: "example", with: "elpmaxe"))
        }
        let body = Array("{}".utf8)
        let digest = try body.span.sha256Text()
        #expect(throws: DownloadCheckpoint.Unreadable.damaged) {
            try reading("OperationNetworking-download \(DownloadCheckpoint.schema) \(digest)\n{}")
        }
    }

    @Test func numbersThatMakeNoSenseAreNotRead() throws {
        let tooLong = try Sample.checkpoint(try Sample.request(), total: 5, blocks: [10])
        #expect(throws: DownloadCheckpoint.Unreadable.damaged) {
            try DownloadCheckpoint(fileBytes: try tooLong.fileBytes())
        }
        let negative = try Sample.checkpoint(try Sample.request(), blocks: [2])
        #expect(throws: DownloadCheckpoint.Unreadable.damaged) {
            try DownloadCheckpoint(fileBytes: try negative.fileBytes())
        }
    }

    @Test func aLengthThatMakesNoSenseIsNotRead() throws {
        let checkpoint = try Sample.checkpoint(try Sample.request(), total: -1)
        #expect(throws: DownloadCheckpoint.Unreadable.damaged) {
            try DownloadCheckpoint(fileBytes: try checkpoint.fileBytes())
        }
    }

    @Test func theHighestNumbersAreRead() throws {
        let checkpoint = try Sample.checkpoint(try Sample.request(), total: .max, blocks: [.max])
        let read = try DownloadCheckpoint(fileBytes: try checkpoint.fileBytes())
        #expect(read == checkpoint)
        // What the resume rules make of it.
        let content = checkpoint.partialContent(offset: .max)
        #expect(ResumeRequest(try Sample.request(), continuing: content) == .nothing)
    }

    // MARK: - The request

    @Test func aSecretIsNotWrittenDown() throws {
        let fields = [
            "Authorization": "Bearer hidden1", "Cookie": "a=hidden2", "Proxy-Authorization": "hidden3",
            "X-API-Key": "hidden4", "Private-Token": "hidden5",
        ]
        let checkpoint = try Sample.checkpoint(try Sample.request(Sample.address, fields))
        #expect(!String(decoding: try checkpoint.fileBytes(), as: UTF8.self).contains("hidden"))
        // A proxy's names nobody to the server.
        #expect(checkpoint.request.secretFields.count == 4)
    }

    @Test(arguments: [
        ([:], [:], true),
        (["Accept": "a"], ["accept": "a"], true),
        (["Accept": "a"], ["Accept": "b"], false),
        (["Accept": "a"], [:], false),
        (["Accept-Language": "de"], ["Accept-Language": "fr"], false),
        (["X-Shape": "round"], ["X-Shape": "square"], false),
        (["X-Shape": "\u{E9}"], ["X-Shape": "e\u{301}"], false),
        (["Authorization": "one"], ["Authorization": "two"], true),
        (["Authorization": "one"], [:], true),
        (["User-Agent": "1"], ["User-Agent": "2"], true),
        (["Range": "bytes=1-"], [:], false),
        (["traceparent": "1", "If-Range": "\"a\""], ["traceparent": "2"], true),
    ])
    func requestsThatSelectTheSame(one: [String: String], other: [String: String], areTheSame: Bool) throws {
        let questions = try [Sample.request("http://a/", one), Sample.request("http://b/", other)]
            .map { DownloadRequest($0).texts(varying: []) }
        for (texts, others) in [(questions[0], questions[1]), (questions[1], questions[0])] {
            let match = try RequestDigests(of: texts).match(others)
            #expect(match.contains(.selection) == areTheSame)
            #expect(!match.contains(.location))
        }
    }

    /// One server has many sites.
    @Test(arguments: [
        ("http://h/", "b", false), ("http://h/", "h:8080", false), ("http://h:8080/", "h", false),
        ("http://h/", "h:443", false), ("http://h/", "", false), ("http://h/", "h", true),
        ("http://h/", "H:80", true), ("http://H:80/", "h", true), ("https://h/", "h:443", true),
        ("http://h:8080/", "h:8080", true), ("http://[::1]:8080/", "[::1]:8080", true),
    ])
    func aHostIsAnotherSiteUnlessItIsTheURLsOwn(address: String, host: String, isOwn: Bool) throws {
        let plain = RequestRecord(try Sample.request(address))
        let record = RequestRecord(try Sample.request(address, ["Host": host]))
        #expect(record.selection == plain.selection)
        #expect((record.location == plain.location) == isOwn)
        // The request of a later process has it.
        let request = try #require(record.request)
        #expect(RequestRecord(request) == record)
        #expect((request.value(forHTTPHeaderField: "Host") == nil) == isOwn)
    }

    /// Fields that count only where `Vary` names them.
    @Test(arguments: [
        (["User-Agent": "a"], ["User-Agent": "b"], "user-agent", false),
        (["User-Agent": "a"], [:], "Accept, User-Agent", false),
        ([:], ["Referer": "http://h/"], "Referer", false),
        (["Origin": "http://a"], ["Origin": "http://b"], "Origin", false),
        (["Sec-CH-Width": "1"], ["Sec-CH-Width": "2"], "Sec-CH-Width", false),
        (["Accept-Encoding": "br"], [:], "Accept-Encoding", false),
        (["User-Agent": "a"], ["user-agent": "a"], "User-Agent", true),
        (["User-Agent": "a"], ["User-Agent": "b"], "", true),
        (["User-Agent": "a"], ["User-Agent": "b"], "Referer", true),
        ([:], [:], "Accept-Encoding, User-Agent", true),
        (["If-Range": "\"a\""], [:], "If-Range", true),
        // It counts anyway.
        (["Cookie": "a"], ["Cookie": "b"], "", false),
    ])
    func fieldsThatVaryNames(
        one: [String: String],
        other: [String: String],
        vary: String,
        areTheSame: Bool
    ) throws {
        let origin: HeaderFields = vary.isEmpty ? [:] : ["Vary": vary]
        func checkpoint(_ fields: [String: String]) throws -> DownloadCheckpoint {
            let request = try Sample.request(Sample.address, fields)
            let checkpoint = try Sample.checkpoint(request, fields: origin)
            return try DownloadCheckpoint(fileBytes: checkpoint.fileBytes())
        }
        func question(_ fields: [String: String]) throws -> DownloadRequest {
            DownloadRequest(try Sample.request(Sample.address, fields))
        }
        #expect(try checkpoint(one).match(question(other)) == (areTheSame ? .all : [.location, .selection]))
        #expect(try checkpoint(other).match(question(one)) == (areTheSame ? .all : [.location, .selection]))
        #expect(try checkpoint(one).match(question(one)) == .all)
        // No value is written down.
        #expect(try !String(decoding: checkpoint(one).fileBytes(), as: UTF8.self).contains("http://a"))
    }

    @Test(arguments: [
        ("http://a/f", "http://a/f?token=2", true), ("http://a/f", "http://A:80/f", true),
        ("https://a/f", "https://a:443/f", true), ("http://a", "http://a/?x", true),
        ("http://a/f", "https://a/f", false), ("http://a/f", "http://b/f", false),
        ("http://a/f", "http://a:81/f", false), ("http://a/f", "http://a/g", false),
        ("http://a/f", "http://a/F", false), ("http://a/a%2Fb", "http://a/a/b", false),
    ])
    func aLocationIsSchemeHostPortAndPath(_ one: String, _ other: String, _ isSame: Bool) throws {
        let records = try [one, other].map { RequestRecord(URLRequest(url: try #require(URL(string: $0)))) }
        #expect((records[0].location == records[1].location) == isSame)
        #expect(try records[0].isAt(#require(URL(string: other))) == isSame)
    }

    @Test func aUserInTheURLIsNotRecorded() throws {
        let record = RequestRecord(try Sample.request("http://u:s3cret@h/a"))
        #expect(record == RequestRecord(try Sample.request("http://h/a")))
    }
}
