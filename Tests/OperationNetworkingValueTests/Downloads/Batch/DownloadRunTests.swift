import Foundation
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite struct DownloadRunTests {
    private static func run(_ count: Int, limit: Int = 2) -> DownloadRun {
        let origin = Origin(URL(fileURLWithPath: "/"))
        return DownloadRun(Array(repeating: origin, count: count), limit: limit)
    }

    private static func start(_ run: inout DownloadRun) -> [Int] {
        var started: [Int] = []
        while let index = run.next() { started.append(index) }
        return started
    }

    @Test(arguments: [
        (DownloadRun.End.finished, false), (.failed, true), (.cancelled, false),
    ])
    func anEndIsAFailureOrNot(end: DownloadRun.End, hasFailed: Bool) {
        var run = Self.run(3)
        #expect(Self.start(&run) == [0, 1])
        #expect(run.end(0, end) == .ended(hasFailed: hasFailed))
        #expect(run.phase == .running && Self.start(&run) == [2])
    }

    @Test func aStopEndsWhatWaitsOnce() {
        var run = Self.run(5)
        #expect(Self.start(&run) == [0, 1])
        #expect(run.end(1, .failed) == .ended(hasFailed: true))
        #expect(run.stop() == [2, 3, 4] && run.stop() == [])
        #expect(run.phase == .stopped && run.next() == nil)
        #expect(run.end(0, .failed) == .ended(hasFailed: true))
    }

    @Test func aPauseStartsNothingUntilItIsOver() {
        var run = Self.run(3)
        run.pause()
        #expect(run.next() == nil)
        run.resume()
        #expect(Self.start(&run) == [0, 1])
        run.pause()
        #expect(run.end(0, .finished) == .ended(hasFailed: false))
        #expect(run.next() == nil)
        run.resume()
        #expect(run.next() == 2)
    }

    @Test func aFullDiskPausesAndIsReportedOnce() {
        var run = Self.run(3)
        #expect(Self.start(&run) == [0, 1])
        #expect(run.end(0, .outOfSpace) == .putBack(isNews: true))
        #expect(run.phase == .paused)
        #expect(run.end(1, .outOfSpace) == .putBack(isNews: false))
        run.resume()
        // Those that found no room come last.
        #expect(Self.start(&run) == [2])
        #expect(run.end(2, .finished) == .ended(hasFailed: false))
        #expect(Self.start(&run) == [0, 1])
    }

    @Test func aMemberThatNeverFindsRoomDelaysNoOther() {
        var run = Self.run(6)
        #expect(Self.start(&run) == [0, 1])
        #expect(run.end(0, .outOfSpace) == .putBack(isNews: true))
        #expect(run.end(1, .outOfSpace) == .putBack(isNews: false))
        run.resume()
        #expect(Self.start(&run) == [2, 3])
        #expect(run.end(2, .finished) == .ended(hasFailed: false))
        #expect(Self.start(&run) == [4])
        #expect(run.end(3, .failed) == .ended(hasFailed: true))
        #expect(Self.start(&run) == [5])
        #expect(run.end(4, .finished) == .ended(hasFailed: false))
        // One still runs: nothing may pause it.
        #expect(run.next() == nil)
        #expect(run.end(5, .finished) == .ended(hasFailed: false))
        #expect(Self.start(&run) == [0, 1])
        #expect(run.end(0, .outOfSpace) == .putBack(isNews: true))
        run.resume()
        #expect(run.next() == nil)
        #expect(run.end(1, .finished) == .ended(hasFailed: false))
        #expect(Self.start(&run) == [0])
        #expect(run.end(0, .outOfSpace) == .putBack(isNews: true))
        #expect(run.stop() == [0])
    }

    @Test func aLengthThatDoesNotFitPausesTheBatchOnce() {
        var run = Self.run(4)
        #expect(Self.start(&run) == [0, 1])
        #expect(run.end(0, .doesNotFit) == .putBack(isNews: true))
        #expect(run.end(1, .doesNotFit) == .putBack(isNews: false))
        #expect(run.phase == .paused && run.next() == nil)
        run.resume()
        #expect(Self.start(&run) == [2, 3])
        #expect(run.end(2, .finished) == .ended(hasFailed: false))
        #expect(run.next() == nil)
        #expect(run.end(3, .finished) == .ended(hasFailed: false))
        // One at a time: what another has taken is no reason to fail.
        #expect(Self.start(&run) == [0])
        #expect(run.end(0, .doesNotFit) == .ended(hasFailed: true))
        #expect(run.phase == .running)
        #expect(Self.start(&run) == [1])
        #expect(run.end(1, .finished) == .ended(hasFailed: false))
        #expect(run.next() == nil)
    }

    @Test func aDiskThatIsFullPausesAgainAndAgain() {
        var run = Self.run(3, limit: 3)
        #expect(Self.start(&run) == [0, 1, 2])
        #expect(run.end(1, .doesNotFit) == .putBack(isNews: true))
        #expect(run.end(0, .outOfSpace) == .putBack(isNews: false))
        #expect(run.end(2, .outOfSpace) == .putBack(isNews: false))
        run.resume()
        #expect(Self.start(&run) == [1])
        #expect(run.end(1, .outOfSpace) == .putBack(isNews: true))
        run.resume()
        #expect(Self.start(&run) == [0, 2])
        #expect(run.end(0, .outOfSpace) == .putBack(isNews: true))
        #expect(run.end(2, .doesNotFit) == .putBack(isNews: false))
        run.resume()
        #expect(Self.start(&run) == [1])
        #expect(run.end(1, .finished) == .ended(hasFailed: false))
        #expect(Self.start(&run) == [0, 2])
        #expect(run.end(0, .outOfSpace) == .putBack(isNews: true))
        // Its bytes have filled the disk before: that its length does not fit is no news.
        #expect(run.end(2, .doesNotFit) == .putBack(isNews: false))
        run.resume()
        #expect(Self.start(&run) == [0, 2])
        #expect(run.end(0, .finished) == .ended(hasFailed: false))
        #expect(run.end(2, .finished) == .ended(hasFailed: false))
        #expect(run.next() == nil)
    }

    @Test func aMemberThatIsGivenUpForWantOfRoomHasFailed() {
        var run = Self.run(2)
        #expect(Self.start(&run) == [0, 1])
        #expect(run.end(0, .doesNotFit) == .putBack(isNews: true))
        #expect(run.end(1, .doesNotFit) == .putBack(isNews: false))
        run.resume()
        #expect(Self.start(&run) == [0])
        #expect(run.end(0, .doesNotFit) == .ended(hasFailed: true))
        #expect(run.stop() == [1])
    }

    @Test func aFullDiskIsAnEndWhenTheBatchHasStopped() {
        var run = Self.run(3)
        #expect(Self.start(&run) == [0, 1])
        #expect(run.stop() == [2])
        #expect(run.stop() == [])
        #expect(run.end(0, .outOfSpace) == .ended(hasFailed: false))
        #expect(run.end(1, .cancelled) == .ended(hasFailed: false))
        #expect(run.next() == nil)
    }

    @Test func nothingContinuesAfterAStop() {
        var run = Self.run(2)
        _ = run.stop()
        run.pause()
        run.resume()
        #expect(run.phase == .stopped && run.next() == nil)
    }
}
