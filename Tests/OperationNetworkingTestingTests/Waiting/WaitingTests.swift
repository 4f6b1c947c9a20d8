import Foundation
import OperationNetworkingTesting
import Testing

@Suite(.timeLimit(.minutes(1)))
struct WaitingTests {
    @Test func anOpenGateBlocksNobody() async throws {
        let gate = Gate()
        async let first: Void = gate.wait()
        async let second: Void = gate.wait()
        try await gate.waitForArrivals(2)
        #expect(!gate.isOpen)
        gate.open()
        gate.open()
        try await first
        try await second
        try await gate.wait()
        try gate.waitSynchronously()
        #expect(gate.arrivals == 4)
    }

    @Test func aThreadWaitsForAGate() async throws {
        let gate = Gate()
        let passed = Gate()
        Thread {
            try? gate.waitSynchronously()
            if gate.isOpen { passed.open() }
        }.start()
        try await gate.waitForArrivals()
        gate.open()
        try await passed.wait()
    }

    @Test func waitingHasALimit() async throws {
        let gate = Gate()
        let error = await #expect(throws: TimeLimitExceeded.self) {
            try await gate.wait(within: .milliseconds(1))
        }
        #expect(error?.description == "Timed out after 0.001 seconds: the gate stayed closed.")
        #expect(throws: TimeLimitExceeded.self) { try gate.waitSynchronously(within: .milliseconds(1)) }
        let recorder = Recorder<Int>()
        recorder.append(7)
        await #expect(throws: TimeLimitExceeded.self) {
            try await recorder.wait(count: 2, within: .milliseconds(1))
        }
        #expect(throws: TimeLimitExceeded.self) {
            try recorder.waitSynchronously(count: 2, within: .milliseconds(1))
        }
    }

    @Test func aCancelledTaskNoLongerWaits() async throws {
        let gate = Gate()
        let task = Task { try await gate.wait() }
        try await gate.waitForArrivals()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func aRecorderKeepsTheOrder() async throws {
        let recorder = Recorder<Int>()
        async let all = recorder.wait(count: 3)
        for number in 1...3 { recorder.append(number) }
        #expect(try await all == [1, 2, 3])
        #expect(try recorder.waitSynchronously(count: 3) == [1, 2, 3])
    }

    @Test func aRecorderReturnsAsManyAsWereRequested() async throws {
        let recorder = Recorder<Int>()
        for number in 1...3 { recorder.append(number) }
        #expect(try await recorder.wait() == [1])
        #expect(try recorder.waitSynchronously(count: 2) == [1, 2])
        #expect(recorder.elements == [1, 2, 3])
    }

    // MARK: - Conditions

    @Test func aConditionIsCheckedUntilItHolds() async throws {
        var checks = 0
        try await eventually {
            checks += 1
            return checks == 200
        }
        #expect(checks == 200)
        try eventuallySynchronously {
            checks += 1
            return checks == 210
        }
        #expect(checks == 210)
    }

    @Test func aConditionThatHoldsIsCheckedOnce() async throws {
        var checks = 0
        try await eventually(within: .zero) {
            checks += 1
            return true
        }
        try eventuallySynchronously(within: .zero) {
            checks += 1
            return true
        }
        #expect(checks == 2)
    }

    @Test func aConditionThatDoesNotHoldNamesItsLine() async throws {
        let line = #line + 1
        let waiting = Task { try await eventually(within: .milliseconds(1)) { false } }
        let error = await #expect(throws: TimeLimitExceeded.self) { try await waiting.value }
        let place = "OperationNetworkingTestingTests/WaitingTests.swift:\(line)"
        #expect(error?.explanation == "the condition at \(place) did not hold.")
        #expect(throws: TimeLimitExceeded.self) {
            try eventuallySynchronously(within: .milliseconds(1)) { false }
        }
    }

    /// Before the first check, between two turns, and in the pause between two checks.
    @Test(arguments: [0, 1, 200]) func aCancelledTaskChecksNoConditionAnyMore(checks: Int) async throws {
        let checked = Recorder<Int>()
        let task = Task {
            if checks == 0 { try? await Gate().wait() }
            try await eventually {
                checked.append(1)
                return false
            }
        }
        try await checked.wait(count: checks)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @MainActor @Test func aConditionIsCheckedOnTheActorOfItsCaller() async throws {
        var isHere = false
        Task { @MainActor in isHere = true }
        try await eventually {
            MainActor.assertIsolated()
            return isHere
        }
    }

    @Test func theErrorOfAConditionEndsTheWait() async {
        await #expect(throws: CocoaError.self) { try await eventually { throw CocoaError(.fileNoSuchFile) } }
        #expect(throws: CocoaError.self) { try eventuallySynchronously { throw CocoaError(.fileNoSuchFile) } }
    }

    // MARK: - Folders

    @Test func aTemporaryDirectoryIsRemovedWithItsLastReference() throws {
        var directory: TemporaryDirectory? = try TemporaryDirectory()
        let file = try #require(directory?.file("a"))
        try Data("x".utf8).write(to: file)
        #expect(FileManager.default.fileExists(atPath: file.path))
        directory = nil
        #expect(!FileManager.default.fileExists(atPath: file.deletingLastPathComponent().path))
    }
}
