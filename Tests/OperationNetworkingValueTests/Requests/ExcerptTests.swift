import Foundation
import FoundationNetworking
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

/// The sentences of errors: no server decides how long they are.
@Suite struct ExcerptTests {
    private static let long = String(repeating: "x", count: 100_000)
    private static let url = URL(fileURLWithPath: "/")

    private struct Foreign: Error, LocalizedError {
        var errorDescription: String? { ExcerptTests.long }
    }

    @Test(arguments: [
        ("", ""), ("gzip", "gzip"), ("gzip,", "gzip…"), ("gzip, br", "gzip…"), ("äöüß", "äöüß"),
        ("äöüß!", "äöüß…"), ("a\u{301}a\u{301}", "a\u{301}a\u{301}"),
        // A character without end.
        ("a\u{301}\u{301}\u{301}\u{301}", "a\u{301}\u{301}\u{301}…"),
    ])
    func anExcerptHasAsManyScalars(text: String, expected: String) {
        #expect(text.excerpt(4).unicodeScalars.elementsEqual(expected.unicodeScalars))
    }

    // MARK: - Sentences

    private static func serialization(_ reason: ResponseSerializationError.Reason) -> any Error {
        ResponseSerializationError(reason, response: nil, data: nil)
    }

    /// An error that quotes a text of any length, and what its sentence may have in octets.
    private static let rows: [(error: any Error, limit: Int)] = [
        (serialization(.unacceptableContentType(long)), 200),
        (serialization(.undecodableText(charset: long)), 200),
        (serialization(.malformedBody(.json, long)), 300),
        (serialization(.unexpectedStructure(type: "Int", long)), 1300),
        (CompoundResponseSerializer.ChildErrors(errors: [Foreign()]), 510),
        (TransferError.length(.malformedLength(long)).error(for: url), 200),
        (TransferError.length(.conflictingLengths(long)).error(for: url), 200),
        (TransferError.length(.unknownTransferCoding(long)).error(for: url), 200),
        (TransferError.unrequestedCoding(long).error(for: url), 200),
        (URLError.insecure(url: URL(string: "http://\(long).example/")), 200),
        (ResumeError.malformedContentRange(long), 200),
        (ResumeError.rangeMismatch(requested: "bytes=0-1", received: long), 200),
        (DigestError.unknownAlgorithm(long), 200),
        (DigestError.notHexadecimal(long), 200),
        (DigestError.notBase64(long), 200),
        (ServerTrustError(host: long, check: .encryption, serverTrust: nil, url: url), 200),
        (DownloadBatchError.failedBefore(long), 600),
    ]

    @Test func aSentenceQuotesTheBeginning() {
        for (number, row) in Self.rows.enumerated() {
            let sentence = row.error.localizedDescription
            #expect(sentence.contains("xxx…"), "row \(number)")
            #expect(sentence.utf8.count <= row.limit, "row \(number)")
        }
    }

    @Test func aSchemeIsCutOff() throws {
        let url = try #require(URL(string: "\(Self.long)://example.com/"))
        let error = try #require(throws: URLError.self) { try URLRequest(url: url).checkedAddress() }
        #expect(error.localizedDescription.hasPrefix("xxx"))
        #expect(error.localizedDescription.utf8.count < 200)
        #expect(error.failingURL == url)
    }

    @Test func theNameOfAFieldIsCutOff() {
        var reader = ResponseHeadReader()
        for line in ["HTTP/1.1 200 OK\r\n", "\(Self.long) : 3\r\n"] {
            let octets = Array(line.utf8)
            _ = reader.read(octets.span)
        }
        let malformation = reader.malformation ?? ""
        #expect(malformation.contains("xxx…") && malformation.utf8.count < 200)
    }

    // MARK: - Parsers

    /// Foundation quotes a whole number that it cannot represent.
    @Test func aNumberWithoutEndIsCutOff() throws {
        let body = Data("[\(String(repeating: "1", count: 100_000))]".utf8)
        let response = try exampleResponse(200, "application/json")
        let serializers: [any ResponseSerializer] = [
            JSONResponseSerializer(), DecodableResponseSerializer([Int].self),
        ]
        for serializer in serializers {
            let error = try #require(throws: ResponseSerializationError.self) {
                try serializer.responseObject(for: response, data: body)
            }
            #expect(error.localizedDescription.utf8.count < 400)
            #expect(error.description.utf8.count < 400)
            let shown = (error as NSError).userInfo[NSLocalizedDescriptionKey] as? String
            #expect(shown == error.description)
        }
    }
}
