import Foundation
import OperationNetworking
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// In a process of its own: the network thread is watched from outside.
@Suite(.timeLimit(.minutes(1)))
struct IdleThreadTests {
    /// Work that takes its time, and in which the network thread has no part: a program that counts.
    private static func waitForAnotherProgram() throws {
        let program = Process()
        program.executableURL = URL(fileURLWithPath: "/bin/sh")
        program.arguments = ["-c", "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done"]
        try program.run()
        program.waitUntilExit()
    }

    @Test func openConnectionsCostNoCPUAndNoWakeUp() async {
        await #expect(processExitsWith: .success) {
            alarm(50)
            let gate = Gate()
            let server = try ScriptedServer(routes: [
                "/": [.respond(body: "hello")],
                "/held": [.respond(body: "0123456789").held(after: 5, by: gate)],
            ])
            // Idle connections, and transfers that wait for their server without a time limit.
            let held = (0..<10).map { _ in
                TestTransfer(.plain(server.url(path: "/held"), idleTimeout: 0)).start()
            }
            for transfer in held { try await transfer.bodyCame.wait() }
            let threads = Recorder<String>()
            let short = (0..<20).map { _ in
                TestTransfer(
                    .plain(server.url, idleTimeout: 0),
                    onBytes: { _ in threads.append(ThreadUsage.currentThread) }
                )
                .start()
            }
            for transfer in short { _ = try await transfer.end() }
            let thread = try await threads.wait()[0]
            // Whatever libcurl still wanted to do after the connections were made.
            try IdleThreadTests.waitForAnotherProgram()

            let before = ThreadUsage(of: thread)
            try IdleThreadTests.waitForAnotherProgram()
            let after = ThreadUsage(of: thread)
            print("idle: \(before) \(after)")
            guard before.sleeps > 0, before.cpuSeconds > 0, server.connectionsOpen >= 11 else { exit(2) }
            guard after.sleeps - before.sleeps <= 1 else { exit(3) }
            guard after.cpuSeconds - before.cpuSeconds < 0.001 else { exit(4) }
            gate.open()
            for transfer in held {
                guard try await transfer.end().operationError == nil else { exit(5) }
            }
        }
    }

    @Test func theTimeoutOfACompletedTransferCausesNoWakeUp() async {
        await #expect(processExitsWith: .success) {
            alarm(50)
            let server = try ScriptedServer([.respond(body: "hello")])
            for _ in 0..<10 { _ = try await TestTransfer(.plain(server.url, idleTimeout: 60)).start().end() }
            guard try await !networkThreadHasDeadline() else { exit(2) }
        }
    }
}
