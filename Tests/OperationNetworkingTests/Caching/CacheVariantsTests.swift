import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingSystem
@testable import OperationNetworkingTestSupport

/// Several responses under one URL: versions, variants and sites.
@Suite(.timeLimit(.minutes(1)))
struct CacheVariantsTests {
    private static func representation(_ text: String, _ tag: String) -> Representation {
        Representation(.text(text), entityTag: .strong(tag), headers: ["Cache-Control": "max-age=60"])
    }

    // MARK: - Versions

    @Test func aTruncatedReloadOfTheSameVersionStoresNothing() async throws {
        let same = Self.representation("0123456789", "v1")
        let server = try ScriptedServer([
            .representation(same), .representation(same).breaking(after: .body(4)),
        ])
        let scene = CacheScene(server)
        await scene.fetch()
        await scene.fetch(policy: .reloadIgnoringLocalCacheData)
        #expect(scene.stored().map(\.length) == [10])
    }

    @Test(arguments: [URLRequest.CachePolicy.reloadIgnoringLocalCacheData, .useProtocolCachePolicy])
    func aTruncatedNewVersionLeavesTheOlderOne(policy: URLRequest.CachePolicy) async throws {
        let fields: FieldLines = ["Cache-Control": "max-age=60, stale-if-error=1000"]
        let old = Representation(.text("0123456789"), entityTag: .strong("v1"), headers: fields)
        let new = Representation(.text("abcdefghij"), entityTag: .strong("v2"), headers: fields)
        let server = try ScriptedServer([
            .representation(old), .representation(new).breaking(after: .body(4)), .respond(503),
            .representation(new),
        ])
        let scene = CacheScene(server)
        #expect(await scene.fetch().text == "0123456789")
        // A reload, or a validation that brings another version.
        scene.pass(70)
        await scene.fetch(policy: policy)
        #expect(scene.stored().map { $0["ETag"] } == ["\"v1\""])
        let stale = await scene.fetch()
        #expect(stale.text == "0123456789" && stale.responseSource == .stale)
        // The newer one takes its place when it is complete.
        #expect(await scene.fetch().text == "abcdefghij")
        #expect(scene.stored().map { $0["ETag"] } == ["\"v2\""])
        #expect(server.requests.count == 4)
    }

    @Test(arguments: [nil, "bytes=0-1", "bytes=4-9"]) func aPartIsNotStored(range: String?) async throws {
        let fields: FieldLines = [
            "ETag": "\"v1\"", "Cache-Control": "max-age=60", "Content-Range": "bytes 4-9/10",
        ]
        let server = try ScriptedServer { _ in .respond(206, fields, body: "456789") }
        let scene = CacheScene(server)
        await scene.fetch("/", range.map { ["Range": $0] } ?? [:])
        #expect(scene.stored().isEmpty)
    }

    // MARK: - Variants

    /// Speaks two languages, and confirms each by its tag.
    private func bilingual() throws -> ScriptedServer {
        try ScriptedServer { request in
            let language = request.headers["Accept-Language"] ?? "en"
            let fields: FieldLines = [
                "ETag": "\"\(language)\"", "Cache-Control": "max-age=10", "Vary": "Accept-Language",
            ]
            guard request.headers["If-None-Match"] != "\"\(language)\"" else { return .respond(304, fields) }
            guard request.method != "HEAD" else {
                let news: FieldLines = [
                    "ETag": "\"\(language)\"", "A": "new", "Vary": "Accept-Language", "Content-Length": "2",
                ]
                return .respond(200, news)
            }
            return .respond(200, fields, body: .data(Data(language.utf8)))
        }
    }

    @Test func eachVariantIsConfirmedByItsOwnTag() async throws {
        let server = try bilingual()
        let scene = CacheScene(server)
        for language in ["de", "en"] {
            #expect(await scene.fetch("/", ["Accept-Language": language]).text == language)
        }
        scene.pass(20)
        let confirmed = await scene.fetch("/", ["Accept-Language": "de"])
        #expect(confirmed.text == "de" && confirmed.responseSource == .validated)
        #expect(server.requests.last?.headers["If-None-Match"] == "\"de\"")
        // Of the two only that one is fresh again.
        #expect(await scene.fetch("/", ["Accept-Language": "de"]).responseSource == .cache)
        #expect(server.requests.count == 3)
        let other = await scene.fetch("/", ["Accept-Language": "en"])
        #expect(other.text == "en" && other.responseSource == .validated)
        #expect(scene.stored().count == 2)
    }

    @Test func aHEADSpeaksOfItsOwnVariant() async throws {
        let server = try bilingual()
        let scene = CacheScene(server)
        for language in ["de", "en"] { await scene.fetch("/", ["Accept-Language": language]) }
        await scene.fetch(
            scene.request(
                "/",
                ["Accept-Language": "de"],
                method: "HEAD",
                policy: .reloadIgnoringLocalCacheData
            )
        )
        let updated = scene.stored().filter { $0["A"] == "new" }
        #expect(updated.map { $0["ETag"] } == ["\"de\""])
        #expect(scene.stored().allSatisfy { !$0.isInvalidated })
    }

    /// While the whole is loaded anew.
    @Test func aHEADWithAnotherVersionInvalidatesResponsesInTransit() async throws {
        let gate = Gate()
        let (old, new) = (Self.representation("0123456789", "v1"), Self.representation("abcdefghij", "v2"))
        let server = try ScriptedServer([
            .representation(old), .representation(old).held(after: .body(3), by: gate), .representation(new),
            .representation(new),
        ])
        let scene = CacheScene(server)
        await scene.fetch()
        let loading = scene.manager.operation(for: scene.request(policy: .reloadIgnoringLocalCacheData))
        scene.manager.operationQueue.addOperation(loading)
        try await gate.waitForArrivals()
        await scene.fetch(scene.request(method: "HEAD", policy: .reloadIgnoringLocalCacheData))
        gate.open()
        _ = try await loading.value
        #expect(loading.text == "0123456789")
        #expect(await scene.fetch().text == "abcdefghij")
        #expect(server.requests.map(\.method) == ["GET", "GET", "HEAD", "GET"])
    }

    // MARK: - Sites

    @Test func aHostFieldSelectsItsOwnResponses() async throws {
        let server = try ScriptedServer { request in
            let site = request.headers["Host"] ?? ""
            return .respond(200, ["Cache-Control": "max-age=60"], body: .data(Data(site.utf8)))
        }
        let scene = CacheScene(server)
        for _ in 0..<2 {
            for site in ["a.example", "b.example"] {
                #expect(await scene.fetch("/", ["Host": site]).text == site)
            }
            let own = await scene.fetch().text
            #expect(own?.contains("127.0.0.1") == true || own?.contains("localhost") == true)
        }
        #expect(server.requests.count == 3)
        let asked = scene.request("/", ["Host": "A.example"])
        #expect(scene.cache.cachedResponse(for: asked)?.data == Data("a.example".utf8))
        #expect(scene.cache.cachedResponse(for: scene.request("/", ["Host": "c.example"])) == nil)
        // What changes one site leaves the others as they are.
        await scene.fetch(scene.request("/", ["Host": "a.example"], method: "PUT"))
        #expect(await scene.fetch("/", ["Host": "b.example"]).responseSource == .cache)
        #expect(await scene.fetch("/", ["Host": "a.example"]).responseSource != .cache)
    }
}
