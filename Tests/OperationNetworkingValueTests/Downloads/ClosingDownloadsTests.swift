import Foundation
import OperationNetworkingTesting
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite struct ClosingDownloadsTests {
    /// Of this test alone.
    private let file = URL(fileURLWithPath: "/folder/\(UUID())/a")
    private let called = Recorder<Int>()

    private func wait(_ number: Int, for url: URL) -> Bool {
        ClosingDownloads.wait(for: url) { [called] in called.append(number) }
    }

    @Test func withoutAClosingDownloadNothingWaits() {
        #expect(!wait(1, for: file))
        ClosingDownloads.enter(file)
        #expect(!wait(1, for: file.deletingLastPathComponent().appending(path: "b")))
        ClosingDownloads.leave(file)
        #expect(!wait(1, for: file))
        ClosingDownloads.leave(file)
        #expect(called.elements.isEmpty)
    }

    @Test func eachThatHasClosedCallsAllThatWait() {
        ClosingDownloads.enter(file)
        ClosingDownloads.enter(file)
        #expect(wait(1, for: file))
        #expect(wait(2, for: file.deletingLastPathComponent().appending(path: "./a")))
        ClosingDownloads.leave(file)
        #expect(called.elements == [1, 2])
        // The other one is still there.
        #expect(wait(3, for: file))
        ClosingDownloads.leave(file)
        #expect(called.elements == [1, 2, 3])
        #expect(!wait(4, for: file))
    }
}
