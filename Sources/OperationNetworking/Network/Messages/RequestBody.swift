import Foundation
internal import OperationNetworkingSystem

/// The body of a request.
enum RequestBody: Sendable {
    case data(Data)
    case stream(BodyStream)

    /// The length in bytes; `nil` if it is known only at the end, and the body is sent in chunks.
    var length: Int64? {
        switch self {
        case .data(let data): Int64(data.count)
        case .stream(let stream): stream.length
        }
    }

    /// Whether the body is read while it is sent, most often from a file.
    var isStream: Bool { if case .stream = self { true } else { false } }

    /// Whether ``fromStart()`` will succeed.
    var canStartAgain: Bool {
        switch self {
        case .data: true
        case .stream(let stream): stream.canStartAgain
        }
    }

    /// Whether the body can be sent any number of times.
    var isRepeatable: Bool {
        switch self {
        case .data: true
        case .stream(let stream): stream.isRepeatable
        }
    }

    /// Returns the same body from its first byte; `nil` for a stream that can be read only once, and was.
    func fromStart() -> RequestBody? {
        switch self {
        case .data: self
        case .stream(let stream): stream.fromStart().map { .stream($0) }
        }
    }
}

/// Reads a request's body from a position. Used on the network thread.
struct RequestBodyReader {
    private(set) var body: RequestBody
    private var offset: Int64 = 0

    init(_ body: RequestBody) {
        self.body = body
    }

    /// Returns the next piece. After `.notYet`, `whenReady` is called, on any thread, when there is one.
    mutating func next(atMost count: Int, whenReady: @escaping @Sendable () -> Void) -> SendAnswer {
        switch body {
        case .data(let data):
            let start = data.startIndex + Int(offset)
            let piece = data[start..<min(start + count, data.endIndex)]
            offset += Int64(piece.count)
            return piece.isEmpty ? .end : .bytes(piece)
        case .stream(let stream):
            return stream.next(atMost: count, whenReady: whenReady)
        }
    }

    /// Stops reading.
    func stop() {
        if case .stream(let stream) = body { stream.stop() }
    }

    mutating func seek(to offset: Int64) -> Bool {
        switch body {
        case .data(let data):
            guard offset <= Int64(data.count) else { return false }
            self.offset = offset
            return true
        case .stream(let stream):
            guard offset == 0, let fresh = stream.fromStart() else { return false }
            if fresh !== stream { stream.stop() }
            body = .stream(fresh)
            return true
        }
    }
}
