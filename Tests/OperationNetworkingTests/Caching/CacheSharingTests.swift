import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingSystem
@testable import OperationNetworkingTestSupport

/// Equal requests at the same time, of which some are stopped, paused, or slower than the others.
@Suite(.timeLimit(.minutes(1)))
struct CacheSharingTests {
    private static let answer = Answer.respond(200, ["Cache-Control": "max-age=60"], body: "shared")

    /// Operations for equal requests that wait for the first one, which is held in its body.
    private func waiting(
        _ scene: CacheScene,
        _ count: Int,
        _ gate: Gate,
        timeout: TimeInterval = 20,
        _ configure: (HTTPRequestOperation) -> Void = { _ in }
    ) async throws -> [HTTPRequestOperation] {
        scene.manager.operationQueue.maxConcurrentOperationCount = count + 1
        var request = scene.request()
        request.timeoutInterval = timeout
        let operations = (0...count).map { _ in scene.manager.operation(for: request) }
        configure(operations[0])
        scene.manager.operationQueue.addOperation(operations[0])
        try await gate.waitForArrivals()
        // One by one: a queue starts on several threads, and the first that comes is the first that waits.
        for operation in operations.dropFirst() {
            scene.manager.operationQueue.addOperation(operation)
            try await eventually { operation.isExecuting }
        }
        try await networkThreadIsDone()
        return operations
    }

    @Test func requestsWhoseTimeoutIsNotANumberShareATransfer() async throws {
        let gate = Gate()
        let server = try ScriptedServer { _ in Self.answer.held(after: .body(3), by: gate) }
        let scene = CacheScene(server)
        let operations = try await waiting(scene, 20, gate, timeout: .nan)
        gate.open()
        for operation in operations {
            _ = try? await operation.value
            #expect(operation.text == "shared" && operation.error == nil)
        }
        #expect(server.requests.count == 1)
    }

    enum Command: CaseIterable { case cancel, pause }

    @Test(arguments: Command.allCases)
    func aWaitingRequestTakesThePlaceOfTheFirst(_ command: Command) async throws {
        let gate = Gate()
        let server = try ScriptedServer([Self.answer.held(after: .body(3), by: gate), Self.answer])
        let scene = CacheScene(server)
        let operations = try await waiting(scene, 20, gate)
        switch command {
        case .cancel: operations[0].cancel()
        case .pause: operations[0].pause()
        }
        for operation in operations.dropFirst() {
            _ = try? await operation.value
            #expect(operation.text == "shared" && operation.error == nil)
        }
        #expect(server.requests.count == 2)
        gate.open()
        operations[0].cancel()
        _ = try? await operations[0].value
    }

    /// None of them is of use to the next: many at once would leave as many variants, and each request would
    /// look at all of them.
    @Test func manyThatCannotShareLeaveOneResponse() async throws {
        let server = try ScriptedServer { _ in .respond(200, ["Cache-Control": "max-age=0"], body: "own") }
        let scene = CacheScene(server)
        for _ in 0..<3 {
            let operations = (0..<32).map { _ in scene.manager.operation(for: scene.request()) }
            for operation in operations { scene.manager.operationQueue.addOperation(operation) }
            for operation in operations {
                _ = try? await operation.value
                #expect(operation.text == "own" && operation.responseSource == .network)
            }
        }
        #expect(scene.responseCount == 1)
    }

    @Test func thePlacePassesToTheNextRequestEachTimeOneIsStopped() async throws {
        let (gate, others) = (Gate(), Gate())
        let server = try ScriptedServer([
            Self.answer.held(after: .body(3), by: gate), Self.answer.held(after: .body(3), by: others),
            Self.answer,
        ])
        let scene = CacheScene(server)
        let operations = try await waiting(scene, 8, gate)
        // Those that would be next are paused or cancelled before it is their turn.
        operations[1].pause()
        operations[2].cancel()
        operations[0].cancel()
        try await others.waitForArrivals()
        operations[3].cancel()
        for operation in operations.dropFirst(4) {
            _ = try? await operation.value
            #expect(operation.text == "shared" && operation.error == nil)
        }
        #expect(server.requests.count == 3)
        operations[1].resume()
        _ = try? await operations[1].value
        #expect(operations[1].text == "shared" && server.requests.count == 3)
        gate.open()
        others.open()
    }

