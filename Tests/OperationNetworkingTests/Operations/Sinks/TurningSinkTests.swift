import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

/// A body whose owner says where it goes: until then the sink has the bytes of before.
@Suite(.timeLimit(.minutes(1)))
struct TurningSinkTests {
    private static let old = PatternBody(seed: 1, length: 200_000)

    /// The server has another version when the operation goes on, and a pause comes before the owner has said
    /// where that one goes.
    @Test("S20", arguments: [60_000, 200_000], [false, true])
    func aPauseBeforeThePlaceIsKnownJoinsNoTwoVersions(length: Int, isFile: Bool) async throws {
        let server = try ScriptedServer(
            serving: Representation(.pattern(Self.old), entityTag: .strong("v1")),
            answers: [.currentRepresentation.stalling(after: .body(60_000)), .currentRepresentation]
        )
        let folder = try TemporaryDirectory()
        let place = isFile ? BodyPlace.file(folder.file()) : .usual
        let operation = SessionDataOperation(request: URLRequest(url: server.url))
        operation.completionQueue = DispatchQueue(label: "callbacks")
        let asked = Recorder<@Sendable (BodyPlace) -> Void>()
        operation.setJudge { _, decide in asked.append(decide) }
        let progress = Recorder<Int64>()
        operation.setDownloadProgress { _, total, _ in progress.append(total) }
        operation.start()
        try await asked.wait()[0](place)
        while progress.elements.last != 60_000 { try await networkThreadIsDone() }
        operation.pause()
        try await server.waitForOpenConnections(0)

        let new = PatternBody(seed: 2, length: length)
        server.setRepresentation(Representation(.pattern(new), entityTag: .strong("v2")))
        operation.resume()
        try await asked.wait(count: 2)
        operation.pause()
        try await networkThreadIsDone()
        operation.resume()
        try await asked.wait(count: 3)[2](place)
        _ = try await operation.value
        let body = isFile ? try Data(contentsOf: folder.file()) : operation.responseData
        #expect(body == new.data)
        // Of another length it may be the rest, so the whole is asked for (S28), both times.
        let tag = "\"v1\""
        #expect(
            server.requests.map { $0["If-Range"] }
                == (length == 200_000 ? [nil, tag, tag] : [nil, tag, nil, nil])
        )
    }

    /// The next answer may be an error, whose body goes elsewhere.
    @Test func aPlaceThatWasNotAskedForAnyMoreThrowsNothingAway() throws {
        let sink = TurningSink(limit: 100)
        func start(_ content: Int) throws -> BodyStart {
            BodyStart(
                place: .start(nil),
                total: 10,
                head: ResponseHead(version: "HTTP/1.1", status: 200, fields: [:]),
                url: try #require(URL(string: Sample.address)),
                content: content
            )
        }
        try sink.prepare(start(1))
        #expect(sink.held == HeldBytes())
        try sink.turn(to: .usual)
        try sink.write(Array("01234".utf8).span)
        try sink.prepare(start(2))
        #expect(sink.held == HeldBytes(count: 5, content: 1))
        sink.goOn()
        try sink.turn(to: .usual)
        #expect(sink.held == HeldBytes(count: 5, content: 1))
    }
}
