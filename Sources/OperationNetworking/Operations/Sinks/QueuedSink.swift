import Foundation
internal import OperationNetworkingSystem

/// Passes a body to a file, a FIFO or a stream, which may block: they are opened, written and closed on a
/// dedicated queue. A slow destination holds its own transfer, and no other.
final class QueuedSink: ResponseSink {
    private let writer: SinkWriter
    /// The content of the writer's bytes.
    private var content = 0

    init(_ destination: any SinkDestination) {
        writer = SinkWriter(destination)
    }

    deinit {
        // Otherwise a writer that waits for room would wait forever.
        _ = writer.abandon(nil)
    }

    var held: StoredBytes { StoredBytes(count: writer.count, content: content) }
    var isFull: Bool { writer.isFull }
    var failure: (any Error)? { writer.failure }
    var abilities: SinkAbilities {
        SinkAbilities(canBeEmptied: writer.canBeEmptied, keptCount: Int64(writer.keptCount))
    }

    let keepsLastBytes = true

    var onChange: (@Sendable () -> Void)? {
        get { writer.onChange }
        set { writer.onChange = newValue }
    }

    func prepare(_ start: BodyStart) throws {
        if start.place.isStart {
            if writer.count > 0 { try writer.empty() }
            content = start.content
            writer.keptCount = start.mayComeAgain ? Int(ResumeRequest.overlapLength) : 0
        }
        try writer.begin()
    }

    func lastBytes(_ count: Int) -> [UInt8] { writer.lastBytes(count) }

    func write(_ bytes: Span<UInt8>) throws {
        try writer.append(bytes)
    }

    func end(_ whenEnded: @escaping @Sendable (SinkEnd) -> Void) -> SinkEnd? {
        writer.end { result in
            switch result {
            case .success: whenEnded(.done(nil))
            case .failure(let error): whenEnded(.failed(error))
            }
        }
        return nil
    }

    func abandon(_ whenStopped: @escaping @Sendable () -> Void) -> SinkStop {
        writer.abandon(whenStopped) ? .stopped(nil) : .stopping
    }
}
