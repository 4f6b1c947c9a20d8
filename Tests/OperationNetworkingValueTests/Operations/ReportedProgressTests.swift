import Foundation
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

/// The `Progress` objects that are written here, with any counts that a server's lengths give.
struct ReportedProgressTests {
    /// Foundation's divides by the total, and traps if that becomes 0 after another one.
    @Test(arguments: [
        [10, 0], [10, 0, 10], [10, -1], [10, -1, 0], [0, 10], [-1, 0], [0, 0], [5, 10, 2],
    ])
    func anyLengthMayFollowAnother(totals: [Int64]) {
        let parent = Progress(totalUnitCount: 2)
        let own = ReportedProgress()
        parent.addChild(own, withPendingUnitCount: 1)
        for total in totals {
            for completed in [0, total > 0 ? total / 2 : 50] {
                own.count(completed: completed, total: total)
                own.publish()
                #expect(own.totalUnitCount == total && own.completedUnitCount == completed)
                #expect((0...1).contains(own.fractionCompleted) && parent.completedUnitCount == 0)
            }
        }
        own.complete(0)
        own.publish()
        #expect(own.isFinished && parent.completedUnitCount == 1)
    }
}
