import OperationNetworkingSystem
import Testing

@testable import OperationNetworking

/// What a fast body may take of a pass of the network thread.
@Suite struct PassQuotaTests {
    @Test func onlyUrgentWorkIsUrgentUntilItIsTaken() {
        let inbox = Inbox()
        inbox.append(.network { _ in })
        #expect(!inbox.isUrgent)
        inbox.append(.network { _ in }, isUrgent: true)
        inbox.append(.network { _ in })
        #expect(inbox.isUrgent)
        #expect(inbox.takeAll().count == 3)
        #expect(!inbox.isUrgent)
    }

    /// A piece that waits for the next pass is copied once more.
    @Test func theRestOfABufferIsTaken() {
        #expect(PassQuota.rest >= EasyHandle.receiveBuffer)
    }

    @Test func aTransferYieldsOncePerPassAndReceivesTheRestOfItsBuffer() {
        var pieces = PassQuota()
        for pass in UInt64(1)...2 {
            var answers: [Bool] = []
            for bytes in [PassQuota.share - 1, 1, PassQuota.rest - 1, 1] {
                let isTaken = pieces.take(in: pass)
                #expect(isTaken)
                answers.append(pieces.yields(after: bytes, isAwaited: true))
            }
            #expect(answers == [false, true, false, false])
            let isTaken = pieces.take(in: pass)
            #expect(!isTaken)
        }
    }

    @Test func aTransferContinuesWhileNothingWaits() {
        var pieces = PassQuota()
        for _ in 0..<100 {
            let isTaken = pieces.take(in: 1)
            let yields = pieces.yields(after: PassQuota.share, isAwaited: false)
            #expect(isTaken && !yields)
        }
        let yields = pieces.yields(after: 1, isAwaited: true)
        #expect(yields)
    }

    @Test func aPassIsAwaitedForWorkAndForEnds() {
        let work = Locked(false)
        let clock = PassClock(isAwaited: { work.withLock { $0 } })
        #expect(!clock.isAwaited)
        work.withLock { $0 = true }
        #expect(clock.isAwaited)
        work.withLock { $0 = false }
        clock.hurry()
        #expect(clock.isAwaited)
        clock.tick()
        #expect(!clock.isAwaited)
    }
}
