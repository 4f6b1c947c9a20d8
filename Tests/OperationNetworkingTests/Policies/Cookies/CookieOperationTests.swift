import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// Cookies across hops, operations, managers and the handles that libcurl uses again.
@Suite(.timeLimit(.minutes(1)))
struct CookieOperationTests {
    private let scene = CookieScene()

    private func cookie(_ name: String, domain: String = "127.0.0.1") throws -> HTTPCookie {
        try #require(HTTPCookie(properties: [.name: name, .value: "1", .domain: domain, .path: "/"]))
    }

    // MARK: - Operations without a jar

    @Test func aRequestThatDoesNotHandleCookiesNeitherSendsNorKeepsThem() async throws {
        let server = try ScriptedServer([.respond(["Set-Cookie": "b=2"])])
        scene.jar.set(try cookie("a"))
        await scene.get(server.url) { $0.httpShouldHandleCookies = false }
        #expect(server.cookies == [[]])
        #expect(scene.pairs == ["a=1"])
    }

    @Test func anOperationWithoutAJarHasNone() async throws {
        let server = try ScriptedServer([.respond(["Set-Cookie": "b=2"])])
        let operation = scene.operation(URLRequest(url: server.url))
        operation.cookieJar = nil
        for operation in [operation, try #require(operation.copy() as? HTTPRequestOperation)] {
            #expect(operation.cookieJar == nil)
            operation.completionQueue = DispatchQueue(label: "callbacks")
            operation.start()
            _ = try await operation.value
        }
        #expect(server.cookies == [[], []])
    }

    @Test func aCookieFieldOfTheCallersLeavesTheJarOut() async throws {
        let server = try ScriptedServer([.respond(["Set-Cookie": "b=2"])])
        scene.jar.set(try cookie("a"))
        await scene.get(server.url) { $0.setValue("own=3", forHTTPHeaderField: "Cookie") }
        #expect(server.requests.map { $0.headers.values(of: "Cookie") } == [["own=3"]])
        #expect(scene.pairs == ["a=1"])
    }

    /// curl_easy_reset(3) keeps cookies: the next user of the handle would send them.
    @Test func aHandleThatIsUsedAgainHasForgottenItsCookies() async throws {
        let server = try ScriptedServer([.respond(["Set-Cookie": "a=1"]), .respond(["Set-Cookie": "b=2"])])
        await scene.get(server.url)
        // One after the other, over one connection, so with one handle.
        for _ in 0..<3 {
            let end = try await TestTransfer(.plain(server.url)).start().end()
            #expect(end.operationError == nil)
        }
        let other = CookieScene()
        await other.get(server.url)
        await other.get(server.url)
        #expect(server.connectionsAccepted == 1)
        #expect(server.cookies == [[], [], [], [], [], ["b=2"]])
        #expect(scene.pairs == ["a=1"])
        #expect(other.pairs == ["b=2"])
    }

    @Test func managersWithJarsOfTheirOwnShareNothing() async throws {
        let server = try ScriptedServer { request in
            .respond(200, ["Set-Cookie": "seen=\(request.path.dropFirst())"])
        }
        let managers = (0..<2).map { _ in
            let manager = OperationManager(baseURL: server.url)
            manager.responseSerializer = HTTPResponseSerializer()
            manager.cookieJar = CookieJar()
            return manager
        }
        for round in 0..<5 {
            for (number, manager) in managers.enumerated() {
                _ = try await manager.get("\(number)x\(round)")
            }
        }
        for request in server.requests.dropFirst(2) {
            let number = try #require(request.path.dropFirst().first)
            #expect(request["Cookie"]?.hasPrefix("seen=\(number)x") == true)
        }
        let copy = try #require(managers[0].copy() as? OperationManager)
        #expect(copy.cookieJar === managers[0].cookieJar)
        #expect(OperationManager().cookieJar === CookieJar.shared)
    }

    // MARK: - Order

    @Test func anOperationHasItsCookiesInTheJarWhenItEnds() async throws {
        let server = try ScriptedServer { request in
            .respond(200, request["Cookie"] == nil ? ["Set-Cookie": "a=1"] : [:])
        }
        for round in 0..<50 {
            scene.jar.removeAll()
            let queue = OperationQueue()
            let (first, second) = (
                scene.operation(URLRequest(url: server.url)), scene.operation(URLRequest(url: server.url))
            )
            second.addDependency(first)
            queue.addOperation(second)
            queue.addOperation(first)
            _ = try await second.value
            #expect(server.cookies.last == ["a=1"], "round \(round)")
        }
    }

