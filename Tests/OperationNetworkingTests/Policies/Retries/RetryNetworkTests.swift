import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// Attempts that wait for a network.
@Suite(.timeLimit(.minutes(1)))
struct RetryNetworkTests {
    /// A network that is gone until its gate is open, or is there all the time.
    private final class Network: NetworkWaiting {
        let gate = Gate()
        let isGone: Bool
        let returns = Recorder<Bool>()

        init(isGone: Bool = true) {
            self.isGone = isGone
        }

        func waitForNetwork() async -> Bool {
            if isGone { try? await gate.wait() } else { gate.open() }
            returns.append(Task.isCancelled)
            return isGone
        }
    }

    private let callbacks = DispatchQueue(label: "callbacks")

    private func operation(
        _ server: ScriptedServer,
        _ network: any NetworkWaiting,
        timeBudget: TimeInterval? = nil,
        initialDelay: TimeInterval = 0.001
    ) -> HTTPRequestOperation {
        var policy = RetryPolicy(maximumRetries: 2, timeBudget: timeBudget)
        policy.initialDelay = initialDelay
        policy.network = network
        let operation = HTTPRequestOperation(request: URLRequest(url: server.url))
        operation.completionQueue = callbacks
        operation.retryPolicy = policy
        return operation
    }

    @Test func afterAnErrorItWaitsForTheNetwork() async throws {
        let network = Network()
        let server = try ScriptedServer([.hangUp, .respond(body: "done")])
        let operation = operation(server, network)
        operation.start()
        try await network.gate.waitForArrivals()
        #expect(server.requests.count == 1 && !operation.isFinished)
        network.gate.open()
        #expect(try await operation.value as? Data == Data("done".utf8))
        #expect(server.requests.count == 2)
    }

    @Test func withANetworkItWaitsForTheDelay() async throws {
        let network = Network(isGone: false)
        let server = try ScriptedServer([.hangUp, .hangUp, .respond(body: "done")])
        let operation = operation(server, network)
        let watcher = RetryWatcher()
        operation.addObserver(watcher)
        operation.start()
        #expect(try await operation.value as? Data == Data("done".utf8))
        #expect(try await network.returns.wait(count: 2) == [false, false])
        #expect(try await watcher.reasons.wait(count: 2) == ["-1005", "-1005"])
    }

    @Test func aStatusDoesNotRequestTheNetwork() async throws {
        let network = Network()
        let server = try ScriptedServer([.respond(503), .respond(body: "done")])
        let operation = operation(server, network)
        operation.start()
        #expect(try await operation.value as? Data == Data("done".utf8))
        #expect(network.returns.elements.isEmpty)
    }

    @Test func cancelEndsTheWait() async throws {
        let network = Network()
        let server = try ScriptedServer([.hangUp])
        let operation = operation(server, network)
        operation.start()
        try await network.gate.waitForArrivals()
        operation.cancel()
        await #expect(throws: URLError.self) { try await operation.value }
        #expect((operation.error as? URLError)?.code == .cancelled)
        #expect(try await network.returns.wait() == [true])
    }

    @Test func aResumedOperationDoesNotWait() async throws {
        let network = Network()
        let server = try ScriptedServer([.hangUp, .respond(body: "done")])
        let operation = operation(server, network)
        operation.start()
        try await network.gate.waitForArrivals()
        operation.pause()
        #expect(try await network.returns.wait() == [true])
        operation.resume()
        #expect(try await operation.value as? Data == Data("done".utf8))
    }

    @Test func theBudgetEndsTheWait() async throws {
        let network = Network()
        let server = try ScriptedServer([.hangUp])
        let operation = operation(server, network, timeBudget: 1)
        operation.start()
        await #expect(throws: URLError.self) { try await operation.value }
        #expect((operation.error as? URLError)?.code == .networkConnectionLost)
        #expect(try await network.returns.wait() == [true])
        #expect(server.requests.count == 1)
    }

    @Test func theSameNetworkMakesEqualPolicies() throws {
        let network = Network()
        var (first, second) = (RetryPolicy(), RetryPolicy())
        first.network = network
        #expect(first != second)
        second.network = network
        #expect(first == second && first.hashValue == second.hashValue)
        second.network = Network()
        #expect(first != second)
        let copy = try JSONDecoder().decode(RetryPolicy.self, from: try JSONEncoder().encode(first))
        #expect(copy.network == nil && copy == RetryPolicy())
    }
}
