import Foundation
import FoundationNetworking
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite(.timeLimit(.minutes(1)))
struct ThreadMakingTests {
    /// Fails at each moment that the value names, until it has waited for long enough.
    private func moments(_ making: inout ThreadMaking, from start: Double) -> [Double] {
        var moments = [start]
        while let pause = making.didFail(now: MonotonicTime(seconds: moments[moments.count - 1])) {
            moments.append(moments[moments.count - 1] + pause)
        }
        return moments
    }

    @Test func thePausesGrowAndEndAfterTwoSeconds() {
        var making = ThreadMaking()
        let moments = moments(&making, from: 10)
        let pauses = zip(moments.dropFirst(), moments).map { $0 - $1 }
        #expect(zip(pauses.dropFirst(), pauses).allSatisfy { $0 >= $1 - 1e-9 })
        #expect(abs(pauses[0] - 0.001) < 1e-9 && pauses.allSatisfy { $0 < 0.2501 })
        #expect((12...12.25).contains(moments[moments.count - 1]))
        #expect(moments.count < 30)
    }

    @Test func theNextOnesTryOnceUntilNoneHasTriedForTwoSeconds() {
        var making = ThreadMaking()
        #expect(moments(&making, from: 10).count > 2)
        for second in [12.5, 14, 15.9] {
            #expect(making.didFail(now: MonotonicTime(seconds: second)) == nil)
        }
        #expect(making.didFail(now: MonotonicTime(seconds: 18)) == 0.001)
        #expect(!making.isDone)
        making.didMake()
        #expect(making.isDone)
    }

    /// In a process of its own: the limit is that of a user, and does not count for root.
    @Test(.enabled(if: geteuid() == 0)) func withoutAThreadOperationsFailAndLaterOnesWork() async {
        await #expect(processExitsWith: .success) {
            alarm(50)
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

            let (first, begin) = (operation(), MonotonicTime.now)
            first.start()
            guard first.isFinished, !first.isExecuting, first.response == nil else { exit(3) }
            guard (1.9..<20).contains(MonotonicTime.now - begin) else { exit(4) }
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
