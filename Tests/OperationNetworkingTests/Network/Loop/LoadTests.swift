import Foundation
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite(.timeLimit(.minutes(5)))
struct LoadTests {
    @Test func twentyThousandRequestsWithRandomCancelsDoNotStall() async throws {
        let isLong = ProcessInfo.processInfo.environment["OPERATIONNETWORKING_LONG"] != nil
        let count = isLong ? 100_000 : Rounds.count(20_000)
        let server = try ScriptedServer { _ in .respond(body: "hello") }
        let load = Load(server.url, count: count, seed: 1)
        let start = MonotonicTime.now
        load.fill()
        try await load.done.wait(within: .seconds(240))
        let seconds = MonotonicTime.now - start
        let figures = load.figures
        print("\(count) requests in \(seconds) s: \(figures)")
        #expect(figures.ended + figures.stopped == count)
        #expect(figures.failures == [])
        #expect(figures.stopped > count / 100)
        // A stopped transfer takes its connection along; the others come back.
        #expect(server.connectionsAccepted <= figures.stopped + Load.concurrencies.reduce(0, max))
    }
}

/// Many transfers, a changing number of them at once, some of which are stopped at a random moment.
private final class Load: Sendable {
    static let concurrencies = [1, 8, 64, 3, 32]

    struct Figures: Sendable {
        var ended = 0
        var stopped = 0
        var connections = 0
        var failures: [String] = []
    }

    private struct State {
        var random: SeededGenerator
        var left: Int
        var running = 0
        var concurrency = 1
        var figures = Figures()
    }

    let done = Gate()
    private let url: URL
    private let state: Locked<State>

    init(_ url: URL, count: Int, seed: UInt64) {
        self.url = url
        state = Locked(State(random: SeededGenerator(seed: seed), left: count))
    }

    var figures: Figures { state.withLock { $0.figures } }

    /// Starts as many as may run now.
    func fill() {
        while let delay = next() { start(stoppingAfter: delay) }
    }

    /// After how many turns of the network thread the next one is stopped, 0 for never; `nil`: none may start now.
    private func next() -> Int? {
        state.withLock { state in
            if state.left % 500 == 0 {
                state.concurrency = Self.concurrencies.randomElement(using: &state.random) ?? 1
            }
            guard state.left > 0, state.running < state.concurrency else { return nil }
            state.left -= 1
            state.running += 1
            guard Int.random(in: 0..<4, using: &state.random) == 0 else { return 0 }
            return Int.random(in: 1...4, using: &state.random)
        }
    }

    private func start(stoppingAfter delay: Int) {
        let transfer = LoadTransfer(.plain(url, idleTimeout: 0)) { [self] end in
            finish { figures in
                figures.ended += 1
                figures.connections += end.metrics.connectionCount
                if let error = end.error { figures.failures.append("\(error)") }
            }
        }
        transfer.start()
        if delay > 0 { stop(transfer, after: delay) }
    }

    private func stop(_ transfer: LoadTransfer, after turns: Int) {
        NetworkThread.shared.perform { [self] network in
            guard !transfer.hasEnded else { return }
            guard turns <= 1 else { return stop(transfer, after: turns - 1) }
            network.transfers.stop(transfer.id)
            finish { $0.stopped += 1 }
        }
    }

    private func finish(_ count: (inout Figures) -> Void) {
        let isDone = state.withLock { state in
            state.running -= 1
            count(&state.figures)
            return state.left == 0 && state.running == 0
        }
        if isDone { done.open() } else { fill() }
    }
}

/// As little as can be, so that the engine is what is loaded.
private final class LoadTransfer: TransferClient, Sendable {
    let id = TransferID.next()
    private let request: TransferRequest
    private let isOver = Locked(false)
    private let onEnd: @Sendable (TransferEnd) -> Void

    init(_ request: TransferRequest, onEnd: @escaping @Sendable (TransferEnd) -> Void) {
        self.request = request
        self.onEnd = onEnd
    }

    var hasEnded: Bool { isOver.withLock { $0 } }

    func start() {
        NetworkThread.shared.perform { [self] network in network.transfers.start(request, id: id, for: self) }
    }

    func transferDidReceive(_ head: ResponseHead) -> HeadAnswer { .receive }

    func transferDidReceive(_ changes: CookieChanges) {}

    var transferMustWait: Bool { false }

    func transferDidReceive(_ bytes: Span<UInt8>) throws {}

    func transferDidSend(_ count: Int) {}

    func transferDidSeek(to offset: Int64) {}

    func transferDidComplete(_ end: TransferEnd) {
        isOver.withLock { $0 = true }
        onEnd(end)
    }
}
