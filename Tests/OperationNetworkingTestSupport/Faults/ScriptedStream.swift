import Foundation
import OperationNetworkingTesting

/// Does what a test wants of a stream.
final class ScriptedStream: OutputStream {
    /// The action of one call: takes a number of bytes at most, or returns this.
    enum Answer: Sendable {
        case takes(Int)
        case returns(Int, (any Error & Sendable)?)
        case closes
    }

    /// The answers to the first calls; the last one is repeated.
    var answers: [Answer] = [.takes(.max)]
    var room: Gate?
    let looks = Recorder<Bool>()
    var record = StreamRecord()
    private var calls = 0
    private var status = Status.notOpen
    private var failure: (any Error)?

    override var hasSpaceAvailable: Bool {
        looks.append(true)
        return status == .open && room?.isOpen != false
    }
    override var streamError: (any Error)? { failure }
    override var streamStatus: Status { status }

    override func open() {
        status = .open
        record.openings.append(true)
    }

    override func close() {
        status = .closed
        record.closings.append(true)
    }

    override func write(_ buffer: UnsafePointer<UInt8>, maxLength: Int) -> Int {
        let answer = answers[min(calls, answers.count - 1)]
        calls += 1
        switch answer {
        case .takes(let limit):
            let count = min(maxLength, limit)
            record.written.append(Data(bytes: buffer, count: count))
            return count
        case .returns(let count, let error):
            failure = error
            return count
        case .closes:
            status = .closed
            record.written.append(Data(bytes: buffer, count: 1))
            return 1
        }
    }
}

/// The events of a stream, for threads that may not touch the stream itself.
final class StreamRecord: Sendable {
    let openings = Recorder<Bool>()
    let closings = Recorder<Bool>()
    let written = Recorder<Data>()

    var bytes: Data { written.elements.reduce(Data(), +) }

    /// The stream; to be called once.
    func make() -> ScriptedStream {
        let stream = ScriptedStream(toMemory: ())
        stream.record = self
        return stream
    }
}
