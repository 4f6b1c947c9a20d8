import Foundation
import FoundationNetworking
internal import OperationNetworkingSystem

/// Keeps a body in memory.
final class MemorySink: ResponseSink {
    static let abilities = SinkAbilities(
        canBeEmptied: true,
        keptCount: ResumeRequest.overlapLength,
        canBeAnyPart: true
    )

    private let limit: Int64
    @safe @exclusivity(unchecked) private var data: GrowingData
    @safe @exclusivity(unchecked) private var content = 0

    let tellsChanges = false
    var onChange: (@Sendable () -> Void)?
    let failure: (any Error)? = nil
    let isFull = false
    var abilities: SinkAbilities { Self.abilities }

    /// - Parameters:
    ///   - limit: the maximum length in bytes; a longer body is an error.
    ///   - data: the bytes of an earlier operation.
    init(limit: Int64, data: Data = Data()) {
        self.limit = limit
        self.data = GrowingData(data)
    }

    var held: StoredBytes { StoredBytes(count: Int64(data.count), content: content) }

    var bytesInMemory: Data? { data.bytes }

    func prepare(_ start: BodyStart) throws {
        if start.place.isStart { (data, content) = (GrowingData(), start.content) }
        guard let total = start.total else { return }
        try checkLimit(total)
        data.expect(total)
    }

    func lastBytes(_ count: Int) -> [UInt8] { Array(data.bytes.suffix(count)) }

    func write(_ bytes: Span<UInt8>) throws {
        try checkLimit(Int64(data.count + bytes.count))
        data.append(bytes)
    }

    func end(_ whenEnded: @escaping @Sendable (SinkEnd) -> Void) -> SinkEnd? { .done(data.bytes) }

    func abandon(_ whenStopped: @escaping @Sendable () -> Void) -> SinkStop {
        .stopped(data.bytes)
    }

    private func checkLimit(_ length: Int64) throws {
        guard length > limit else { return }
        throw URLError(
            .dataLengthExceedsMaximum,
            url: nil,
            sentence: "The body has at least \(length) bytes; at most \(limit) may be kept in memory: "
                + "see maximumResponseDataLength."
        )
    }
}
