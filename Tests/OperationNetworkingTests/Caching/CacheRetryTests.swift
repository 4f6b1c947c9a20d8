import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// Attempts after failures that a cache may keep.
@Suite(.timeLimit(.minutes(1)))
struct CacheRetryTests {
    private static let done = Answer.respond(200, ["Cache-Control": "max-age=60"], body: "done")

    /// A failure that stays fresh for an hour.
    private static func busy(_ fields: FieldLines = [:]) -> Answer {
        var all: FieldLines = ["Cache-Control": "max-age=3600"]
        for line in fields { all.append(line.name, line.value) }
        return .respond(503, all, body: "busy")
    }

    private func quick() -> RetryPolicy {
        var policy = RetryPolicy(maximumRetries: 3)
        policy.initialDelay = 0.001
        policy.maximumWait = 30
        return policy
    }

    /// Each attempt is a request, whether the first one was or not.
    @Test(arguments: [URLRequest.CachePolicy.useProtocolCachePolicy, .returnCacheDataElseLoad], [0, 1])
    func anAttemptIgnoresTheStoredFailure(policy: URLRequest.CachePolicy, stored: Int) async throws {
        let server = try ScriptedServer([Self.busy(), Self.busy(), Self.done])
        let scene = CacheScene(server)
        for _ in 0..<stored { #expect(await scene.fetch().response?.statusCode == 503) }
        let operation = await scene.fetch(scene.request(policy: policy)) { $0.retryPolicy = quick() }
        #expect(operation.text == "done" && server.requests.count == 3)
    }

    @Test func aStoredRedirectIsFollowedAtEachAttempt() async throws {
        let server = try ScriptedServer(
            routes: [
                "/": [.respond(301, ["Location": "/there", "Cache-Control": "max-age=3600"])],
                "/there": [Self.busy(), Self.busy(), Self.done],
            ]
        )
        let scene = CacheScene(server)
        let operation = await scene.fetch(scene.request()) { $0.retryPolicy = quick() }
        #expect(operation.text == "done")
        #expect(server.requests.map(\.path) == ["/", "/there", "/there", "/there"])
    }

    @Test(arguments: [false, true])
    func aStoredFailureIsTheResultIfOnlyStoredResponsesAreWanted(byField: Bool) async throws {
        let server = try ScriptedServer { _ in Self.busy() }
        let scene = CacheScene(server)
        await scene.fetch()
        let request =
            byField
            ? scene.request("/", ["Cache-Control": "only-if-cached"])
            : scene.request(policy: .returnCacheDataDontLoad)
        let watcher = RetryWatcher()
        let operation = await scene.fetch(request) { operation in
            operation.retryPolicy = quick()
            operation.addObserver(watcher)
        }
        #expect(operation.response?.statusCode == 503 && operation.responseSource == .cache)
        #expect(watcher.reasons.elements == [] && server.requests.count == 1)
    }

    /// The rest that a stored response asks for began when it came.
    @Test func theDelayOfAStoredFailureMayBeOver() async throws {
        let server = try ScriptedServer([Self.busy(["Retry-After": "60"]), Self.done])
        let scene = CacheScene(server)
        await scene.fetch()
        scene.pass(3000)
        let operation = await scene.fetch(scene.request()) { $0.retryPolicy = quick() }
        #expect(operation.text == "done" && server.requests.count == 2)
    }
}
