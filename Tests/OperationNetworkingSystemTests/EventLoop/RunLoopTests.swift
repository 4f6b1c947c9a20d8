import Foundation
import OperationNetworkingSystem
import Testing

/// Each test has a thread of its own, and so a run loop of its own.
@Suite(.timeLimit(.minutes(1)))
struct RunLoopTests {
    private static let mode = RunLoop.Mode("test")

    /// Starts a thread with a run loop, and waits for what it resumes the continuation with.
    private func resumed<Value: Sendable>(
        by name: String,
        _ prepare: @escaping @Sendable (CheckedContinuation<Value, any Error>) -> RunLoopSource
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            do {
                try RunLoopThread.start(name: name) { prepare(continuation) }
            } catch {
                continuation.resume(throwing: error)
            }
        }
    }

    /// Runs `body` on a new thread and hands over what it returns.
    private func onOwnThread<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws
        -> Result
    {
        try await withCheckedThrowingContinuation { continuation in
            Thread { continuation.resume(with: .init { try body() }) }.start()
        }
    }

    /// Runs the current run loop until `condition` holds; false if it does not within ten seconds.
    private static func run(_ mode: RunLoop.Mode = .default, until condition: () -> Bool) -> Bool {
        let limit = Date(timeIntervalSinceNow: 10)
        while !condition(), Date() < limit {
            // A run comes back after a source was handled, but not after a timer fired.
            _ = RunLoop.current.run(mode: mode, before: Date(timeIntervalSinceNow: 0.02))
        }
        return condition()
    }

    @Test func aSignalFromAnotherThreadWakesTheLoop() async throws {
        let wakes: [Bool] = try await onOwnThread {
            let poller = try openPoller()
            var wakes: [Bool] = []
            let port = RunLoopPort(descriptor: poller.descriptor) {
                let count = poller.poll { _, _, _ in }
                wakes.append(count == 0 && poller.wasWoken)
            }
            port.add(to: .default)
            guard let wake = poller.wakeDescriptor else { return [] }
            for round in 1...3 {
                Thread { wake.signal() }.start()
                guard Self.run(until: { wakes.count >= round }) else { break }
            }
            return wakes
        }
        #expect(wakes == [true, true, true])
    }

    @Test func signalsBeforeTheHandlerRanCountAsOne() async throws {
        #expect(
            try await onOwnThread {
                var calls = 0
                let source = RunLoopSource { calls += 1 }
                source.add(to: .default)
                for _ in 0..<10 { source.signal() }
                guard Self.run(until: { calls > 0 }) else { return 0 }
                // With nothing signalled a run that may not wait comes back without a call.
                _ = RunLoop.current.run(mode: .default, before: .distantPast)
                return calls
            } == 1
        )
    }

    @Test func aSignalFromTheHandlerItselfRequestsAnotherCall() async throws {
        #expect(
            try await onOwnThread {
                var calls = 0
                var again: (() -> Void)?
                let source = RunLoopSource {
                    calls += 1
                    if calls < 5 { again?() }
                }
                again = { source.signal() }
                defer { again = nil }
                source.add(to: .default)
                source.signal()
                return Self.run { calls == 5 }
            }
        )
    }

    @Test func aSourceIsCalledOnlyInItsModes() async throws {
        let (before, after) = try await onOwnThread {
            var calls = 0
            let source = RunLoopSource { calls += 1 }
            source.add(to: Self.mode)
            source.signal()
            // Something has to be in the default mode, or the loop does not run in it at all.
            let timer = RunLoopTimer {}
            timer.add(to: .default)
            timer.fire(after: 0)
            _ = RunLoop.current.run(mode: .default, before: .distantPast)
            let before = calls
            _ = Self.run(Self.mode) { calls == 1 }
            return (before, calls)
        }
        #expect(before == 0)
        #expect(after == 1)
    }

    @Test func commonModesIncludeTheDefaultOne() async throws {
        #expect(
            try await onOwnThread {
                var calls = 0
                let source = RunLoopSource { calls += 1 }
                source.add(to: .common)
                source.signal()
                return Self.run { calls == 1 }
            }
        )
    }

    @Test func aDescriptorWakesTheLoopOnceForEachTimeItBecomesReady() async throws {
        let calls = try await onOwnThread {
            let (poller, sockets) = (try openPoller(), try SocketPair())
            try poller.watch(sockets.near, for: .readable, token: 1)
            var calls: [Int] = []
            let port = RunLoopPort(descriptor: poller.descriptor) {
                calls.append(poller.poll { _, _, _ in sockets.receiveAtNear() })
            }
            port.add(to: .default)
            for round in 1...3 {
                let timer = RunLoopTimer { sockets.sendFromFar("a") }
                timer.add(to: .default)
                timer.fire(after: 0)
                guard Self.run(until: { calls.count >= round }) else { break }
            }
            return calls
        }
        #expect(calls.filter { $0 > 0 } == [1, 1, 1])
    }

    @Test func theDescriptorIsHandledInEveryModeItWasAddedTo() async throws {
        #expect(
            try await onOwnThread {
                let (poller, sockets) = (try openPoller(), try SocketPair())
                try poller.watch(sockets.near, for: .readable, token: 1)
                var calls = 0
                let port = RunLoopPort(descriptor: poller.descriptor) {
                    calls += poller.poll { _, _, _ in sockets.receiveAtNear() }
                }
                port.add(to: .default)
                port.add(to: Self.mode)
                sockets.sendFromFar("a")
                guard Self.run(Self.mode, until: { calls == 1 }) else { return false }
                sockets.sendFromFar("b")
                return Self.run(.default) { calls == 2 }
            }
        )
    }

    @Test func aTimerFiresNotBeforeItsTimeAndCanBeMoved() async throws {
        let waited = try await onOwnThread {
            let start = MonotonicTime.now
            var fired: [Double] = []
            let timer = RunLoopTimer { fired.append(MonotonicTime.now - start) }
            timer.add(to: .default)
            timer.fire(after: 3600)
            timer.fire(after: 0.02)
            guard Self.run(until: { fired.count == 1 }) else { return fired }
            timer.fire(after: 0.01)
            _ = Self.run { fired.count == 2 }
            return fired
        }
        try #require(waited.count == 2)
        // A run loop's clock and this one are read at different moments.
        #expect(waited[0] >= 0.019)
        #expect(waited[1] >= 0.028)
        #expect(waited[1] < 9)
    }

    @Test func aCancelledTimerDoesNotFire() async throws {
        #expect(
            try await onOwnThread {
                var calls = 0
                let timer = RunLoopTimer { calls += 1 }
                timer.add(to: .default)
                timer.fire(after: 0)
                timer.fire(after: nil)
                _ = RunLoop.current.run(mode: .default, before: .distantPast)
                return calls
            } == 0
        )
    }

    @Test func aThreadPreparesBeforeItRunsItsLoop() async throws {
        let identity = Locked<ThreadIdentity?>(nil)
        let isSame: Bool = try await resumed(by: "any") { continuation in
            identity.withLock { $0 = .current }
            let source = RunLoopSource {
                continuation.resume(returning: identity.withLock { $0?.isCurrent } == true)
            }
            source.add(to: .default)
            source.signal()
            return source
        }
        #expect(isSame)
    }

    @Test(arguments: [("short", "short"), ("a name of more than 15 bytes", "a name of more ")])
    func aThreadHasItsNameForTheSystemToo(name: String, shown: String) async throws {
        let seen: String = try await resumed(by: name) { continuation in
            let name = FileManager.default.contents(atPath: "/proc/thread-self/comm") ?? Data()
            continuation.resume(returning: String(decoding: name.dropLast(), as: UTF8.self))
            // Without a source in it the loop would not sleep, and the thread would use a core for ever.
            let source = RunLoopSource {}
            source.add(to: .default)
            return source
        }
        #expect(seen == shown)
    }
}