    @Test func aRequestDoesNotWaitForASlowerOne() async throws {
        let server = try ScriptedServer([
            .respond(200, ["Cache-Control": "max-age=60"], body: .generated(length: 300_000))
        ])
        let scene = CacheScene(server)
        let slow = scene.manager.operation(for: scene.request())
        slow.downloadLimits = [BandwidthLimit(bytesPerSecond: 1_000)]
        scene.manager.operationQueue.addOperation(slow)
        try await server.waitForRequests(count: 1)
        try await networkThreadIsDone()
        let fast = await scene.fetch()
        #expect(fast.responseData?.count == 300_000 && fast.error == nil)
        slow.cancel()
        _ = try? await slow.value
    }

    @Test func aFailureOfTheFirstIsNotThatOfTheOthers() async throws {
        let gate = Gate()
        let server = try ScriptedServer([
            Self.answer.held(after: .body(3), by: gate).breaking(after: .body(4)), Self.answer,
        ])
        let scene = CacheScene(server)
        let operations = try await waiting(scene, 5, gate)
        gate.open()
        _ = try? await operations[0].value
        #expect(operations[0].error != nil)
        for operation in operations.dropFirst() {
            _ = try? await operation.value
            #expect(operation.text == "shared" && operation.error == nil)
        }
    }

    // MARK: - Changes on the way

    enum Moment: CaseIterable { case beforeTheHead, inTheBody }

    /// A response that was asked for before an unsafe method succeeded may show the state before it.
    @Test(arguments: Moment.allCases)
    func responsesInTransitDuringAnUnsafeMethodAreInvalidated(_ moment: Moment) async throws {
        let gate = Gate()
        let server = try ScriptedServer { request in
            guard request.method == "GET" else { return .respond(204) }
            let answer = Answer.respond(200, ["Cache-Control": "max-age=60"], body: "state")
            return answer.held(after: moment == .inTheBody ? .body(2) : .wire(0), by: gate)
        }
        let scene = CacheScene(server)
        let first = scene.manager.operation(for: scene.request())
        scene.manager.operationQueue.addOperation(first)
        try await gate.waitForArrivals()
        await scene.fetch(scene.request(method: "PUT"))
        gate.open()
        _ = try await first.value
        #expect(await scene.fetch().responseSource == .network)
        #expect(await scene.fetch().responseSource == .cache)
    }

    @Test(arguments: Moment.allCases)
    func responsesInTransitDuringARemovalAreNotStored(_ moment: Moment) async throws {
        let gate = Gate()
        let server = try ScriptedServer([
            Self.answer.held(after: moment == .inTheBody ? .body(2) : .wire(0), by: gate), Self.answer,
        ])
        let scene = CacheScene(server)
        let first = scene.manager.operation(for: scene.request())
        scene.manager.operationQueue.addOperation(first)
        try await gate.waitForArrivals()
        scene.cache.removeAllCachedResponses()
        gate.open()
        _ = try await first.value
        #expect(scene.cache.cachedResponse(for: scene.request()) == nil)
        #expect(await scene.fetch().responseSource == .network)
    }

    @Test func aPOSTsOwnAnswerIsStillStored() async throws {
        let server = try ScriptedServer { request in
            .respond(
                200,
                ["Cache-Control": "max-age=60", "Content-Location": "/form"],
                body: .text(request.method)
            )
        }
        let scene = CacheScene(server)
        await scene.fetch("/form")
        var post = scene.request("/form", method: "POST")
        post.httpBody = Data("a=b".utf8)
        #expect(await scene.fetch(post).text == "POST")
        let read = await scene.fetch("/form")
        #expect(read.text == "POST" && read.responseSource == .cache)
    }

    @Test func anUnsafeMethodConcernsWhatWasStoredWithoutCookies() async throws {
        let server = try ScriptedServer { request in
            request.method == "GET"
                ? .respond(200, ["Cache-Control": "max-age=60"], body: "page") : .respond(204)
        }
        let scene = CacheScene(server)
        let jar = CookieJar()
        scene.manager.cookieJar = jar
        await scene.fetch()
        let host = try #require(server.url.host)
        let cookie = HTTPCookie(properties: [.name: "user", .value: "ann", .domain: host, .path: "/"])
        jar.set(try #require(cookie))
        await scene.fetch(scene.request(method: "PUT"))
        jar.removeAll()
        #expect(await scene.fetch().responseSource == .network)
    }

    /// Nor does it matter that the jar has none by then: they may come again.
    @Test func anUnsafeMethodConcernsWhatWasStoredWithCookiesThatAreGone() async throws {
        let server = try ScriptedServer { request in
            request.method == "GET"
                ? .respond(200, ["Cache-Control": "max-age=60"], body: "page") : .respond(204)
        }
        let scene = CacheScene(server)
        let jar = CookieJar()
        scene.manager.cookieJar = jar
        let host = try #require(server.url.host)
        let cookie = try #require(
            HTTPCookie(properties: [.name: "user", .value: "ann", .domain: host, .path: "/"])
        )
        jar.set(cookie)
        await scene.fetch()
        jar.removeAll()
        await scene.fetch(scene.request(method: "PUT"))
        jar.set(cookie)
        #expect(await scene.fetch().responseSource == .network)
    }

