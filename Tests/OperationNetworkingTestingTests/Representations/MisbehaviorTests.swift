import Foundation
import OperationNetworkingTesting
import Testing

@Suite(.timeLimit(.minutes(1)))
struct MisbehaviorTests {
    private let good = Representation("0123456789", entityTag: .strong("v1"))

    private func response(
        _ misbehavior: Representation.Misbehavior,
        _ fields: String = "Range: bytes=4-7\r\n"
    ) throws -> RawClient.Response {
        try ScriptedServer(serving: good.misbehaving(misbehavior)).get("/", fields)
    }

    @Test func aRangeCanBeIgnored() throws {
        let response = try response(.ignoresRange)
        #expect(response.status == 200)
        #expect(response["Accept-Ranges"] == nil)
        #expect(response.body == "0123456789")
    }

    @Test func aConditionCanBeIgnored() throws {
        let stale = "Range: bytes=4-7\r\nIf-Range: \"v0\"\r\n"
        #expect(try response(.ignoresRange, stale).status == 200)
        #expect(try response(.ignoresIfRange, stale).status == 206)
        #expect(try response(.ignoresConditions, "If-None-Match: \"v1\"\r\n").status == 200)
    }

    @Test func everyRangeCanBeRefused() throws {
        let response = try response(.refusesRanges)
        #expect(response.status == 416)
        #expect(response["Content-Range"] == "bytes */10")
    }

    @Test(arguments: [
        (1, "bytes 5-8/10", "5678"), (-3, "bytes 1-4/10", "1234"), (4, "bytes 8-9/10", "89"),
        (100, "bytes 9-9/10", "9"), (-100, "bytes 0-0/10", "0"),
    ])
    func aRangeCanBeShifted(count: Int, contentRange: String, body: String) throws {
        let response = try response(.shiftsRange(by: count))
        #expect(response["Content-Range"] == contentRange)
        #expect(response.body == body)
    }

    @Test func aRangeCanBeShorterThanRequested() throws {
        let response = try response(.shortensRange(to: 2))
        #expect(response["Content-Range"] == "bytes 4-5/10")
        #expect(response.body == "45")
    }

    @Test func aRangeCanBeShorterThanItSays() throws {
        let response = try response(.truncatesRange(to: 2))
        #expect(response["Content-Range"] == "bytes 4-7/10")
        #expect(response["Content-Length"] == "2")
        #expect(response.body == "45")
    }

    @Test(
        arguments: [
            (.misstatesTotal(11), "bytes 4-7/11"),
            (.misstatesTotal(nil), "bytes 4-7/*"),
            (.sendsContentRange("items 1-2/3"), "items 1-2/3"),
            (.sendsContentRange(nil), nil),
        ] as [(Representation.Misbehavior, String?)]
    )
    func theContentRangeCanBeWrong(misbehavior: Representation.Misbehavior, contentRange: String?) throws {
        let response = try response(misbehavior)
        #expect(response.status == 206)
        #expect(response["Content-Range"] == contentRange)
    }

    @Test func theSizeInARefusalCanBeWrong() throws {
        #expect(try response(.misstatesTotal(3), "Range: bytes=10-\r\n")["Content-Range"] == "bytes */3")
        #expect(try response(.sendsContentRange(nil), "Range: bytes=10-\r\n")["Content-Range"] == nil)
    }

    @Test func aPartCanHaveAnotherTagThanTheWhole() throws {
        #expect(try response(.sendsPartialEntityTag(.strong("v2")))["ETag"] == "\"v2\"")
        #expect(try response(.sendsPartialEntityTag(nil))["ETag"] == nil)
        #expect(try response(.sendsPartialEntityTag(nil), "")["ETag"] == "\"v1\"")
    }

    @Test func aPartCanBeCoded() throws {
        #expect(try response(.sendsPartialContentCoding("gzip"))["Content-Encoding"] == "gzip")
        #expect(try response(.sendsPartialContentCoding("gzip"), "")["Content-Encoding"] == nil)
    }

    @Test func onePartCanComeInSeveralParts() throws {
        let response = try response(.sendsMultipart)
        #expect(response["Content-Type"] == "multipart/byteranges; boundary=part-of-the-whole")
        #expect(response["Content-Range"] == nil)
        #expect(
            response.body == "--part-of-the-whole\r\nContent-Type: application/octet-stream\r\n"
                + "Content-Range: bytes 4-7/10\r\n\r\n4567\r\n--part-of-the-whole--\r\n"
        )
    }

    // MARK: - Change

    @Test func theRepresentationCanBeChangedBetweenAnswers() throws {
        let server = try ScriptedServer(serving: good)
        #expect(try server.get("/", "Range: bytes=4-\r\n").body == "456789")
        server.setRepresentation(Representation("abcdef"))
        server.setRepresentation(Representation("own"), forPath: "/own")
        #expect(try server.get("/", "Range: bytes=4-\r\n").body == "ef")
        #expect(try server.get("/own").body == "own")
        server.setRepresentation(nil)
        #expect(try server.get().status == 404)
    }

    @Test func theRepresentationCanBeChangedDuringAnAnswer() async throws {
        let gate = Gate()
        let server = try ScriptedServer(
            serving: good,
            answers: [.currentRepresentation.held(after: 4, by: gate), .currentRepresentation]
        )
        let client = try RawClient(port: server.port)
        try client.get()
        try await gate.waitForArrivals()
        server.setRepresentation(Representation("abcdef"))
        gate.open()
        #expect(try client.response().body == "0123456789")
        #expect(try server.get().body == "abcdef")
    }

    @Test func oneAnswerOfManyCanBreak() throws {
        let server = try ScriptedServer(
            serving: good,
            answers: [.currentRepresentation.breaking(after: 4), .currentRepresentation]
        )
        let client = try RawClient(port: server.port)
        try client.get()
        #expect(try client.receiveAll().hasSuffix("\r\n\r\n0123"))
        #expect(try server.get("/", "Range: bytes=4-\r\nIf-Range: \"v1\"\r\n").body == "456789")
    }
}
