import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// Cookies that change while a request waits, is paused, or is under way.
@Suite(.timeLimit(.minutes(1)))
struct CookieRenewalTests {
    private let scene = CookieScene()

    private func cookie(_ name: String, _ value: String) throws -> HTTPCookie {
        try #require(
            HTTPCookie(properties: [.name: name, .value: value, .domain: "127.0.0.1", .path: "/"])
        )
    }

    /// libcurl does not take a cookie with this prefix that is not secure: it is missing from its list.
    @Test func aResponseTakesAwayNoCookieThatItDoesNotName() async throws {
        let server = try ScriptedServer([.respond(["Set-Cookie": "b=2"])])
        scene.jar.set(try cookie("__Secure-a", "1"))
        await scene.get(server.url)
        #expect(scene.pairs == ["__Secure-a=1", "b=2"])
    }

    /// The old answer comes after a login of another request; the last one that names the cookie counts (RFC
    /// 6265 §5.3), and this one does not.
    @Test func anOldAnswerLeavesARenewedCookieAlone() async throws {
        let gate = Gate()
        let server = try ScriptedServer([.respond(["Set-Cookie": "b=2"]).held(by: gate)])
        scene.jar.set(try cookie("session", "old"))
        let operation = scene.operation(URLRequest(url: server.url))
        operation.start()
        try await gate.waitForArrivals()
        scene.jar.set(try cookie("session", "new"))
        gate.open()
        _ = try await operation.value
        #expect(scene.pairs == ["b=2", "session=new"])
    }

    /// The cookies that the storage, or the table, gets while an answer without TLS is under way.
    @Test(arguments: [false, true], ["sid=evil; Path=/", "sid=; Path=/; Max-Age=0"])
    func anAnswerWithoutTLSLeavesASecureCookieThatCameMeanwhileAlone(
        ofStorage: Bool,
        line: String
    ) async throws {
        let storage = HTTPCookieStorage.sharedCookieStorage(
            forGroupContainerIdentifier: "CookieRenewalTests-\(UUID().uuidString)"
        )
        let scene = CookieScene(ofStorage ? CookieJar(storage) : CookieJar())
        defer { scene.jar.removeAll() }
        let gate = Gate()
        let server = try ScriptedServer([.respond(["Set-Cookie": line, "Set-Cookie": "b=2"]).held(by: gate)])
        func cookie(_ value: String, _ properties: [HTTPCookiePropertyKey: Any] = [:]) throws -> HTTPCookie {
            let plain: [HTTPCookiePropertyKey: Any] = [
                .name: "sid", .value: value, .domain: "secure.example", .path: "/",
            ]
            return try #require(HTTPCookie(properties: plain.merging(properties) { $1 }))
        }
        scene.jar.set(try cookie("old"))
        var request = URLRequest(url: server.url)
        // By its own name libcurl counts this machine as secure.
        request.setValue("secure.example", forHTTPHeaderField: "Host")
        let operation = scene.operation(request)
        operation.start()
        try await gate.waitForArrivals()
        scene.jar.set(try cookie("good", [.secure: "TRUE"]))
        gate.open()
        _ = try await operation.value
        #expect(server.cookies == [["sid=old"]])
        #expect(scene.pairs == ["b=2", "sid=good"])
        #expect(scene.jar.cookies.first { $0.name == "sid" }?.isSecure == true)
    }

    @Test func aCookieThatIsSetDuringAPauseIsSent() async throws {
        let server = try ScriptedServer([.silence, .respond(body: "x")])
        scene.jar.set(try cookie("session", "old"))
        let operation = scene.operation(URLRequest(url: server.url))
        operation.start()
        try await server.waitForStalls(count: 1)
        operation.pause()
        try await server.waitForOpenConnections(0)
        scene.jar.set(try cookie("session", "new"))
        operation.resume()
        _ = try await operation.value
        #expect(server.cookies == [["session=old"], ["session=new"]])
    }

    @Test(arguments: [false, true])
    func aRequestThatWaitedForAConnectionSendsTheCookiesOfNow(ofStorage: Bool) async throws {
        let storage = HTTPCookieStorage.sharedCookieStorage(
            forGroupContainerIdentifier: "CookieRenewalTests-\(UUID().uuidString)"
        )
        let scene = CookieScene(ofStorage ? CookieJar(storage) : CookieJar())
        defer { scene.jar.removeAll() }
        let gate = Gate()
        let server = try ScriptedServer { request in
            request.path == "/first" ? .respond(body: "x").held(by: gate) : .respond(body: "x")
        }
        let manager = OperationManager(baseURL: server.url)
        manager.completionQueue = DispatchQueue(label: "callbacks")
        manager.responseSerializer = HTTPResponseSerializer()
        manager.cookieJar = scene.jar
        manager.maximumConnectionsPerHost = 1
        async let first: (any Sendable)? = manager.get("first")
        try await gate.waitForArrivals()
        let waiting = manager.operation(for: URLRequest(url: server.url.appendingPathComponent("second")))
        // Its cookies, none, are read by this call.
        waiting.start()
        scene.jar.set(try cookie("session", "1"))
        await scene.waitForStorage(of: "127.0.0.1")
        gate.open()
        _ = try await (first, waiting.value)
        #expect(server.cookies == [[], ["session=1"]])
    }
}
