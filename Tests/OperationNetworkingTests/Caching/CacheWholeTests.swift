import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// Servers that send a part and forget to say so, with a cache before the network: no part is taken for the
/// whole.
@Suite(.timeLimit(.minutes(1)))
struct CacheWholeTests {
    private static let whole = Data((0..<600_000).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ ($0 >> 9)) })
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// Breaks the whole off, and answers each `Range` with the rest, as 200.
    private static func forgetful() throws -> ScriptedServer {
        try ScriptedServer { request in
            let fields: FieldLines = ["ETag": "\"v1\"", "Cache-Control": "max-age=60"]
            guard let range = request.headers["Range"] else {
                return .respond(
                    200,
                    fields,
                    body: .data(whole),
                    breakingAfter: request.number == 0 ? 200_000 : nil
                )
            }
            let start = Int(range.dropFirst(6).dropLast()) ?? 0
            return .respond(200, fields, body: .data(Data(whole[start...])))
        }
    }

    enum Way: CaseIterable { case memory, file, download }

    @Test("S28: a partial body with the status 200 is not the whole", arguments: Way.allCases)
    func thePartialBodyIsNotStoredAsTheWhole(way: Way) async throws {
        let scene = CacheScene(try Self.forgetful())
        #expect(await scene.fetch().error != nil)
        let file = directory.file("file")
        var bytes: Data?
        switch way {
        case .memory:
            bytes = await scene.fetch().responseData
        case .file:
            #expect(await scene.fetch(scene.request()) { $0.outputFile = file }.error == nil)
            bytes = try Data(contentsOf: file)
        case .download:
            let operation = scene.manager.downloadOperation(for: scene.request(), to: file)
            scene.manager.operationQueue.addOperation(operation)
            _ = try await operation.value
            bytes = try Data(contentsOf: file)
        }
        #expect(bytes == Self.whole)
        #expect(scene.server.requests.count == 2)
    }

    /// A body that a caller's own range brought is no answer to who wants the whole.
    @Test(arguments: [nil, "bytes 800-1599/1600", "bytes 0-799/1600"])
    func aSuccessToARangeIsNotStoredAsTheWhole(contentRange: String?) async throws {
        let all = Data(Self.whole.prefix(1_600))
        let server = try ScriptedServer { request in
            let fields: FieldLines = ["ETag": "\"v1\"", "Cache-Control": "max-age=60"]
            let part: FieldLines =
                contentRange.map {
                    ["ETag": "\"v1\"", "Cache-Control": "max-age=60", "Content-Range": $0]
                } ?? fields
            return request.headers["Range"] == nil
                ? .respond(200, fields, body: .data(all))
                : .respond(200, part, body: .data(Data(all[800...])))
        }
        let scene = CacheScene(server)
        await scene.fetch("/", ["Range": "bytes=800-"])
        let plain = await scene.fetch()
        #expect(plain.responseData == all && plain.responseSource == .network)
        // Of the whole a range is cut, as before.
        let range = await scene.fetch("/", ["Range": "bytes=800-"])
        #expect(range.responseData == Data(all[800...]) && range.response?.statusCode == 206)
        #expect(range.responseSource == .cache && server.requests.count == 2)
    }

    /// Where the head has no length, the end says that it is none.
    @Test func aChunkedPartThatClaimsToBeTheWholeIsNotStored() async throws {
        let fields: FieldLines = ["Cache-Control": "max-age=60", "Content-Range": "bytes 0-99/100"]
        let server = try ScriptedServer { request in
            .respond(200, fields, body: .data(Data(Self.whole.prefix(request.path == "/" ? 50 : 100))))
                .chunked()
        }
        let scene = CacheScene(server)
        for path in ["/", "/whole"] { await scene.fetch(path) }
        #expect(await scene.fetch().responseSource != .cache)
        #expect(await scene.fetch("/whole").responseSource == .cache)
    }

    @Test(arguments: [(206, nil), (200, "bytes 5-9/10")] as [(Int, String?)])
    func theCallerCannotStoreAPart(status: Int, contentRange: String?) throws {
        let cache = ResponseCache(memoryCapacity: 1 << 20, diskCapacity: 0, directory: nil)
        let url = try #require(URL(string: "http://h/a"))
        var fields = ["Cache-Control": "max-age=60"]
        fields["Content-Range"] = contentRange
        let response = try #require(
            HTTPURLResponse(url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: fields)
        )
        let request = URLRequest(url: url)
        cache.storeCachedResponse(
            CachedURLResponse(response: response, data: Data("56789".utf8)),
            for: request
        )
        #expect(cache.cachedResponse(for: request) == nil)
    }
}
