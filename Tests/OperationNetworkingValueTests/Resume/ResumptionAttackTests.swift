import Foundation
import FoundationNetworking
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

/// A question stays what it is until an answer to it has come: a redirect, an error and a broken connection are none.
@Suite struct ResumptionAttackTests {
    private static let file = SinkAbilities(canBeEmptied: true, canCompare: true)

    /// Five bytes of a body are there.
    private func resumption(_ fields: HeaderFields = ["ETag": "\"v1\"", "Content-Length": "10"]) -> Resumption
    {
        var resumption = Resumption(isAllowed: true)
        resumption.take(PartialContent(fields: fields, offset: 5))
        return resumption
    }

    private func answer(
        _ status: Int,
        _ fields: HeaderFields,
        to resumption: inout Resumption
    ) -> ResumeDecision {
        let head = ResponseHead(version: "HTTP/1.1", status: status, fields: fields)
        return resumption.judge(head, held: StoredBytes(count: 5), abilities: Self.file)
    }

    @Test("S7, S40") func theWholeIsRequestedAfterARedirectToo() throws {
        let request = try Sample.request()
        var resumption = resumption()
        #expect(resumption.ask(request, held: StoredBytes(count: 5)) == .rest(from: 5, ifRange: "\"v1\""))
        #expect(answer(206, ["ETag": "\"v1\""], to: &resumption) == .ask(.whole(because: .invalidResponse)))
        #expect(resumption.ask(request, held: StoredBytes(count: 5)) == .whole)
        #expect(resumption.ask(request, held: StoredBytes(count: 5)) == .whole)
    }

    @Test("S35, S40") func theHeadIsRequestedAfterARedirectToo() throws {
        let request = try Sample.request()
        var resumption = resumption(["ETag": "\"v1\""])
        _ = resumption.ask(request, held: StoredBytes(count: 5))
        #expect(answer(416, ["Content-Range": "bytes */5"], to: &resumption) == .ask(.confirmation))
        #expect(resumption.ask(request, held: StoredBytes(count: 5)) == .confirmation)
        #expect(resumption.ask(request, held: StoredBytes(count: 5)) == .confirmation)
        #expect(
            answer(200, ["ETag": "\"v1\"", "Content-Length": "5"], to: &resumption) == .alreadyComplete
        )
    }

    @Test("B10, S43") func bytesToRepeatAreRequestedAfterAnErrorToo() throws {
        let request = try Sample.request()
        var resumption = resumption(["ETag": "\"v1\"", "Content-Length": "5"])
        #expect(resumption.ask(request, held: StoredBytes(count: 5)) == .nothing)
        resumption.startOver(because: .digestMismatch)
        #expect(resumption.ask(request, held: StoredBytes(count: 5)) == .whole)
        #expect(answer(503, [:], to: &resumption) == .deliver)
        #expect(resumption.ask(request, held: StoredBytes(count: 5)) == .whole)
        #expect(
            answer(200, ["ETag": "\"v1\"", "Content-Length": "5"], to: &resumption)
                == .replace(total: 5, because: .digestMismatch)
        )
        #expect(
            resumption.ask(request, held: StoredBytes(count: 2, content: 1))
                == .rest(from: 2, ifRange: "\"v1\"")
        )
    }

    // MARK: - Between the head of another content and its first byte

    /// The bytes of a sink after the head of another version, and the next question.
    struct Aftermath: CustomTestStringConvertible {
        let testDescription: String
        let held: StoredBytes
        let asks: ResumeRequest
    }

    private static let aftermaths = [
        Aftermath(
            testDescription: "the old bytes are still there, or there again",
            held: StoredBytes(count: 5),
            asks: .rest(from: 5, ifRange: "\"v1\"")
        ),
        Aftermath(
            testDescription: "they are thrown away",
            held: StoredBytes(count: 0, content: 1),
            asks: .whole
        ),
        Aftermath(
            testDescription: "bytes of the other version came",
            held: StoredBytes(count: 5, content: 1),
            asks: .rest(from: 5, ifRange: "\"v2\"")
        ),
        Aftermath(
            testDescription: "all of the other version came",
            held: StoredBytes(count: 10, content: 1),
            asks: .nothing
        ),
        Aftermath(
            testDescription: "bytes of which nothing is known",
            held: StoredBytes(count: 5, content: 3),
            asks: .whole
        ),
    ]

    @Test("S20", arguments: aftermaths)
    func theRequestDependsOnTheExistingBytes(_ aftermath: Aftermath) throws {
        let request = try Sample.request()
        var resumption = resumption()
        _ = resumption.ask(request, held: StoredBytes(count: 5))
        #expect(
            answer(200, ["ETag": "\"v2\"", "Content-Length": "10"], to: &resumption)
                == .replace(total: 10, because: .resourceChanged)
        )
        #expect(resumption.contentNumber == 1)
        #expect(resumption.ask(request, held: aftermath.held) == aftermath.asks)
        // However often it is asked.
        #expect(resumption.ask(request, held: aftermath.held) == aftermath.asks)
    }

    /// As many bytes as the other version has are not that version.
    @Test("S20, P7") func bytesOfAnotherVersionAreNeverComplete() throws {
        let request = try Sample.request()
        // No length is known, so no other one says that a 200 may be the rest (S28).
        var resumption = resumption(["ETag": "\"v1\""])
        let other: HeaderFields = ["ETag": "\"v2\"", "Content-Length": "5"]
        _ = resumption.ask(request, held: StoredBytes(count: 5))
        #expect(answer(200, other, to: &resumption) == .ask(.whole(because: .resourceChanged)))
        #expect(resumption.ask(request, held: StoredBytes(count: 5)) == .whole)
        #expect(answer(200, other, to: &resumption) == .replace(total: 5, because: .resourceChanged))
        #expect(resumption.ask(request, held: StoredBytes(count: 5)) == .whole)
        // Nor are they given to an archive under the other tag.
        #expect(resumption.content(of: StoredBytes(count: 5)) == nil)
        #expect(resumption.canComeAgain(request, held: StoredBytes(count: 5)))
    }

    @Test("B10, S20") func whyTheWholeHasToComeIsKnownAsLongAsTheBytesAreThere() throws {
        let request = try Sample.request()
        var resumption = resumption()
        resumption.startOver(because: .digestMismatch)
        let whole: HeaderFields = ["ETag": "\"v1\"", "Content-Length": "10"]
        for _ in 0..<2 {
            #expect(resumption.ask(request, held: StoredBytes(count: 5)) == .whole)
            #expect(
                answer(200, whole, to: &resumption) == .replace(total: 10, because: .digestMismatch)
            )
        }
    }

    /// Two contents have begun, and neither came as far as the file: nothing is known of its bytes any more.
    @Test("S20") func anOlderVersionIsNotContinuedAfterTwoOthers() throws {
        let request = try Sample.request()
        var resumption = resumption()
        _ = resumption.ask(request, held: StoredBytes(count: 5))
        for tag in ["\"v2\"", "\"v3\""] {
            let head = ResponseHead(
                version: "HTTP/1.1",
                status: 200,
                fields: ["ETag": tag, "Content-Length": "10"]
            )
            let held = StoredBytes(count: 1, content: resumption.contentNumber)
            _ = resumption.judge(head, held: held, abilities: Self.file)
        }
        #expect(resumption.ask(request, held: StoredBytes(count: 5)) == .whole)
        #expect(
            answer(200, ["ETag": "\"v3\"", "Content-Length": "10"], to: &resumption)
                == .replace(total: 10, because: .resourceChanged)
        )
        // A number is never given again.
        #expect(resumption.contentNumber == 3)
    }
}
