import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// Streams that end in every way there is, over cleartext HTTP/2 with prior knowledge.
///
/// Each has a connection of its own: with prior knowledge libcurl 7.88 sometimes starts HTTP/2 inside HTTP/2 on one that
/// is used again. Sharing is tested with TLS, which is the only way that users get to HTTP/2; see `RealServerTests`.
@Suite(.timeLimit(.minutes(1)))
struct HTTP2Tests {
    struct Ending: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var ending: HTTP2Ending
    }

    /// Of a body of ten bytes.
    static let broken = [
        Ending(testDescription: "RST_STREAM NO_ERROR", ending: .reset(code: 0, after: 4)),
        Ending(testDescription: "RST_STREAM PROTOCOL_ERROR", ending: .reset(code: 1, after: 4)),
        Ending(testDescription: "RST_STREAM INTERNAL_ERROR", ending: .reset(code: 2, after: 4)),
        Ending(testDescription: "RST_STREAM CANCEL", ending: .reset(code: 8, after: 4)),
        Ending(testDescription: "RST_STREAM before the body", ending: .reset(code: 2, after: 0)),
        Ending(testDescription: "RST_STREAM NO_ERROR before the body", ending: .reset(code: 0, after: 0)),
        Ending(testDescription: "GOAWAY NO_ERROR", ending: .goAway(code: 0, after: 4)),
        Ending(testDescription: "GOAWAY INTERNAL_ERROR", ending: .goAway(code: 2, after: 4)),
        Ending(testDescription: "the end of the connection", ending: .close(after: 4)),
        Ending(testDescription: "the end of the connection before the body", ending: .close(after: 0)),
    ]

    private func transfer(
        _ fields: FieldLines,
        body: AnswerBody = "0123456789",
        _ ending: HTTP2Ending,
        isHeld: Bool,
        acceptsContentCoding: Bool = false
    ) async throws -> TestTransfer {
        let gate = Gate()
        let server = try HTTP2Server([
            .respond(200, fields, body: body, ending: ending, endingAfter: isHeld ? gate : nil)
        ])
        let transfer = TestTransfer(
            .plain(server.url, version: .http2PriorKnowledge, acceptsContentCoding: acceptsContentCoding)
        ).start()
        if isHeld {
            try await gate.waitForArrivals()
            try await networkThreadIsDone()
            gate.open()
        }
        // While there is a server.
        _ = try await transfer.end()
        return transfer
    }

    /// The error has one of these codes, by libcurl or by the judgement of the library, whichever is first.
    private func expect(
        _ codes: [URLError.Code],
        orUnprovable: Bool = false,
        _ transfer: TestTransfer
    ) async throws {
        let end = try await transfer.end()
        let isUnprovable = end.sentence?.contains(Self.unprovable) == true
        #expect((orUnprovable && isUnprovable) || end.code.map(codes.contains) == true, "\(end)")
    }

    /// Why a body whose end cannot be proven is not received.
    private static let unprovable = "cannot be distinguished from a reset"

    @Test(arguments: [false, true])
    func aWholeStreamIsASuccess(isHeld: Bool) async throws {
        let transfer = try await transfer(["content-length": "10"], .whole, isHeld: isHeld)
        let end = try await transfer.end()
        #expect(end.operationError == nil, "\(end)")
        #expect(transfer.body == "0123456789")
        #expect(end.measured.httpVersion == "2")
    }

    @Test(arguments: broken, [false, true])
    func aTruncatedStreamIsAnErrorIfItsLengthIsKnown(ending: Ending, isHeld: Bool) async throws {
        let transfer = try await transfer(["content-length": "10"], ending.ending, isHeld: isHeld)
        try await expect([.networkConnectionLost], transfer)
    }

    /// libcurl 7.88 calls some of these a success. Prior knowledge cannot be asked again over HTTP/1.1, so the end of
    /// such a body is an error before it begins.
    @Test(arguments: broken, [false, true])
    func aTruncatedStreamIsAnErrorIfItsLengthIsUnknown(ending: Ending, isHeld: Bool) async throws {
        let transfer = try await transfer([:], ending.ending, isHeld: isHeld)
        try await expect([.networkConnectionLost], orUnprovable: true, transfer)
    }

    @Test(arguments: broken)
    func aTruncatedStreamIsAnErrorIfItsCodingKnowsTheEnd(ending: Ending) async throws {
        for isHeld in [false, true] {
            let transfer = try await transfer(
                ["content-encoding": "gzip"],
                body: .data(CodedBody.gzip),
                ending.ending,
                isHeld: isHeld,
                acceptsContentCoding: true
            )
            try await expect([.networkConnectionLost, .cannotDecodeRawData], orUnprovable: true, transfer)
        }
    }

    @Test func aCodedBodyThatIsWholeNeedsNoLength() async throws {
        let transfer = try await transfer(
            ["content-encoding": "gzip"],
            body: .data(CodedBody.gzip),
            .whole,
            isHeld: false,
            acceptsContentCoding: true
        )
        let end = try await transfer.end()
        #expect(end.operationError == nil, "\(end)")
        #expect(transfer.body == CodedBody.text)
    }

    @Test func aResponseWithoutABodyNeedsNoLength() async throws {
        let server = try HTTP2Server([.respond(204)])
        let end = try await TestTransfer(.plain(server.url, version: .http2PriorKnowledge)).start().end()
        #expect(end.operationError == nil, "\(end)")
    }

    @Test func aDeclaredLengthThatIsWrongIsAnError() async throws {
        for length in ["5", "20", "x", "10, 11"] {
            let transfer = try await transfer(["content-length": length], .whole, isHeld: false)
            try await expect([.networkConnectionLost, .badServerResponse], transfer)
        }
    }
}
