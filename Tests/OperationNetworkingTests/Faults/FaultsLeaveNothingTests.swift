import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

/// Thousands of requests with every outcome, after which nothing is left behind.
@Suite(.timeLimit(.minutes(5)))
struct FaultsLeaveNothingTests {
    /// A sanitizer makes each request several times as slow.
    private static let count =
        ProcessInfo.processInfo.environment["OPERATIONNETWORKING_SANITIZER"] == nil ? 10_000 : 2_000

    /// The objects that are to be gone.
    private final class Weak {
        weak var operation: ConnectionOperation?
        weak var exchange: Exchange?
    }

    /// The open descriptors, but for idle connections: their server is gone, and libcurl closes them when it needs to.
    private static func descriptors() -> Int {
        (0..<Int32(4096)).count { fcntl($0, F_GETFD) >= 0 && !isIdleConnection($0) }
    }

    /// Whether it is a TCP connection that its other side has closed: in the state `CLOSE_WAIT`.
    private static func isIdleConnection(_ descriptor: Int32) -> Bool {
        var state: UInt8 = 0
        var length = socklen_t(1)
        // The state is the first member of `struct tcp_info`, see tcp(7).
        return getsockopt(descriptor, Int32(IPPROTO_TCP), TCP_INFO, &state, &length) == 0 && state == 8
    }

    private static func server() throws -> ScriptedServer {
        let large = PatternBody(length: 40_000)
        return try ScriptedServer { request in
            switch request.path {
            case "/redirect": .redirect(to: "/plain")
            case "/missing": .respond(404, body: "nothing")
            case "/broken": .respond(body: .pattern(large)).breaking(after: 20_000)
            case "/large": .representation(Representation(.pattern(large), entityTag: .strong("v1")))
            default: .respond(body: "plain")
            }
        }
    }

    /// The operation number `index`, and what is done to it once it is in the queue.
    private static func make(_ index: Int, _ server: ScriptedServer, _ directory: TemporaryDirectory)
        -> (operation: HTTPRequestOperation, act: (HTTPRequestOperation) -> Void)
    {
        let paths = [
            "plain", "redirect", "missing", "broken", "large", "large", "large", "large", "plain", "large",
        ]
        let kind = index % paths.count
        let operation = HTTPRequestOperation(request: URLRequest(url: server.url(path: paths[kind])))
        operation.completionQueue = DispatchQueue.global()
        // A closure that keeps its operation: released after the last callback.
        operation.setCompletion { _, _ in
            _ = operation.isFinished
        } failure: { _, _ in
            _ = operation.isFinished
        }
        switch kind {
        case 4, 6: operation.outputFile = directory.file("\(index % 40)-\(index)")
        case 5, 7: operation.outputStream = OutputStream(toMemory: ())
        default: break
        }
        switch kind {
        case 6, 7, 8: return (operation, { $0.cancel() })
        case 9:
            return (
                operation,
                {
                    $0.pause()
                    $0.resume()
                }
            )
        default: return (operation, { _ in })
        }
    }

    private static func run(_ count: Int, _ server: ScriptedServer, _ directory: TemporaryDirectory)
        async throws
        -> [Weak]
    {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 16
        var left: [Weak] = []
        let ended = Recorder<Bool>()
        for index in 0..<count {
            let (operation, act) = make(index, server, directory)
            operation.whenFinished { ended.append(true) }
            let entry = Weak()
            entry.operation = operation
            left.append(entry)
            queue.addOperation(operation)
            act(operation)
            entry.exchange = operation.state.withLock { $0.exchange }
            if index % 200 == 199 { try await ended.wait(count: index - 100, within: .seconds(60)) }
        }
        try await ended.wait(count: count, within: .seconds(240))
        return left
    }

    /// In a process of its own, where every descriptor is the library's or the server's.
    @Test func thousandsOfRequestsLeaveNoDescriptorAndNoObjectBehind() async {
        await #expect(processExitsWith: .success) {
            alarm(280)
            let directory = try TemporaryDirectory()
            // What is made once and kept: the network thread, Dispatch's threads, libcurl's own.
            let first = try FaultsLeaveNothingTests.server()
            _ = try await FaultsLeaveNothingTests.run(100, first, directory)
            first.stop()
            try await FaultsLeaveNothingTests.settle { true }
            let before = FaultsLeaveNothingTests.descriptors()

            let server = try FaultsLeaveNothingTests.server()
            let left = try await FaultsLeaveNothingTests.run(FaultsLeaveNothingTests.count, server, directory)
            server.stop()
            // Objects go with the last block that holds them, on queues that cannot be waited for.
            try await FaultsLeaveNothingTests.settle {
                left.allSatisfy { $0.operation == nil && $0.exchange == nil }
            }
            let operations = left.count { $0.operation != nil }
            let exchanges = left.count { $0.exchange != nil }
            let running = Recorder<Int>()
            NetworkThread.shared.perform { running.append($0.transfers.count) }
            let transfers = try await running.wait()[0]
            let after = FaultsLeaveNothingTests.descriptors()
            print(
                "left: \(operations) operations, \(exchanges) exchanges, \(transfers) transfers,",
                "\(before) descriptors before, \(after) after"
            )
            guard operations == 0 else { exit(2) }
            guard exchanges == 0 else { exit(3) }
            guard transfers == 0 else { exit(4) }
            guard after <= before else { exit(5) }
        }
    }

    /// Lets everything that is under way on the queues pass, until `condition` holds; gives up after many turns.
    private static func settle(_ condition: () -> Bool) async throws {
        for _ in 0..<2000 {
            let turn = Gate()
            NetworkThread.shared.perform { _ in
                ConnectionOperation.processingQueue.async { DispatchQueue.global().async { turn.open() } }
            }
            try await turn.wait()
            if condition() { return }
        }
    }
}
