import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

@Suite(.timeLimit(.minutes(1)))
struct NoThreadTests {
    /// Has Dispatch make threads, which it keeps for some seconds: where it can make none, `async` waits for
    /// ever.
    private static func makeDispatchThreads() {
        let queues = [.global()] + (0..<8).map { DispatchQueue(label: "\($0)") }
        let (isThere, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        for queue in queues {
            queue.async {
                isThere.signal()
                mayEnd.wait()
            }
        }
        for _ in queues { isThere.wait() }
        for _ in queues { mayEnd.signal() }
    }

    /// In a process of its own: the limit is that of a user, and does not count for root.
    @Test(.enabled(if: geteuid() == 0)) func withoutAThreadOperationsFailAndLaterOnesWork() async {
        await #expect(processExitsWith: .success) {
            alarm(50)
            NoThreadTests.makeDispatchThreads()
            let server = try ScriptedServer { _ in .respond(body: "x") }
            var limit = rlimit()
            getrlimit(__rlimit_resource_t(__RLIMIT_NPROC.rawValue), &limit)
            func setLimit(_ count: rlim_t) {
                limit.rlim_cur = count
                setrlimit(__rlimit_resource_t(__RLIMIT_NPROC.rawValue), &limit)
            }
            func operation() -> HTTPRequestOperation {
                HTTPRequestOperation(request: URLRequest(url: server.url))
            }
            guard setuid(54_321) == 0 else { exit(2) }
            setLimit(1)

            let first = operation()
            first.start()
            guard first.isFinished, !first.isExecuting, first.response == nil else { exit(3) }
            let error = first.error as? URLError
            guard error?.code == .resourceUnavailable else { exit(5) }
            guard error?.localizedDescription.contains("RLIMIT_NPROC") == true else { exit(6) }
            guard (error?.userInfo[NSUnderlyingErrorKey] as? NSError)?.code == Int(EAGAIN) else { exit(7) }

            // One that waits for nothing but the network thread.
            let cancelled = operation()
            cancelled.pause()
            cancelled.start()
            cancelled.cancel()
            guard cancelled.isFinished, (cancelled.error as? URLError)?.code == .cancelled else { exit(8) }
            let paused = operation()
            paused.pause()
            paused.start()
            paused.resume()
            guard (paused.error as? URLError)?.code == .resourceUnavailable else { exit(9) }

            setLimit(limit.rlim_max)
            let last = operation()
            last.start()
            guard case _? = try? await last.value, last.responseString == "x" else { exit(10) }
        }
    }
}
