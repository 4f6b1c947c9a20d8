import Dispatch
import Foundation
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

/// A sink whose destination does what a disk, a pipe or a stream may do.
@Suite(.timeLimit(.minutes(1)))
struct QueuedSinkTests {
    /// Keeps what it gets. A call hangs at its gate, fails, or has no room, as the test has it.
    private final class Destination: SinkDestination, Sendable {
        struct Failure: Error, Equatable {
            let call: String
        }

        let calls = Recorder<String>()
        let written = Recorder<[UInt8]>()
        /// One for each time there was no room.
        let looks = Recorder<Bool>()
        let gate: Gate?
        let hasRoom: Gate?
        let failingCall: String?
        let canBeEmptied: Bool
        let keepsRest: Bool
        let pollableDescriptor: Int32? = nil

        init(
            gate: Gate? = nil,
            hasRoom: Gate? = nil,
            failingCall: String? = nil,
            canBeEmptied: Bool = true,
            keepsRest: Bool = true
        ) {
            self.gate = gate
            self.hasRoom = hasRoom
            self.failingCall = failingCall
            self.canBeEmptied = canBeEmptied
            self.keepsRest = keepsRest
        }

        var bytes: [UInt8] { written.elements.flatMap(\.self) }

        func open() throws -> Bool {
            try call("open")
            return true
        }

        func empty() throws {
            try call("empty")
        }

        func write(_ bytes: Span<UInt8>) throws -> Int {
            if let hasRoom, !hasRoom.isOpen {
                looks.append(true)
                return 0
            }
            try gate?.waitSynchronously(within: .seconds(50))
            try call("write")
            written.append(bytes.indices.map { bytes[$0] })
            return bytes.count
        }

        func close() throws {
            try call("close")
        }

        private func call(_ name: String) throws {
            calls.append(name)
            if name == failingCall { throw Failure(call: name) }
        }
    }

    private func write(_ count: Int, to sink: QueuedSink) throws {
        try sink.write([UInt8](repeating: 7, count: count).span)
    }

    private func result(of sink: QueuedSink) async -> Result<Data?, any Error> {
        await withCheckedContinuation { continuation in
            _ = sink.end { end in
                switch end {
                case .done(let data): continuation.resume(returning: .success(data))
                case .failed(let error): continuation.resume(returning: .failure(error))
                case .mustStartOver, .mustTryAgain:
                    continuation.resume(returning: .failure(Destination.Failure(call: "end")))
                }
            }
        }
    }

    @Test func theEndComesWhenEverythingIsWrittenAndClosed() async throws {
        let destination = Destination()
        let sink = QueuedSink(destination)
        try sink.prepare(.whole)
        try write(1000, to: sink)
        try write(1000, to: sink)
        #expect(sink.count == 2000)
        _ = try await result(of: sink).get()
        #expect(destination.bytes.count == 2000)
        #expect(destination.calls.elements.first == "open" && destination.calls.elements.last == "close")
    }

    @Test func aWriterNeverWaitsForAHangingCall() async throws {
        let gate = Gate()
        let destination = Destination(gate: gate)
        let sink = QueuedSink(destination)
        let changes = Recorder<Bool>()
        sink.onChange = { changes.append(true) }
        try sink.prepare(.whole)
        try write(1, to: sink)
        try await gate.waitForArrivals()
        while !sink.isFull { try write(100_000, to: sink) }
        #expect(changes.elements.isEmpty)
        let count = sink.count

        gate.open()
        try await changes.wait()
        #expect(!sink.isFull)
        _ = try await result(of: sink).get()
        #expect(destination.bytes.count == Int(count))
    }

    @Test(arguments: ["open", "write", "close"]) func aCallThatFailsIsTheResult(_ call: String) async throws {
        let destination = Destination(failingCall: call)
        let sink = QueuedSink(destination)
        try sink.prepare(.whole)
        try write(10, to: sink)
        let result = await result(of: sink)
        #expect(throws: Destination.Failure(call: call)) { try result.get() }
        #expect(sink.failure as? Destination.Failure == Destination.Failure(call: call))
        #expect(throws: Destination.Failure(call: call)) { try sink.prepare(.whole) }
        #expect(destination.calls.elements.last == "close")
    }

    @Test func bytesThatCouldNotBeWrittenAreNotCounted() async throws {
        let destination = Destination(failingCall: "write")
        let sink = QueuedSink(destination)
        let changes = Recorder<Bool>()
        sink.onChange = { changes.append(true) }
        try sink.prepare(.whole)
        try write(10, to: sink)
        try await changes.wait()
        #expect(sink.failure != nil)
        #expect(sink.count == 0)
        #expect(throws: Destination.Failure.self) { try write(10, to: sink) }
        #expect(sink.count == 0)
    }

