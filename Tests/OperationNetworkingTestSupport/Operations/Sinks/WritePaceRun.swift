import OperationNetworkingSystem

@testable import OperationNetworking

/// A sink's bytes, its queue and its timers without threads: pieces of 16 KiB come, and each write takes 20 microseconds.
struct WritePaceRun {
    private static let piece = 16 * 1024
    private static let writeTime = 0.00002

    private enum Event {
        case piece, timer, written
    }

    private(set) var now = 0.0
    private(set) var received = 0
    private(set) var written = 0
    private(set) var timers = 0
    /// From the arrival of a piece until it is given to the system, in seconds.
    private(set) var longestWait = 0.0
    private var pace = WritePace()
    private var waiting: [Double] = []
    private var events: [(time: Double, event: Event)] = []
    private var numbers: SeededGenerator
    private let lateness: Double

    /// - Parameters:
    ///   - seed: decides when pieces come.
    ///   - lateness: of timers, in seconds.
    init(seed: UInt64, lateness: Double) {
        numbers = SeededGenerator(seed: seed)
        self.lateness = lateness
    }

    /// Lets a piece come after a pause of up to twice the mean, in seconds, and everything before it happen.
    mutating func play(meanPause: Double) {
        events.append((now + .random(in: 0...2 * meanPause, using: &numbers), .piece))
        while events.contains(where: { $0.event == .piece }) { step() }
    }

    /// Lets everything happen that is due to happen.
    mutating func playToEnd() {
        while !events.isEmpty { step() }
    }

    private mutating func step() {
        guard let next = events.indices.min(by: { events[$0].time < events[$1].time }) else { return }
        let event = events.remove(at: next)
        now = event.time
        let moment = MonotonicTime(seconds: now)
        switch event.event {
        case .piece:
            received += Self.piece
            waiting.append(now)
            act(pace.urgency(waiting: waiting.count * Self.piece, now: moment))
        case .timer:
            act(pace.timerDidFire(waiting: waiting.count * Self.piece, now: moment))
        case .written:
            write()
        }
    }

    private mutating func act(_ urgency: WritePace.Urgency) {
        switch urgency {
        case .none: break
        case .after(let seconds):
            timers += 1
            events.append((now + seconds + lateness, .timer))
        case .now: write()
        }
    }

    private mutating func write() {
        guard let oldest = waiting.first else { return pace.didWriteAll() }
        longestWait = max(longestWait, now - oldest)
        written += waiting.count * Self.piece
        waiting = []
        events.append((now + Self.writeTime, .written))
    }
}
