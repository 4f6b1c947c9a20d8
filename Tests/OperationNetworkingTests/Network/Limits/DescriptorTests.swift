import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

@Suite(.timeLimit(.minutes(1)))
struct DescriptorTests {
    /// The open descriptors of this process, but for those that it inherited.
    private static func descriptors() -> [Int32] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return names.compactMap { Int32($0) }.filter { $0 > 2 && fcntl($0, F_GETFD) >= 0 }
    }

    /// Whether it is an end of a pair within this process. libcurl makes one for each of its multi handles and one for
    /// each look-up, and does not say which; they are inherited, but nothing of a transfer goes over them.
    private static func isPair(_ descriptor: Int32) -> Bool {
        var domain: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &domain, &length)
        return domain == AF_UNIX
    }

    private static func target(of descriptor: Int32) -> String {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(descriptor)")) ?? ""
    }

    private static func output(of command: String) -> String {
        guard let pipe = popen(command, "r") else { return "" }
        defer { pclose(pipe) }
        var bytes: [UInt8] = []
        while case let byte = fgetc(pipe), byte != EOF { bytes.append(UInt8(truncatingIfNeeded: byte)) }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// In a process of its own, where every new descriptor is ours or the scripted server's, which are close-on-exec.
    @Test func noDescriptorOfATransferIsInherited() async throws {
        try SlowResolver.preload()
        await #expect(processExitsWith: .success) {
            alarm(50)
            let before = Set(DescriptorTests.descriptors())
            let gate = Gate()
            let server = try ScriptedServer([.respond(body: "0123456789").held(after: 5, by: gate)])
            let transfers = (0..<4).map { _ in TestTransfer(.plain(server.url)).start() }
            for transfer in transfers { try await transfer.bodyCame.wait() }
            // One that resolves a name has sockets of the resolver's.
            let slow = URL(string: "http://name.slow.test/") ?? server.url
            let resolving = TestTransfer(.plain(slow)).start()
            guard SlowResolver.wait(for: 1) else { exit(9) }
            try await networkThreadIsDone()

            let sockets = DescriptorTests.descriptors().filter { descriptor in
                !before.contains(descriptor)
                    && DescriptorTests.target(of: descriptor).hasPrefix("socket:")
            }
            let connections = sockets.filter { !DescriptorTests.isPair($0) }
            // Four from each side, and the one that listens; a number or two may have been in use before.
            guard connections.count >= 7 else { exit(2) }
            guard connections.allSatisfy({ fcntl($0, F_GETFD) & FD_CLOEXEC != 0 }) else { exit(3) }
            // And what a child really gets. popen(3) closes nothing by itself.
            let inherited = DescriptorTests.output(of: "ls -l /proc/self/fd")
            guard inherited.contains("pipe:") else { exit(5) }
            for descriptor in connections {
                guard !inherited.contains(DescriptorTests.target(of: descriptor)) else { exit(6) }
            }
            gate.open()
            for transfer in transfers {
                guard try await transfer.end().operationError == nil else { exit(7) }
            }
            resolving.stop()
        }
    }

    @Test func runningOutOfDescriptorsIsAnErrorThatNamesTheLimit() async {
        await #expect(processExitsWith: .success) {
            alarm(50)
            let (server, other) = (
                try ScriptedServer([.respond(body: "a")]), try ScriptedServer([.respond(body: "b")])
            )
            guard try await TestTransfer(.plain(server.url)).start().end().operationError == nil else {
                exit(2)
            }
            let highest = DescriptorTests.descriptors().max() ?? 0
            var limit = rlimit(rlim_cur: rlim_t(highest) + 1, rlim_max: rlim_t(highest) + 1)
            guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { exit(3) }
            limit.rlim_cur = rlim_t(highest) + 1
            guard setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { exit(4) }
            // Every number below the limit that is free has to go, too.
            while dup(2) >= 0 {}

            let end = try await TestTransfer(.plain(other.url)).start().end()
            let error = end.operationError as? URLError
            print("without descriptors: \(String(describing: error))")
            guard error?.code == .cannotConnectToHost else { exit(5) }
            guard error?.localizedDescription.contains("RLIMIT_NOFILE") == true else { exit(6) }
            // What has its connection goes on.
            guard try await TestTransfer(.plain(server.url)).start().end().operationError == nil else {
                exit(7)
            }
        }
    }

    /// The network thread needs one of its own and nine for its run loop; libcurl asks for its own later.
    @Test func theFirstUseWithTooFewDescriptorsIsAnErrorAndLaterOnesWork() async {
        await #expect(processExitsWith: .success) {
            alarm(50)
            let server = try ScriptedServer { _ in .respond(body: "a") }
            // What Dispatch needs for its timers.
            let gate = Gate()
            DispatchQueue.global().asyncAfter(deadline: .now() + 0.001) { gate.open() }
            try await gate.wait()
            var fillers: [Int32] = []
            try DescriptorTests.limitDescriptors()
            while case let filler = dup(2), filler >= 0 { fillers.append(filler) }

            let folder = try TemporaryDirectory()
            func error(_ isDownload: Bool = false) async -> URLError? {
                // The server may be the one that gets no descriptor.
                let request = URLRequest(url: server.url, timeoutInterval: 10)
                let operation =
                    isDownload
                    ? DownloadOperation(request: request, to: folder.file("file"))
                    : HTTPRequestOperation(request: request)
                operation.completionQueue = DispatchQueue(label: "callbacks")
                operation.start()
                _ = try? await operation.value
                return operation.error as? URLError
            }
            for free in 0..<10 {
                for isDownload in [true, false] {
                    let error = await error(isDownload)
                    print("with \(free) descriptors: \(String(describing: error))")
                    guard error?.code == .resourceUnavailable else { exit(2) }
                    guard error?.localizedDescription.contains("RLIMIT_NOFILE") == true else { exit(3) }
                }
                guard let filler = fillers.popLast(), close(filler) == 0 else { exit(4) }
            }
            // With ten it starts, whatever is left for libcurl.
            _ = await error()
            for filler in fillers { close(filler) }
            guard await error() == nil else { exit(6) }
        }
    }

    /// Sets the limit a little above what is open.
    private static func limitDescriptors() throws {
        var limit = rlimit()
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        guard getrlimit(resource, &limit) == 0 else { throw POSIXError(.EINVAL) }
        limit.rlim_cur = rlim_t(descriptors().max() ?? 0) + 24
        guard setrlimit(resource, &limit) == 0 else { throw POSIXError(.EINVAL) }
    }
}