    @Test func startingAgainLeavesOnlyWhatCameSince() async throws {
        let destination = Destination()
        let sink = QueuedSink(destination)
        try sink.prepare(.whole)
        try write(1000, to: sink)
        try await destination.written.wait()
        try sink.prepare(.whole)
        #expect(sink.count == 0)
        try write(10, to: sink)
        #expect(sink.count == 10)
        _ = try await result(of: sink).get()
        #expect(destination.calls.elements == ["open", "write", "empty", "write", "close"])
        #expect(destination.written.elements.last?.count == 10)
    }

    @Test func whatCannotBeTakenBackDoesNotStartAgain() throws {
        let sink = QueuedSink(Destination(canBeEmptied: false))
        try sink.prepare(.whole)
        #expect(!sink.abilities.canBeEmptied)
        try write(1, to: sink)
        #expect(throws: ResumeError.representationChanged) { try sink.prepare(.whole) }
    }

    @Test func givingUpCompletesWhenAllReceivedBytesAreWritten() async throws {
        let gate = Gate()
        let destination = Destination(gate: gate)
        let sink = QueuedSink(destination)
        try sink.prepare(.whole)
        try write(1000, to: sink)
        try await gate.waitForArrivals()
        try write(500, to: sink)
        let stopped = Gate()
        #expect(sink.abandon { stopped.open() } == .stopping)
        gate.open()
        try await stopped.wait()
        #expect(destination.calls.elements.last == "close")
        #expect(destination.bytes.count == 1500)
    }

    @Test func aDiskThatHangsIsNotWaitedForLong() async throws {
        let gate = Gate()
        let destination = Destination(gate: gate)
        let sink = QueuedSink(destination)
        try sink.prepare(.whole)
        try write(1000, to: sink)
        try await gate.waitForArrivals()
        try write(500, to: sink)
        let stops = Recorder<Bool>()
        #expect(sink.abandon { stops.append(true) } == .stopping)
        try await stops.wait(within: .seconds(30))

        // When it comes back, it gets nothing more.
        gate.open()
        try await destination.calls.wait(count: 3)
        #expect(destination.calls.elements == ["open", "write", "close"])
        #expect(destination.bytes.count == 1000)
        #expect(stops.elements.count == 1)
    }

    @Test func givingUpDoesNotWaitForASinkWithoutRoom() async throws {
        let hasRoom = Gate()
        let destination = Destination(hasRoom: hasRoom)
        let sink = QueuedSink(destination)
        try sink.prepare(.whole)
        try write(1000, to: sink)
        try await destination.looks.wait(count: 3)
        let stopped = Gate()
        #expect(sink.abandon { stopped.open() } == .stopping)
        try await stopped.wait()
        #expect(destination.calls.elements == ["open", "close"])
    }

    @Test func whatHasNoRoomForLongGetsEverythingInTheEnd() async throws {
        let hasRoom = Gate()
        let destination = Destination(hasRoom: hasRoom)
        let sink = QueuedSink(destination)
        try sink.prepare(.whole)
        try write(1000, to: sink)
        // Past the longest interval between two looks.
        try await destination.looks.wait(count: 8)
        hasRoom.open()
        _ = try await result(of: sink).get()
        #expect(destination.bytes.count == 1000)
    }

    @Test func aStreamOfItsOwnerIsNotWaitedFor() async throws {
        let gate = Gate()
        let destination = Destination(gate: gate, keepsRest: false)
        let sink = QueuedSink(destination)
        try sink.prepare(.whole)
        try write(1000, to: sink)
        try await gate.waitForArrivals()
        try write(500, to: sink)
        #expect(sink.abandon {} == .stopped(nil))
        gate.open()
        try await destination.calls.wait(count: 3)
        #expect(destination.calls.elements == ["open", "write", "close"])
    }

    @Test func anUnusedSinkIsNeitherOpenedNorClosed() {
        let destination = Destination()
        let sink = QueuedSink(destination)
        #expect(sink.abandon {} == .stopped(nil))
        #expect(destination.calls.elements.isEmpty)
    }

    @Test func oneThatIsForgottenWhileItHasNoRoomIsClosed() async throws {
        let hasRoom = Gate()
        let destination = Destination(hasRoom: hasRoom)
        try await {
            let sink = QueuedSink(destination)
            try sink.prepare(.whole)
            try write(1000, to: sink)
            try await destination.looks.wait(count: 2)
        }()
        try await destination.calls.wait(count: 2)
        #expect(destination.calls.elements == ["open", "close"])
    }
}

extension BodyStart {
    /// A body from its first byte on.
    fileprivate static var whole: BodyStart {
        BodyStart(
            place: .start(nil),
            total: nil,
            head: ResponseHead(version: "HTTP/1.1", status: 200, fields: HeaderFields()),
            url: URL(fileURLWithPath: "/")
        )
    }
}
