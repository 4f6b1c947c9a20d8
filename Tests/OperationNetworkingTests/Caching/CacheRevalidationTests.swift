import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// Validations in the background (RFC 5861 §3) whose bodies nothing takes.
@Suite(.timeLimit(.minutes(1)))
struct CacheRevalidationTests {
    /// A body that does not come to its end, and is not stored.
    enum Endless: CaseIterable {
        case long, untilClose, chunked, chunkedAndShort, tooLongForTheStore

        func answer(_ gate: Gate) -> Answer {
            let body = AnswerBody.generated(length: 1 << 20)
            let answer = Answer.respond(200, ["Cache-Control": "no-store"], body: body)
            return switch self {
            case .long: answer.held(after: .body(1_000), by: gate)
            case .untilClose: answer.untilClose().held(after: .body(1_000), by: gate)
            case .chunked: answer.chunked().held(after: .body(500_000), by: gate)
            case .chunkedAndShort: answer.chunked().held(after: .body(1_000), by: gate)
            case .tooLongForTheStore:
                .respond(200, ["Cache-Control": "max-age=60"], body: body).chunked()
                    .held(after: .body(500_000), by: gate)
            }
        }
    }

    @Test(arguments: Endless.allCases) func anUnusedLongBodyIsNotReceived(_ endless: Endless) async throws {
        let gate = Gate()
        let stale = Answer.respond(
            200,
            ["ETag": "\"v1\"", "Cache-Control": "max-age=10, stale-while-revalidate=600"],
            body: "one"
        )
        let server = try ScriptedServer { request in
            request.headers["If-None-Match"] == nil ? stale : endless.answer(gate)
        }
        let scene = CacheScene(server, memoryCapacity: 300_000)
        var request = scene.request()
        // No timeout ends an answer that is not left.
        request.timeoutInterval = 0
        await scene.fetch(request)
        scene.pass(11)
        // The gate stays shut: an answer ends when the client closes its connection. Then another
        // validation may begin.
        for round in 1...2 {
            #expect(await scene.fetch(request).responseSource == .stale)
            try await server.waitForAnswers(count: round + 1)
            try await networkThreadIsDone()
        }
        #expect(server.requests.count == 3)
    }

    /// The connection is kept by that.
    @Test func anUnusedShortBodyIsReceived() async throws {
        let server = try ScriptedServer { request in
            guard request.headers["If-None-Match"] != nil else {
                return .respond(
                    200,
                    ["ETag": "\"v1\"", "Cache-Control": "max-age=10, stale-while-revalidate=600"],
                    body: "one"
                )
            }
            return .respond(200, ["Cache-Control": "no-store"], body: .generated(length: 10_000))
        }
        let scene = CacheScene(server)
        await scene.fetch()
        scene.pass(11)
        for round in 1...2 {
            #expect(await scene.fetch().responseSource == .stale)
            try await scene.waitForRevalidation()
            #expect(server.requests.count == round + 1)
        }
        #expect(server.connectionsAccepted == 1)
    }
}