    /// The first one was stopped: the next one takes its place, for all.
    @Test func theWholeBodyIsRequestedAgain() async throws {
        let gate = Gate()
        let page = Representation(
            .generated(length: 300_000),
            entityTag: .strong("v1"),
            headers: ["Cache-Control": "max-age=60"]
        )
        let server = try ScriptedServer([
            .representation(page).held(after: .body(200_000), by: gate), .representation(page),
        ])
        let scene = CacheScene(server)
        let hasBegun = Gate()
        let operations = try await waiting(scene, 20, gate) { operation in
            operation.setDownloadProgress { _, received, _ in if received > 0 { hasBegun.open() } }
        }
        try await hasBegun.wait()
        operations[0].cancel()
        for operation in operations.dropFirst() {
            _ = try? await operation.value
            #expect(operation.responseData == page.body.data && operation.error == nil)
        }
        #expect(server.requests.map { $0.headers["Range"] } == [nil, nil])
        gate.open()
    }

    /// A body that is too long to be stored may never end.
    @Test(arguments: [false, true])
    func noRequestWaitsForABodyThatWillNotBeStored(isShown: Bool) async throws {
        let gate = Gate()
        let long = Answer.respond(200, ["Cache-Control": "max-age=60"], body: .generated(length: 100_000))
        let server = try ScriptedServer([long.chunked().held(after: .body(90_000), by: gate), Self.answer])
        let scene = CacheScene(server, memoryCapacity: 100_000)
        let operations = try await waiting(scene, 1, gate) { operation in
            if isShown { operation.setCacheResponse { $0 } }
        }
        _ = try? await operations[1].value
        #expect(operations[1].text == "shared")
        gate.open()
        _ = try? await operations[0].value
        #expect(operations[0].responseData?.count == 100_000)
    }

    /// The response is there when the closure has answered.
    @Test func waitingRequestsFindAResponseShownToAClosure() async throws {
        let gate = Gate()
        let server = try ScriptedServer { _ in Self.answer.held(after: .body(3), by: gate) }
        let scene = CacheScene(server, timeout: 600)
        let operations = try await waiting(scene, 20, gate) { operation in
            operation.setCacheResponse { proposed in
                // Those that wait would make requests of their own now: some turns of the network thread after the
                // first has its last byte.
                for _ in 0..<10 { try? waitForNetworkThread() }
                return proposed
            }
        }
        gate.open()
        for operation in operations {
            _ = try? await operation.value
            #expect(operation.text == "shared")
        }
        #expect(server.requests.count == 1)
    }

    @Test func noRequestWaitsForLongForAClosure() async throws {
        let (gate, hasEnded) = (Gate(), DispatchSemaphore(value: 0))
        let server = try ScriptedServer { _ in Self.answer.held(after: .body(3), by: gate) }
        let scene = CacheScene(server, timeout: 0.1)
        let operations = try await waiting(scene, 3, gate) { operation in
            operation.setCacheResponse { proposed in
                hasEnded.wait()
                return proposed
            }
        }
        gate.open()
        for operation in operations {
            _ = try? await operation.value
            #expect(operation.text == "shared")
        }
        hasEnded.signal()
        #expect(server.requests.count > 1)
    }

    @Test func anEmptyJarIsAUserOfItsOwn() async throws {
        let server = try ScriptedServer { request in
            .respond(
                200,
                ["Cache-Control": "private, max-age=60", "Set-Cookie": "user=ann"],
                body: .text("\(request.number)")
            )
        }
        let scene = CacheScene(server)
        scene.manager.cookieJar = CookieJar()
        await scene.fetch()
        // It has a cookie by now, which says who asks.
        let second = await scene.fetch()
        let again = await scene.fetch()
        #expect(second.responseSource == .network)
        #expect(again.text == second.text && again.responseSource == .cache)
        scene.manager.cookieJar = CookieJar()
        let other = await scene.fetch()
        #expect(other.responseSource == .network && server.requests.count == 3)
    }
}
