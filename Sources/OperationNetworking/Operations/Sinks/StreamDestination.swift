import Foundation
internal import OperationNetworkingSystem

/// A stream of the user's.
final class StreamDestination: SinkDestination {
    private let stream: OutputStream

    init(_ stream: OutputStream) {
        self.stream = stream
    }

    let canBeEmptied = false
    /// Its owner's code may be what keeps it from being written.
    let keepsRest = false
    let pollableDescriptor: Int32? = nil

    func open() throws -> Bool {
        if stream.streamStatus == .notOpen { stream.open() }
        // An empty body would never find out.
        if stream.streamStatus == .error { throw stream.streamError ?? CocoaError(.fileWriteUnknown) }
        return true
    }

    func empty() throws {
        preconditionFailure("A stream cannot be emptied")
    }

    func write(_ bytes: Span<UInt8>) throws -> Int {
        guard stream.hasSpaceAvailable else {
            if let error = stream.streamError { throw error }
            switch stream.streamStatus {
            case .closed, .error: throw CocoaError(.fileWriteUnknown)
            case .atEnd: throw CocoaError(.fileWriteOutOfSpace)
            default: return 0
            }
        }
        // It may be a pipe.
        let count = PipeSignal.heldBack { stream.write(bytes) }
        guard count > 0 else {
            throw stream.streamError ?? CocoaError(count == 0 ? .fileWriteOutOfSpace : .fileWriteUnknown)
        }
        return count
    }

    func close() throws {
        // A stream that failed is closed too, as in AFNetworking.
        stream.close()
    }
}
