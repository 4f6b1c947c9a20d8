import Foundation
import OperationNetworking
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// Each in a process of its own: the look-up blocks a thread of libcurl's until the end.
@Suite(.timeLimit(.minutes(1)))
struct NameLookupTimeTests {
    private static let name = URL(string: "http://name.slow.test/") ?? URL(fileURLWithPath: "/")

    @Test func aSlowLookupCanBeCancelledWithoutDelayingOthers() async throws {
        try SlowResolver.preload()
        await #expect(processExitsWith: .success) {
            alarm(50)
            let server = try ScriptedServer([.respond(body: "hello")])
            let slow = TestTransfer(.plain(NameLookupTimeTests.name, idleTimeout: 0)).start()
            guard SlowResolver.wait(for: 1) else { exit(9) }
            // It holds up no other transfer while it lasts, nor when it is cancelled: the gate stays shut.
            guard try await TestTransfer(.plain(server.url)).start().end().operationError == nil else {
                exit(2)
            }
            slow.stop()
            try await networkThreadIsDone()
            guard try await TestTransfer(.plain(server.url)).start().end().operationError == nil else {
                exit(3)
            }
            guard slow.ends.elements.isEmpty else { exit(4) }
        }
    }

    @Test func aSlowLookupTimesOutWithoutDelayingOthers() async throws {
        try SlowResolver.preload()
        await #expect(processExitsWith: .success) {
            alarm(50)
            let server = try ScriptedServer([.respond(body: "hello")])
            let slow = TestTransfer(.plain(NameLookupTimeTests.name, idleTimeout: 0.2)).start()
            guard SlowResolver.wait(for: 1) else { exit(9) }
            guard try await slow.end().code == .timedOut else { exit(2) }
            guard try await TestTransfer(.plain(server.url)).start().end().operationError == nil else {
                exit(3)
            }
        }
    }

    @Test func aHundredSlowLookupsCanBeCancelledAtOnce() async throws {
        try SlowResolver.preload()
        await #expect(processExitsWith: .success) {
            alarm(50)
            let server = try ScriptedServer([.respond(body: "hello")])
            let slow = (0..<100).map { _ in
                TestTransfer(.plain(NameLookupTimeTests.name, idleTimeout: 0)).start()
            }
            guard SlowResolver.wait(for: 100) else { exit(9) }
            for transfer in slow { transfer.stop() }
            guard try await TestTransfer(.plain(server.url)).start().end().operationError == nil else {
                exit(2)
            }
            SlowResolver.open()
            guard try await TestTransfer(.plain(server.url)).start().end().operationError == nil else {
                exit(3)
            }
        }
    }

    @Test func aNameThatDoesNotExistIsAnErrorWithAReason() async throws {
        try SlowResolver.preload()
        await #expect(processExitsWith: .success) {
            alarm(50)
            SlowResolver.open()
            let end = try await TestTransfer(.plain(NameLookupTimeTests.name)).start().end()
            guard end.code == .cannotFindHost, "\(end)".contains("name.slow.test") else { exit(2) }
        }
    }
}
