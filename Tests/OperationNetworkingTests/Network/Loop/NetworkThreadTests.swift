import Foundation
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite(.timeLimit(.minutes(1)))
struct NetworkThreadTests {
    /// The mechanism of `RunLoopPort`: without it nothing here would wake the loop, since no timer runs and
    /// no work is posted. In a process of its own, where no other test does.
    @Test func theLoopWakesThroughASocket() async {
        await #expect(processExitsWith: .success) {
            alarm(50)
            let gates = (0..<5).map { _ in Gate() }
            let server = try ScriptedServer(gates.map { .respond(body: "0123456789").held(after: 5, by: $0) })
            for gate in gates {
                let transfer = TestTransfer(.plain(server.url, idleTimeout: 0)).start()
                try await transfer.bodyCame.wait()
                gate.open()
                guard try await transfer.end().error == nil, transfer.body == "0123456789" else { exit(2) }
            }
            guard server.connectionsAccepted == 1 else { exit(3) }
        }
    }

    @Test func tenThreadsPostingAtOnceLoseNothingAndKeepTheirOrder() async throws {
        let (threads, posts) = (10, 2_000)
        let seen = Locked([Int: [Int]]())
        let done = Gate()
        let left = Locked(threads * posts)
        for thread in 0..<threads {
            Thread {
                for number in 0..<posts {
                    NetworkThread.shared.perform { _ in
                        seen.withLock { $0[thread, default: []].append(number) }
                        let isLast = left.withLock { left in
                            left -= 1
                            return left == 0
                        }
                        if isLast { done.open() }
                    }
                }
            }.start()
        }
        try await done.wait(within: .seconds(30))
        for thread in 0..<threads {
            #expect(seen.withLock { $0[thread] } == Array(0..<posts))
        }
    }

    @Test func everythingRunsOnOneThreadWithTheFifteenBytesOfItsNameThatLinuxKeeps() async throws {
        let names = Recorder<String?>()
        NetworkThread.shared.perform { _ in names.append(Thread.current.name) }
        ConnectionOperation.withNetworkRunLoop { loop in
            names.append(RunLoop.current === loop ? Thread.current.name : "another run loop")
        }
        #expect(try await names.wait(count: 2) == ["OperationNetwor", "OperationNetwor"])
    }

    @Test func aTimerOfTheUsersRunsThere() async throws {
        let fired = Recorder<String?>()
        ConnectionOperation.withNetworkRunLoop { loop in
            let timer = Timer(timeInterval: 0.01, repeats: true) { timer in
                fired.append(Thread.current.name)
                if fired.elements.count == 3 { timer.invalidate() }
            }
            loop.add(timer, forMode: .common)
        }
        #expect(try await fired.wait(count: 3) == Array(repeating: "OperationNetwor", count: 3))
    }

    @Test func anOutputStreamOfTheUsersWorksThere() async throws {
        let directory = try TemporaryDirectory()
        let file = directory.file("stream")
        let done = Gate()
        ConnectionOperation.withNetworkRunLoop { loop in
            guard let stream = OutputStream(url: file, append: false) else { return }
            stream.schedule(in: loop, forMode: .default)
            stream.open()
            guard stream.hasSpaceAvailable, stream.write(Array("hello".utf8).span) == 5 else { return }
            stream.close()
            stream.remove(from: loop, forMode: .default)
            done.open()
        }
        try await done.wait()
        #expect(try Data(contentsOf: file) == Data("hello".utf8))
        // And the loop goes on as before.
        let server = try ScriptedServer([.respond(body: "x")])
        let end = try await TestTransfer(.plain(server.url)).start().end()
        #expect(end.error == nil)
    }

    @Test func usingTransfersOnAnotherThreadTraps() async {
        #if arch(arm64)
            let trap = ExitTest.Condition.signal(SIGTRAP)
        #else
            let trap = ExitTest.Condition.signal(SIGILL)
        #endif
        await #expect(processExitsWith: trap) {
            alarm(50)
            final class Thief: @unchecked Sendable {
                // @unchecked: what it steals is the point of the test.
                var transfers: Transfers?
            }
            let thief = Thief()
            let gate = Gate()
            NetworkThread.shared.perform { network in
                thief.transfers = network.transfers
                gate.open()
            }
            try await gate.wait()
            _ = thief.transfers?.count
        }
    }

    @Test func theNetworkThreadIsNotWaitedForByItself() async throws {
        let answers = Recorder<Int?>()
        NetworkThread.shared.perform { _ in answers.append(NetworkThread.shared.answer { _ in 1 }) }
        #expect(try await answers.wait() == [nil])
        #expect(NetworkThread.shared.answer { _ in 2 } == 2)
    }

    @Test func aWorkThatWaitsDelaysTheOthersForAMomentOnly() async throws {
        let gate = Gate()
        let done = Recorder<Int>()
        let work = PassWork()
        work.append { try? gate.waitSynchronously() }
        for number in 1...3 { work.append { done.append(number) } }
        // As the network thread does, pass by pass.
        try await eventually {
            _ = work.handOver(now: MonotonicTime.now)
            return done.elements.count == 3
        }
        // Of two workers that begin at once either may be the first.
        #expect(done.elements.sorted() == [1, 2, 3])
        gate.open()
    }
}