    @Test func whatFiftyOperationsBringAtOnceIsAllThere() async throws {
        let server = try ScriptedServer { request in
            .respond(200, ["Set-Cookie": "n\(request.path.dropFirst())=1; Path=/"])
        }
        let operations = (0..<50).map { scene.operation(URLRequest(url: server.url(path: "/\($0)"))) }
        for operation in operations { operation.start() }
        for operation in operations { _ = try await operation.value }
        #expect(scene.pairs == (0..<50).map { "n\($0)=1" }.sorted())
    }

    @Test func aFailedOperationHasKeptWhatItsHeadBrought() async throws {
        let server = try ScriptedServer([
            .respond(200, ["Set-Cookie": "a=1"], body: "0123456789", breakingAfter: 4)
        ])
        #expect(await scene.get(server.url).error != nil)
        #expect(scene.pairs == ["a=1"])
    }

    @Test(arguments: [401, 404, 500])
    func anErrorBringsCookiesToo(status: Int) async throws {
        let server = try ScriptedServer([.respond(status, ["Set-Cookie": "a=1"])])
        #expect(await scene.get(server.url).error != nil)
        #expect(scene.pairs == ["a=1"])
    }

    @Test func cancellingWhileTheJarIsWrittenEndsTheOperationOnce() async throws {
        let server = try ScriptedServer { _ in .respond(200, ["Set-Cookie": "a=1"], body: "x") }
        for _ in 0..<Rounds.count(100) {
            let operation = scene.operation(URLRequest(url: server.url))
            let ends = Recorder<Bool>()
            operation.setCompletion(
                success: { _, _ in ends.append(true) },
                failure: { _, _ in ends.append(false) }
            )
            operation.start()
            await onDispatchThread { operation.cancel() }
            try await ends.wait()
            operation.completionQueue?.sync {}
            #expect(ends.elements.count == 1)
        }
    }

    @Test func pausingAgainAndAgainLosesNothing() async throws {
        let server = try ScriptedServer { _ in .respond(200, ["Set-Cookie": "a=1"], body: "x") }
        for _ in 0..<Rounds.count(100) {
            scene.jar.removeAll()
            let operation = scene.operation(URLRequest(url: server.url))
            operation.start()
            operation.pause()
            operation.resume()
            _ = try await operation.value
            #expect(scene.pairs == ["a=1"])
        }
    }

    // MARK: - Redirects

    @Test func aRedirectSetsWhatTheNextHopSends() async throws {
        let server = try ScriptedServer([
            .respond(302, ["Location": "/there", "Set-Cookie": "a=1", "Set-Cookie": "p=2; Path=/other"]),
            .respond(302, ["Location": "/again", "Set-Cookie": "a=; Max-Age=0", "Set-Cookie": "b=3"]),
            .respond(body: "x"),
        ])
        #expect(await scene.get(server.url).error == nil)
        #expect(server.cookies == [[], ["a=1"], ["b=3"]])
        #expect(scene.pairs == ["b=3", "p=2"])
    }

    @Test func anotherOriginGetsItsOwnCookiesOnly() async throws {
        let other = try ScriptedServer([.respond(["Set-Cookie": "new=1"])])
        let server = try ScriptedServer([.redirect(to: try other.url(host: "b.localhost").absoluteString)])
        scene.jar.set(try cookie("first", domain: "a.localhost"))
        scene.jar.set(try cookie("second", domain: "b.localhost"))
        await scene.get(try server.url(host: "a.localhost"))
        #expect(server.cookies == [["first=1"]])
        #expect(other.cookies == [["second=1"]])
        #expect(scene.pairs == ["first=1", "new=1", "second=1"])
    }

    @Test func anotherOriginGetsTheJarsCookiesAndNotTheCallers() async throws {
        let other = try ScriptedServer([.respond(body: "x")])
        let server = try ScriptedServer([.redirect(to: try other.url(host: "b.localhost").absoluteString)])
        scene.jar.set(try cookie("second", domain: "b.localhost"))
        await scene.get(try server.url(host: "a.localhost")) {
            $0.setValue("own=1", forHTTPHeaderField: "Cookie")
        }
        #expect(server.cookies == [["own=1"]])
        #expect(other.cookies == [["second=1"]])
    }

