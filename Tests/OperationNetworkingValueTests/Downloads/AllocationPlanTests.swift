import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite struct AllocationPlanTests {
    private static let step = AllocationPlan.step

    @Test func nothingIsAllocatedForAnUnknownLength() {
        var plan = AllocationPlan(from: 0)
        #expect(plan.first() == nil)
        #expect(plan.next(for: 1000) == nil)
    }

    @Test func nothingIsAllocatedBeyondTheLength() {
        var plan = AllocationPlan(from: 10, total: 100)
        #expect(plan.first() == 10..<100)
        #expect(plan.first() == nil)
        #expect(plan.next(for: 101) == nil)
    }

    @Test func aStepIsAllocatedWhenTheOneBeforeIsFull() {
        let total = 2 * Self.step + 5
        var plan = AllocationPlan(from: 0, total: total)
        #expect(plan.first() == 0..<Self.step)
        #expect(plan.next(for: Self.step) == nil)
        #expect(plan.next(for: Self.step + 1) == Self.step..<2 * Self.step)
        #expect(plan.next(for: 2 * Self.step + 1) == 2 * Self.step..<total)
        #expect(plan.next(for: total + 1) == nil)
    }

    @Test func anyLengthIsHandled() {
        var plan = AllocationPlan(from: .max - 1, total: .max)
        let last: Range<Int64> = (Int64.max - 1)..<Int64.max
        #expect(plan.first() == last)
        plan = AllocationPlan(from: 0, total: .max)
        #expect(plan.first() == 0..<Self.step)
        #expect(plan.next(for: .max) == nil)
        plan = AllocationPlan(from: 5, total: 4)
        #expect(plan.first() == nil)
    }

    @Test func whatIsStoppedAllocatesNothing() {
        var plan = AllocationPlan(from: 0, total: 1 << 40)
        #expect(plan.first() != nil)
        plan.stop()
        #expect(plan.next(for: Self.step + 1) == nil)
    }
}
