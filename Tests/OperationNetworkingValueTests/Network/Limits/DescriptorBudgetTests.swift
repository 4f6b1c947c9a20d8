import OperationNetworkingSystem
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite struct DescriptorBudgetTests {
    /// What the process has open, as a test says.
    private final class Table {
        var open = 0
        var limit: Int?

        init(limit: Int?) {
            self.limit = limit
        }
    }

    private struct Scene {
        let table: Table
        var budget: DescriptorBudget
        private var domains = TransferDomains()

        init(limit: Int?) {
            let table = Table(limit: limit)
            self.table = table
            budget = DescriptorBudget { (table.open, table.limit) }
        }

        /// What becomes of one more in a pass at that time.
        mutating func start(at second: Double, othersFreeSome: Bool = true, expected: Int = 0) -> String {
            budget.beginPass()
            let mayStart = budget.allowStart(
                now: MonotonicTime(seconds: second),
                othersFreeSome: othersFreeSome,
                expected: expected,
                in: &domains
            )
            return mayStart ? "starts" : "waits"
        }
    }

    /// The number of transfers that may start before the next count, and the number of connections that are
    /// kept.
    @Test(arguments: [
        (nil, 1000, 256), (1 << 20, 1000, 256), (1024, 224, 128), (256, 56, 32), (64, 10, 8), (32, 2, 4),
    ])
    func aLimitIsEnoughForSoMany(limit: Int?, starts: Int, idle: Int) {
        var scene = Scene(limit: limit)
        var count = 0
        while count < 1000, scene.start(at: 10) == "starts" { count += 1 }
        #expect(count == starts)
        #expect(scene.budget.idleConnections == idle)
    }

    @Test func aStartWaitsWhileOthersAreAboutToFreeDescriptors() {
        var scene = Scene(limit: 256)
        scene.table.open = 230
        #expect(scene.start(at: 10) == "waits")
        #expect(scene.budget.isShort && scene.budget.idleConnections == 0)
        let next = scene.budget.nextLook
        #expect(next.map { $0 > MonotonicTime(seconds: 10) } == true)
        // It is looked at again when there is time for it.
        scene.table.open = 100
        #expect(scene.start(at: 10.001) == "waits")
        #expect(scene.start(at: 10.02) == "starts")
        #expect(scene.budget.nextLook == nil && scene.budget.idleConnections == 32)
    }

    @Test func aSingleStartIsAdmitted() {
        var scene = Scene(limit: 256)
        scene.table.open = 256
        #expect(scene.start(at: 10, othersFreeSome: false) == "starts")
        #expect(scene.start(at: 10) == "waits")
    }

    @Test func thoseThatHaveStartedCountWithWhatTheyMayOpen() {
        var scene = Scene(limit: 256)
        scene.table.open = 40
        #expect(scene.start(at: 10, expected: 180) == "starts")
        #expect(scene.start(at: 10) == "waits")
        var other = Scene(limit: 256)
        other.table.open = 40
        #expect(other.start(at: 10, expected: 184) == "waits")
        // The program has raised the limit.
        other.table.limit = 1024
        #expect(other.start(at: 11, expected: 184) == "starts")
    }

    @Test func anExhaustedLimitLastsUntilTheNextCheck() {
        var scene = Scene(limit: 256)
        #expect(scene.start(at: 10) == "starts")
        let waits = scene.budget.didRunOut(othersFreeSome: true, waitingCount: 0, holdsFiles: false)
        #expect(waits && scene.start(at: 10) == "waits")
        #expect(scene.start(at: 10.02) == "starts")
        // The files of a download.
        scene.budget.take(220)
        #expect(scene.start(at: 10.0201) == "waits")
    }

    @Test(arguments: [(true, true), (true, false), (false, true), (false, false)])
    func whatFoundNoneWaitsIfAnotherIsAboutToFreeSome(freesSome: Bool, holdsFiles: Bool) {
        var scene = Scene(limit: 256)
        let waits = scene.budget.didRunOut(othersFreeSome: freesSome, waitingCount: 1, holdsFiles: holdsFiles)
        #expect(waits == (freesSome || holdsFiles))
    }

    @Test func whereAllWaitForOneAnotherEachIsLetInOnceAndThenOneFails() {
        var scene = Scene(limit: 256)
        scene.table.open = 256
        func runOut(_ freesSome: Bool = false) -> Bool {
            scene.budget.didRunOut(othersFreeSome: freesSome, waitingCount: 3, holdsFiles: true)
        }
        let waits = (0..<4).map { _ in runOut() }
        #expect(waits == [true, true, true, false])
        // A transfer runs, and another time they are let in again.
        let after = [runOut(true)] + (0..<4).map { _ in runOut() }
        #expect(after == [true, true, true, true, false])
        // There are enough in between.
        scene.table.open = 100
        #expect(scene.start(at: 11) == "starts")
        let later = runOut()
        #expect(later)
    }
}
