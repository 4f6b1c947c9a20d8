import Foundation
internal import OperationNetworkingSystem

/// Keeps a body in memory, or in a file if its owner says so when the head came.
///
/// The exchange prepares it when it has judged the head, and turns it by the owner's answer, before the
/// first byte. So a body that is too long for memory has its chance to become a file.
final class TurningSink: ResponseSink {
    private var sink: any ResponseSink
    private var isFile = false
    /// The body that waits for its place.
    private var start: BodyStart?

    var onChange: (@Sendable () -> Void)? {
        didSet { sink.onChange = onChange }
    }

    /// - Parameter limit: in bytes, for memory.
    init(limit: Int64) {
        sink = MemorySink(limit: limit)
    }

    var held: HeldBytes { sink.held }
    let keepsLastBytes = true
    var isFull: Bool { sink.isFull }
    var failure: (any Error)? { sink.failure }
    var abilities: SinkAbilities { sink.abilities }

    func prepare(_ start: BodyStart) throws {
        self.start = start
    }

    /// A pause has made the answer stale that the body waited for: another head may be that of an error.
    func goOn() {
        start = nil
        sink.goOn()
    }

    /// The owner has answered. A file counts only while no byte came.
    func turn(to place: BodyPlace) throws {
        if case .file(let url) = place, !isFile, sink.count == 0 {
            sink = QueuedSink(FileDestination(url))
            sink.onChange = onChange
            isFile = true
        }
        guard let start else { return }
        self.start = nil
        try sink.prepare(start)
    }

    func lastBytes(_ count: Int) -> [UInt8] { sink.lastBytes(count) }

    func write(_ bytes: Span<UInt8>) throws {
        try sink.write(bytes)
    }

    func flush() {
        sink.flush()
    }

    func end(_ whenEnded: @escaping @Sendable (SinkEnd) -> Void) -> SinkEnd? {
        sink.end(whenEnded)
    }

    func abandon(_ whenStopped: @escaping @Sendable () -> Void) -> SinkStop {
        sink.abandon(whenStopped)
    }
}
