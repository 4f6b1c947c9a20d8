import Foundation
internal import OperationNetworkingSystem

/// A user's stream, claimed from the first byte to the end.
final class StreamDestination: SinkDestination {
    private let stream: OutputStream
    private var claimed: ClaimedStream?
    private var counted: CountedFiles?

    init(_ stream: OutputStream) {
        self.stream = stream
    }

    let canBeEmptied = false
    /// The stream owner's code may be what blocks writing.
    let keepsRest = false

    func open() throws -> Bool {
        let claimed = try ClaimedStream(stream)
        self.claimed = claimed
        try claimed.open()
        counted = CountedFiles(.openDestination)
        return true
    }

    func empty() throws {
        preconditionFailure("A stream cannot be emptied")
    }

    func write(_ bytes: Span<UInt8>) throws -> Int {
        guard stream.hasSpaceAvailable else {
            switch stream.streamStatus {
            case .closed, .error: throw stream.failure(or: .fileWriteUnknown)
            case .atEnd: throw stream.failure(or: .fileWriteOutOfSpace)
            default: break
            }
            if let error = stream.ownError { throw error }
            return 0
        }
        // The stream may be a pipe or a file.
        let count = WriteSignals.heldBack { stream.write(bytes) }
        guard count > 0 else {
            throw stream.failure(or: count == 0 ? .fileWriteOutOfSpace : .fileWriteUnknown)
        }
        return count
    }

    func close() throws {
        // A stream that failed is closed, too, as in AFNetworking, and so is one that received no byte; but
        // not a stream in use by another operation.
        let claimed = claimed ?? (try? ClaimedStream(stream))
        claimed?.close()
        self.claimed = nil
        counted = nil
    }
}
