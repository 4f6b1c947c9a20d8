import Foundation
import OperationNetworkingTesting
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite struct ClosingDownloadsTests {
    private let file = URL(fileURLWithPath: "/folder/a")
    private let called = Recorder<Int>()

    private func wait(_ closing: inout ClosingDownloads, _ number: Int, for url: URL) -> Bool {
        closing.wait(for: url) { [called] in called.append(number) }
    }

    @Test func withoutAClosingDownloadNothingWaits() {
        var closing = ClosingDownloads()
        #expect(!wait(&closing, 1, for: file))
        closing.enter(file)
        #expect(!wait(&closing, 1, for: URL(fileURLWithPath: "/folder/b")))
        #expect(closing.leave(file).isEmpty)
        #expect(!wait(&closing, 1, for: file))
        #expect(closing.leave(file).isEmpty)
    }

    @Test func eachThatHasClosedCallsAllThatWait() {
        var closing = ClosingDownloads()
        closing.enter(file)
        closing.enter(file)
        #expect(wait(&closing, 1, for: file))
        #expect(wait(&closing, 2, for: URL(fileURLWithPath: "/folder/./a")))
        for body in closing.leave(file) { body() }
        #expect(called.elements == [1, 2])
        // The other one is still there.
        #expect(wait(&closing, 3, for: file))
        for body in closing.leave(file) { body() }
        #expect(called.elements == [1, 2, 3])
        #expect(!wait(&closing, 4, for: file))
    }
}
