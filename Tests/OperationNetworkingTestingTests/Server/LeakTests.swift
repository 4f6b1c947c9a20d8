import Foundation
import OperationNetworkingTesting
import Testing

/// In processes of their own, where no other test opens descriptors.
@Suite(.timeLimit(.minutes(1)))
struct LeakTests {
    @Test func serversLeaveNoDescriptorBehind() async {
        await #expect(processExitsWith: .success) {
            alarm(50)
            func descriptors() throws -> Int {
                try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
            }
            // Whatever Foundation and Dispatch open once, for timers for example, is open after this.
            _ = try ScriptedServer([.respond()]).get()
            try? await Gate().wait(within: .milliseconds(1))
            let before = try descriptors()
            for _ in 1...20 {
                let server = try ScriptedServer([
                    .respond(body: "0123456789", breakingAfter: 4),
                    .respond(body: "0123456789").resetting(after: 4),
                    .silence,
                ])
                let clients = try (1...5).map { _ in try RawClient(port: server.port) }
                for client in clients { try client.get() }
                try await server.waitForStalls(count: 3)
                server.stop()
            }
            let after = try descriptors()
            #expect(after <= before)  // the runtime may have closed one of its own
        }
    }

    @Test func descriptorsAreNotInherited() async {
        await #expect(processExitsWith: .success) {
            alarm(50)
            func sockets(closedOnExec: Bool) -> Int {
                (Int32(0)..<256).count { descriptor in
                    let flags = fcntl(descriptor, F_GETFD)
                    var information = stat()
                    guard flags != -1, fstat(descriptor, &information) == 0 else { return false }
                    let isSocket = information.st_mode & S_IFMT == S_IFSOCK
                    return isSocket && (flags & FD_CLOEXEC != 0) == closedOnExec
                }
            }
            let inheritable = sockets(closedOnExec: false)
            let server = try ScriptedServer([.silence])
            let client = try RawClient(port: server.port)
            try client.get()
            try await server.waitForStalls()
            #expect(sockets(closedOnExec: false) <= inheritable)
            #expect(sockets(closedOnExec: true) >= 3)
            server.stop()
        }
    }
}
