import Foundation
import FoundationNetworking
import OperationNetworking

/// A running transfer: its operation, where its body goes, and what came so far.
struct Transfer {
    let item: Item
    let operation: HTTPRequestOperation
    /// `nil` when the body goes to standard output or a device.
    let partial: PartialFile?
    /// `nil` unless the body goes to standard output.
    let stream: StandardOutputStream?
    private(set) var received: Int64 = 0
    private(set) var expected: Int64?
    private var meter: ThroughputMeter
    private var start: Double
    private var pausedSince: Double?
    /// What the last `progress` event said.
    private var reported: Int64 = 0

    init(
        _ item: Item,
        _ operation: HTTPRequestOperation,
        partial: PartialFile?,
        stream: StandardOutputStream?,
        now: Double
    ) {
        self.item = item
        self.operation = operation
        self.partial = partial
        self.stream = stream
        start = now
        meter = ThroughputMeter(now: now)
    }

    // MARK: - Pausing

    mutating func pause(now: Double) {
        guard pausedSince == nil else { return }
        pausedSince = now
        if let stream, !isContinuable { stream.hold() } else { operation.pause() }
    }

    /// Whether the rest can be asked for later. What standard output was given cannot be taken back: if the server
    /// gave no strong tag, it has to wait with the connection open.
    private var isContinuable: Bool {
        operation.response?.value(forHTTPHeaderField: "ETag")?.hasPrefix("\"") ?? false
    }

    mutating func goOn(now: Double) {
        guard let since = pausedSince else { return }
        pausedSince = nil
        start += now - since
        meter.skip(to: now)
        stream?.letGo()
        operation.resume()
    }

    // MARK: - Progress

    /// Records what has come; `expected` is -1 if it is unknown.
    mutating func progress(total: Int64, expected: Int64) {
        received = total
        self.expected = expected >= 0 ? expected : nil
    }

    /// The process was stopped until now.
    mutating func skip(to now: Double) {
        meter.skip(to: now)
    }

    /// Measures the speed, and returns what to show.
    mutating func state(now: Double) -> TransferState {
        if pausedSince != nil { meter.skip(to: now) }
        meter.record(total: received, now: now)
        return TransferState(
            name: item.name,
            received: received,
            expected: expected,
            speed: meter.speed,
            timeLeft: meter.timeLeft(expected: expected),
            isPaused: pausedSince != nil
        )
    }

    /// An event, if there is more than the last one said.
    mutating func news(_ index: Int) -> ItemProgress? {
        guard received != reported else { return nil }
        reported = received
        let speed = pausedSince == nil ? meter.speed.map { Int64($0) } : nil
        return ItemProgress(item: index + 1, received: received, expected: expected, speed: speed)
    }

    /// How long it took, pauses left out.
    func seconds(now: Double) -> Double {
        max((pausedSince ?? now) - start, 0)
    }

    /// The line that says it is done.
    func summary(length: Int64, now: Double) -> String {
        let seconds = max(seconds(now: now), 0.001)
        let speed = ByteCount(Int64(Double(length) / seconds)).text
        let place = if case .file(let path) = item.destination { path.text } else { item.printableURL }
        return "\(place): \(ByteCount(length).text) in \(TimeSpan(elapsed: seconds).text), \(speed)/s"
    }
}
