import Foundation
import FoundationNetworking
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

/// A closure runs the network thread's run loop from within something that it called.
@Suite(.timeLimit(.minutes(1)))
struct NestedRunLoopTests {
    /// Runs the current run loop until `condition` holds, and says how often it came back and what CPU time it took.
    private static func run(
        in mode: RunLoop.Mode = .default,
        until condition: () -> Bool
    ) -> (isDone: Bool, rounds: Int, cpuSeconds: Double) {
        let limit = Date(timeIntervalSinceNow: 10)
        let start = ThreadUsage().cpuSeconds
        var rounds = 0
        while !condition(), Date() < limit {
            _ = RunLoop.current.run(mode: mode, before: Date(timeIntervalSinceNow: 0.1))
            rounds += 1
        }
        return (condition(), rounds, ThreadUsage().cpuSeconds - start)
    }

    @Test func postedWorkStaysInOrder() async throws {
        let order = Recorder<String>()
        ConnectionOperation.withNetworkRunLoop { _ in
            order.append("first begins")
            for number in 1...3 { NetworkThread.shared.perform { _ in order.append("\(number)") } }
            _ = Self.run { order.elements.contains("3") }
            order.append("first ends")
        }
        NetworkThread.shared.perform { _ in order.append("second") }
        let elements = try await order.wait(count: 6)
        #expect(elements.first == "first begins")
        let posted = elements.filter { $0.count == 1 }
        #expect(posted == ["1", "2", "3"])
        let (third, last) = (elements.firstIndex(of: "3") ?? .max, elements.firstIndex(of: "first ends") ?? 0)
        #expect(third < last)
    }

    /// In a process of its own, where nothing else wakes the loop.
    @Test func workPostedTogetherRunsDuringTheNestedRun() async {
        await #expect(processExitsWith: .success) {
            alarm(50)
            let second = Gate()
            let isDone = Recorder<Bool>()
            NetworkThread.shared.perform { _ in
                // From here, so that both are taken out of the inbox at once.
                ConnectionOperation.withNetworkRunLoop { _ in
                    isDone.append(NestedRunLoopTests.run { second.isOpen }.isDone)
                }
                NetworkThread.shared.perform { _ in second.open() }
            }
            guard try await isDone.wait(within: .waitingLimit) == [true] else { exit(2) }
        }
    }

    @Test func transfersMoveDuringARunFromAPostedClosure() async throws {
        let gate = Gate()
        let server = try ScriptedServer([.respond(body: "0123456789").held(after: 5, by: gate)])
        let transfer = TestTransfer(.plain(server.url)).start()
        let isDone = Recorder<Bool>()
        ConnectionOperation.withNetworkRunLoop { _ in
            gate.open()
            isDone.append(Self.run { !transfer.ends.elements.isEmpty }.isDone)
        }
        #expect(try await isDone.wait() == [true])
        #expect(try await transfer.end().error == nil)
        #expect(transfer.body == "0123456789")
    }

    @Test func transfersMoveDuringARunFromTheEndOfAnother() async throws {
        let gate = Gate()
        let server = try ScriptedServer(routes: [
            "/a": [.respond(body: "a")], "/b": [.respond(body: "0123456789").held(after: 5, by: gate)],
        ])
        let second = TestTransfer(.plain(server.url(path: "/b"))).start()
        let isDone = Recorder<Bool>()
        let first = TestTransfer(
            .plain(server.url(path: "/a")),
            onEnd: {
                gate.open()
                isDone.append(Self.run { !second.ends.elements.isEmpty }.isDone)
            }
        )
        first.start()
        #expect(try await isDone.wait() == [true])
        #expect(try await second.end().error == nil)
    }

    @Test func transfersMoveInAModeThatAnOperationNamed() async throws {
        let mode = RunLoop.Mode("OperationNetworkingTests.custom")
        let gate = Gate()
        let server = try ScriptedServer([.respond(body: "0123456789").held(after: 5, by: gate)])
        let operation = ConnectionOperation(request: URLRequest(url: server.url))
        operation.runLoopModes = [mode]
        operation.completionQueue = DispatchQueue(label: "callbacks")
        operation.start()
        let isDone = Recorder<Bool>()
        ConnectionOperation.withNetworkRunLoop { _ in
            gate.open()
            isDone.append(Self.run(in: mode) { operation.isFinished }.isDone)
        }
        #expect(try await isDone.wait() == [true])
        #expect(operation.responseData == Data("0123456789".utf8))
    }

    /// In a process of its own: the thread's CPU time counts.
    @Test func aNestedRunDoesNotSpin() async {
        await #expect(processExitsWith: .success) {
            alarm(50)
            let server = try ScriptedServer(routes: [
                "/slow": [.respond(body: .generated(length: 10_000)).throttled(to: 20_000)]
            ])
            let slow = TestTransfer(.plain(server.url(path: "/slow"))).start()
            try await slow.bodyCame.wait()
            let runs = Recorder<(isDone: Bool, rounds: Int, cpuSeconds: Double)>()
            NetworkThread.shared.perform { _ in
                runs.append(NestedRunLoopTests.run { !slow.ends.elements.isEmpty })
            }
            let run = try await runs.wait()[0]
            print("nested: \(run)")
            guard run.isDone, run.rounds < 1_000, run.cpuSeconds < 0.5 else { exit(2) }
        }
    }

    /// From within libcurl nothing can move, but nothing may spin either, and afterwards everything goes on.
    @Test func aRunFromWithinLibcurlNeitherSpinsNorLosesAnything() async {
        await #expect(processExitsWith: .success) {
            alarm(50)
            let server = try ScriptedServer(routes: [
                "/fast": [.respond(body: "fast")],
                "/slow": [.respond(body: .generated(length: 10_000)).throttled(to: 20_000)],
            ])
            let slow = TestTransfer(.plain(server.url(path: "/slow"), idleTimeout: 20)).start()
            try await slow.bodyCame.wait()
            let posted = Gate()
            let runs = Recorder<(isDone: Bool, rounds: Int, cpuSeconds: Double)>()
            let fast = TestTransfer(
                .plain(server.url(path: "/fast")),
                onBytes: { _ in
                    NetworkThread.shared.perform { _ in posted.open() }
                    runs.append(NestedRunLoopTests.run { server.answersEnded == 2 })
                }
            )
            fast.start()
            let run = try await runs.wait(within: .waitingLimit)[0]
            print("nested in libcurl: \(run)")
            guard run.isDone, run.rounds < 1_000, run.cpuSeconds < 0.5 else { exit(2) }
            try await posted.wait()
            guard try await fast.end().error == nil, try await slow.end().error == nil else { exit(3) }
            guard slow.received.withLock({ $0.body.count }) == 10_000 else { exit(4) }
        }
    }
}