    @Test func aRedirectThatIsRefusedHasSetItsCookies() async throws {
        let server = try ScriptedServer([.respond(302, ["Location": "/there", "Set-Cookie": "a=1"])])
        let operation = scene.operation(URLRequest(url: server.url))
        operation.setRedirect { _, _, _ in nil }
        operation.start()
        _ = try? await operation.value
        #expect(scene.pairs == ["a=1"])
    }

    // MARK: - Again

    @Test func anotherAttemptSendsWhatTheFirstOneBrought() async throws {
        let server = try ScriptedServer([.respond(503, ["Set-Cookie": "a=1"]), .respond(body: "x")])
        let operation = scene.operation(URLRequest(url: server.url))
        var policy = RetryPolicy(maximumRetries: 1)
        policy.initialDelay = 0.001
        operation.retryPolicy = policy
        operation.start()
        _ = try await operation.value
        #expect(server.cookies == [[], ["a=1"]])
    }

    @Test func aDownloadThatIsPausedSendsItsCookieAgain() async throws {
        let gate = Gate()
        let download = try DownloadScene(answers: [
            .currentRepresentation.held(after: 1000, by: gate), .currentRepresentation,
        ])
        let operation = download.operation()
        operation.cookieJar = scene.jar
        scene.jar.set(try cookie("a"))
        operation.start()
        try await gate.waitForArrivals()
        // The answer stays held: what came all at once would be complete.
        operation.pause()
        scene.jar.set(try cookie("b"))
        operation.resume()
        _ = try await operation.value
        #expect(download.server.cookies == [["a=1"], ["a=1", "b=1"]])
    }

    @Test func anOperationThatIsPausedBeforeItsTurnReadsItsCookiesAgain() async throws {
        let gate = Gate()
        let download = try DownloadScene(answers: [
            .currentRepresentation.held(after: 1000, by: gate), .currentRepresentation,
        ])
        let manager = OperationManager()
        manager.maximumConnectionsPerHost = 1
        manager.cookieJar = scene.jar
        manager.completionQueue = DispatchQueue(label: "callbacks")
        let request = URLRequest(url: download.server.url)
        let first = manager.downloadOperation(for: request, to: download.target)
        let waiting = manager.downloadOperation(for: request, to: download.folder.file("other"))
        first.start()
        try await gate.waitForArrivals()
        scene.jar.set(try cookie("a"))
        waiting.start()
        try await networkThreadIsDone()
        waiting.pause()
        // Another user, say.
        scene.jar.removeAll()
        scene.jar.set(try cookie("b"))
        waiting.resume()
        try await networkThreadIsDone()
        gate.open()
        _ = try await first.value
        _ = try await waiting.value
        #expect(download.server.cookies == [[], ["b=1"]])
    }

    /// `example.org.` and `example.org` are two hosts.
    @Test(arguments: [false, true])
    func aHostWithTheRootsDotHasCookiesOfItsOwn(ofStorage: Bool) async throws {
        let storage = HTTPCookieStorage.sharedCookieStorage(
            forGroupContainerIdentifier: "CookieOperationTests-\(UUID().uuidString)"
        )
        let scene = CookieScene(ofStorage ? CookieJar(storage) : CookieJar())
        defer { scene.jar.removeAll() }
        let server = try ScriptedServer([
            .respond(
                302,
                ["Location": "/next", "Set-Cookie": "b=2", "Set-Cookie": "d=4; Domain=svc.local."]
            ),
            .respond(body: "x"),
        ])
        for host in ["svc.local.", "SVC.local", "a.svc.local.", "a.svc.local"] {
            await scene.get(server.url) { $0.setValue(host, forHTTPHeaderField: "Host") }
        }
        #expect(server.cookies == [[], ["b=2", "d=4"], [], ["d=4"], []])
    }

    @Test func aHostFieldDecidesWhoseCookiesAreSent() async throws {
        let server = try ScriptedServer([.respond(["Set-Cookie": "a=1"]), .respond(body: "x")])
        for _ in 0..<2 {
            await scene.get(server.url) { $0.setValue("virtual.example:80", forHTTPHeaderField: "Host") }
        }
        #expect(server.cookies == [[], ["a=1"]])
        #expect(scene.jar.cookies.map(\.domain) == ["virtual.example"])
        // libcurl would go on to take the server for that host.
        await scene.get(server.url)
        await scene.get(server.url) { $0.setValue("virtual.example", forHTTPHeaderField: "Host") }
        await scene.get(server.url)
        #expect(server.cookies.suffix(3) == [[], ["a=1"], []])
    }
}
