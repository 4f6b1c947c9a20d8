import Foundation
import FoundationNetworking
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

/// The bytes of a paused operation, and what is archived of them.
@Suite struct EarlierBodyTests {
    /// The policy is another one than when the bytes came.
    @Test func bytesThatCameUnverifiedAreNotContinuedUnderAPolicy() throws {
        let url = try #require(URL(string: "https://h/a"))
        let content = PartialContent(fields: ["ETag": "\"v1\""])
        let body = EarlierBody(Data("a".utf8), content)
        for (verification, policy, isTaken) in [
            (.anyServer, .default, false), (.standard, .default, true),
            (.anyServer, SecurityPolicy(allowInvalidCertificates: true, validatesDomainName: false), true),
        ] as [(ServerVerification, SecurityPolicy, Bool)] {
            let archive = try #require(EarlierBodyArchive(body, isOfNamedUser: false, under: verification))
            let read = try JSONDecoder().decode(
                EarlierBodyArchive.self,
                from: JSONEncoder().encode(archive)
            )
            var state = OperationState(request: URLRequest(url: url))
            state.configuration.settings.securityPolicy = policy
            state.earlierBody = read.body
            #expect((state.takeEarlierBody() != nil) == isTaken)
            #expect(state.earlierBody == nil)
        }
    }

    @Test func aWholeBodyLosesItsLastByte() {
        let fields: HeaderFields = ["ETag": "\"v1\"", "Content-Length": "3"]
        let whole = EarlierBody(Data("abc".utf8), PartialContent(fields: fields))
        #expect(whole.incomplete?.data == Data("ab".utf8) && whole.incomplete?.content.offset == 2)
        let part = EarlierBody(Data("a".utf8), PartialContent(fields: fields))
        #expect(part.incomplete?.data == Data("a".utf8))
        let short: HeaderFields = ["ETag": "\"v1\"", "Content-Length": "1"]
        #expect(EarlierBody(Data("a".utf8), PartialContent(fields: short)).incomplete == nil)
    }

    @Test(arguments: [
        ["ETag": "\"v1\"", "Content-Type": "text/plain", "Content-Location": "/a", "Content-Length": "9"],
        ["ETag": "\"v1\""],
        ["Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT", "Date": "Sun, 06 Nov 1994 08:50:37 GMT"],
    ])
    func aRecordSaysWhatTheResponseDid(fields: [String: String]) throws {
        let content = PartialContent(fields: HeaderFields(fields), offset: 5, url: "http://a/")
        let record = try #require(PartialContentRecord(content))
        let read = try JSONDecoder().decode(PartialContentRecord.self, from: JSONEncoder().encode(record))
        #expect(read.partialContent(offset: 5) == content)
    }

    @Test(arguments: [
        #"{}"#, #"{"entityTag": "v1"}"#, #"{"entityTag": "W/\"v1\""}"#, #"{"entityTag": "\"a\r\nb\""}"#,
        #"{"date": "yesterday"}"#, #"{"entityTag": "\"v1\"", "total": 5}"#,
        #"{"entityTag": "\"v1\"", "total": -1}"#,
    ])
    func anInvalidRecordCannotBeContinued(text: String) throws {
        let record = try JSONDecoder().decode(PartialContentRecord.self, from: Data(text.utf8))
        #expect(record.partialContent(offset: 5) == nil)
    }
}
