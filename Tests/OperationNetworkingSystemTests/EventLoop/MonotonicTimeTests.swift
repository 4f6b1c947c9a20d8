import OperationNetworkingSystem
import Testing

@Suite(.timeLimit(.minutes(1)))
struct MonotonicTimeTests {
    @Test func itNeverGoesBack() {
        var last = MonotonicTime.now
        for _ in 0..<10_000 {
            let now = MonotonicTime.now
            #expect(now >= last)
            last = now
        }
    }

    @Test func momentsAndSecondsAddUp() {
        let moment = MonotonicTime(seconds: 10)
        #expect(moment + 2.5 == MonotonicTime(seconds: 12.5))
        #expect((moment + 2.5) - moment == 2.5)
        #expect(moment < moment + 0.001)
    }

    @Test func aThreadIsItselfAndNoOther() async {
        let here = ThreadIdentity.current
        #expect(here.isCurrent)
    }
}
