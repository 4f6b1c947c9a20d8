import Dispatch
import Foundation
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

/// The queues on which callbacks are watched.
@Suite(.timeLimit(.minutes(2))) struct MainQueueTests {
    /// The first callbacks of a queue find out whether it targets the main queue while others ask for it: a value that
    /// is replaced while another thread reads it ends the process.
    @Test func callbacksOfAConcurrentQueueAreNotedFromManyThreads() async {
        await #expect(processExitsWith: .success) {
            alarm(100)
            for _ in 0..<Rounds.count(60) {
                let queue = DispatchQueue(label: "concurrent", attributes: .concurrent)
                queue.suspend()
                for _ in 0..<1000 { MainQueue.noteCallback(on: queue) }
                queue.resume()
                DispatchQueue.concurrentPerform(iterations: 4) { _ in
                    for _ in 0..<10_000 { MainQueue.noteCallback(on: queue) }
                }
                queue.sync(flags: .barrier) {}
            }
        }
    }
}
