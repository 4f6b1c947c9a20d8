import Foundation
import OperationNetworking

/// A running transfer: its operation, its temporary file, and what came so far.
struct Transfer {
    let item: Item
    let operation: HTTPRequestOperation
    /// `nil` when the body goes to standard output or a device.
    let partial: PartialFile?
    private(set) var received: Int64 = 0
    private(set) var expected: Int64?
    private var meter: TransferMeter
    private let start: Double

    init(_ item: Item, _ operation: HTTPRequestOperation, _ partial: PartialFile?, now: Double) {
        self.item = item
        self.operation = operation
        self.partial = partial
        start = now
        meter = TransferMeter(now: now)
    }

    /// Records what has come; `expected` is -1 if it is unknown.
    mutating func progress(total: Int64, expected: Int64) {
        received = total
        self.expected = expected >= 0 ? expected : nil
    }

    /// Measures the speed, and returns what to show.
    mutating func state(now: Double) -> TransferState {
        meter.record(total: received, now: now)
        return TransferState(
            name: item.name,
            received: received,
            expected: expected,
            speed: meter.speed,
            timeLeft: meter.timeLeft(expected: expected)
        )
    }

    /// The line that says it is done.
    func summary(length: Int64, now: Double) -> String {
        let seconds = max(now - start, 0.001)
        let speed = ByteCount(Int64(Double(length) / seconds)).text
        let place = if case .file(let path) = item.destination { path.text } else { item.printableURL }
        return "\(place): \(ByteCount(length).text) in \(TimeSpan(elapsed: seconds).text), \(speed)/s"
    }
}
