import Foundation
import OperationNetworkingTesting
import Testing

/// In processes of their own, where no other test opens descriptors.
@Suite(.timeLimit(.minutes(1)))
struct LeakTests {
    @Test func serversLeaveNoDescriptorBehind() async {
        await #expect(processExitsWith: .success) {
            alarm(20)
            func descriptors() throws -> Int {
                try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
            }
            _ = try ScriptedServer([.respond()]).get()  // whatever Foundation opens once is open now
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
            precondition(after == before, "\(before) descriptors became \(after)")
        }
    }

    @Test func descriptorsAreNotInherited() async {
        await #expect(processExitsWith: .success) {
            alarm(20)
            let inherited = Set((0..<256).filter { fcntl($0, F_GETFD) != -1 })
            let server = try ScriptedServer([.silence])
            let client = try RawClient(port: server.port)
            try client.get()
            try await server.waitForStalls()
            let own = (0..<256).filter { fcntl($0, F_GETFD) != -1 && !inherited.contains($0) }
            precondition(own.count >= 3, "Only \(own) are open")
            // The ones of Foundation and the runtime are their own business: sockets are ours.
            for descriptor in own {
                var information = stat()
                fstat(descriptor, &information)
                guard information.st_mode & S_IFMT == S_IFSOCK else { continue }
                precondition(fcntl(descriptor, F_GETFD) & FD_CLOEXEC != 0, "\(descriptor) is inherited")
            }
        }
    }
}
