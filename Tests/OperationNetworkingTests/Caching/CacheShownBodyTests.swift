import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// Bodies that the caller's closure has changed on their way to the store.
@Suite(.timeLimit(.minutes(1)))
struct CacheShownBodyTests {
    private static let tagged = Representation(
        .text("0123456789"),
        entityTag: .strong("v1"),
        headers: ["Cache-Control": "max-age=60"]
    )
    private static let dated = Representation(
        .text("0123456789"),
        lastModified: Date(timeIntervalSince1970: 946_684_790),
        headers: ["Cache-Control": "max-age=60"]
    )

    /// A cache that has the response with the body `text`.
    private func scene(_ server: ScriptedServer, storing text: String) async throws -> CacheScene {
        let scene = CacheScene(server)
        await scene.fetch(scene.request()) { operation in
            operation.setCacheResponse { proposed in
                CachedURLResponse(response: proposed.response, data: Data(text.utf8))
            }
        }
        // The closure's answer is on its way.
        try await eventually { scene.cache.cachedResponse(for: scene.request()) != nil }
        return scene
    }

    @Test func theServersBytesAreNotContinuedByOthers() async throws {
        let server = try ScriptedServer { _ in .representation(Self.tagged) }
        let scene = try await scene(server, storing: "abcdefghij")
        // A client that has five bytes of the server's.
        let rest = await scene.fetch("/", ["Range": "bytes=5-", "If-Range": "\"v1\""])
        #expect(rest.response?.statusCode == 200 && rest.text == "abcdefghij")
        // And one that has five of the others, and may ask the server for the rest.
        let part = await scene.fetch("/", ["Range": "bytes=0-4"])
        #expect(part.text == "abcde" && part.response?.value(forHTTPHeaderField: "ETag") == "W/\"v1\"")
        #expect(server.requests.count == 1)
    }

    @Test func otherBytesAreStillValidated() async throws {
        let server = try ScriptedServer { _ in .representation(Self.tagged) }
        let scene = try await scene(server, storing: "abcdefghij")
        scene.pass(100)
        // The tag of the 304 is a strong one, and of other bytes, too.
        for _ in 0..<2 {
            let operation = await scene.fetch()
            #expect(operation.text == "abcdefghij" && operation.responseSource == .validated)
            #expect(operation.response?.value(forHTTPHeaderField: "ETag") == "W/\"v1\"")
        }
        #expect(server.requests.count == 3)
    }

    @Test func otherBytesHaveNoDateThatNamesTheServers() async throws {
        let server = try ScriptedServer { _ in .representation(Self.dated) }
        let scene = try await scene(server, storing: "abcdefghij")
        let whole = await scene.fetch()
        #expect(whole.text == "abcdefghij" && whole.responseSource == .cache)
        #expect(whole.response?.value(forHTTPHeaderField: "Last-Modified") == nil)
    }

    @Test func theSameBytesKeepTheirTag() async throws {
        let server = try ScriptedServer { _ in .representation(Self.tagged) }
        let scene = try await scene(server, storing: "0123456789")
        let rest = await scene.fetch("/", ["Range": "bytes=5-", "If-Range": "\"v1\""])
        #expect(rest.response?.statusCode == 206 && rest.text == "56789" && rest.responseSource == .cache)
    }
}
