import Foundation
import FoundationNetworking
import Testing

@testable import OperationNetworking

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
        return resumption.judge(head, held: 5, abilities: Self.file)
    }

    @Test("S7, S40") func theWholeIsAskedForBehindARedirectToo() throws {
        let request = try Sample.request()
        var resumption = resumption()
        #expect(resumption.ask(request, held: 5) == .rest(from: 5, ifRange: "\"v1\""))
        #expect(answer(206, ["ETag": "\"v1\""], to: &resumption) == .ask(.whole(because: .invalidAnswer)))
        #expect(resumption.ask(request, held: 5) == .whole)
        #expect(resumption.ask(request, held: 5) == .whole)
    }

    @Test("S35, S40") func theHeadIsAskedForBehindARedirectToo() throws {
        let request = try Sample.request()
        var resumption = resumption(["ETag": "\"v1\""])
        _ = resumption.ask(request, held: 5)
        #expect(answer(416, ["Content-Range": "bytes */5"], to: &resumption) == .ask(.confirmation))
        #expect(resumption.ask(request, held: 5) == .confirmation)
        #expect(resumption.ask(request, held: 5) == .confirmation)
        #expect(
            answer(200, ["ETag": "\"v1\"", "Content-Length": "5"], to: &resumption) == .alreadyComplete
        )
    }

    @Test("B10, S43") func whatHasToComeAgainIsAskedForAfterAnErrorToo() throws {
        let request = try Sample.request()
        var resumption = resumption(["ETag": "\"v1\"", "Content-Length": "5"])
        #expect(resumption.ask(request, held: 5) == .nothing)
        resumption.startOver(because: .digestMismatch)
        #expect(resumption.ask(request, held: 5) == .whole)
        #expect(answer(503, [:], to: &resumption) == .deliver)
        #expect(resumption.ask(request, held: 5) == .whole)
        #expect(
            answer(200, ["ETag": "\"v1\"", "Content-Length": "5"], to: &resumption)
                == .replace(total: 5, because: .digestMismatch)
        )
        #expect(resumption.ask(request, held: 2) == .rest(from: 2, ifRange: "\"v1\""))
    }
}
