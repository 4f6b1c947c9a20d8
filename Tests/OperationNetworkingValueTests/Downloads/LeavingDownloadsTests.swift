import Foundation
import OperationNetworkingTesting
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite struct LeavingDownloadsTests {
    private let file = URL(fileURLWithPath: "/folder/a")
    private let called = Recorder<Int>()

    private func wait(_ leaving: inout LeavingDownloads, _ number: Int, for url: URL) -> Bool {
        leaving.wait(for: url) { [called] in called.append(number) }
    }

    @Test func whereNoneLeavesNoneWaits() {
        var leaving = LeavingDownloads()
        #expect(!wait(&leaving, 1, for: file))
        leaving.enter(file)
        #expect(!wait(&leaving, 1, for: URL(fileURLWithPath: "/folder/b")))
        #expect(leaving.leave(file).isEmpty)
        #expect(!wait(&leaving, 1, for: file))
        #expect(leaving.leave(file).isEmpty)
    }

    @Test func eachThatLeavesCallsAllThatWait() {
        var leaving = LeavingDownloads()
        leaving.enter(file)
        leaving.enter(file)
        #expect(wait(&leaving, 1, for: file))
        #expect(wait(&leaving, 2, for: URL(fileURLWithPath: "/folder/./a")))
        for body in leaving.leave(file) { body() }
        #expect(called.elements == [1, 2])
        // The other one is still there.
        #expect(wait(&leaving, 3, for: file))
        for body in leaving.leave(file) { body() }
        #expect(called.elements == [1, 2, 3])
        #expect(!wait(&leaving, 4, for: file))
    }
}
