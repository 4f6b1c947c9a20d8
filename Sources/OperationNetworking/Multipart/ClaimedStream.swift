public import Foundation
internal import OperationNetworkingSystem

/// Exclusive access to a caller's stream. Each stream can be claimed once at a time in this process, because
/// using one of Foundation's streams on two threads crashes.
///
/// | The stream is                   | ``init(_:)``, then ``open()`` | while it is claimed   |
/// |---------------------------------|-------------------------------|-----------------------|
/// | not open                        | opens it                      | ``StreamError/inUse`` |
/// | open, by its owner; partly read | uses it as it is              | ``StreamError/inUse`` |
/// | closed                          | ``StreamError/closed``        | ``StreamError/inUse`` |
/// | failed                          | its own error                 | ``StreamError/inUse`` |
///
/// Used by one thread at a time. ``close()`` or deallocation ends the claim.
final class ClaimedStream {
    private static let claimed = Locked<Set<ObjectIdentifier>>([])

    private let stream: Stream
    private var isHeld = true

    /// - Throws: ``StreamError/inUse``; the stream is then not accessed.
    init(_ stream: Stream) throws(StreamError) {
        guard Self.claimed.withLock({ $0.insert(ObjectIdentifier(stream)).inserted }) else { throw .inUse }
        self.stream = stream
    }

    deinit {
        release()
    }

    /// Claims and opens the stream. If that fails, the stream is closed.
    convenience init(opening stream: Stream) throws {
        try self.init(stream)
        do {
            try open()
        } catch {
            close()
            throw error
        }
    }

    /// May block. After an error the stream can still be closed.
    func open() throws {
        if stream.streamStatus == .notOpen { stream.open() }
        switch stream.streamStatus {
        case .closed: throw StreamError.closed
        // With an empty body the error would never be detected.
        case .error: throw stream.failure(or: stream is OutputStream ? .fileWriteUnknown : .fileReadUnknown)
        case .notOpen, .opening, .open, .reading, .writing, .atEnd: break
        @unknown default: break
        }
    }

    /// Closes the stream and ends the claim.
    func close() {
        guard isHeld else { return }
        stream.close()
        release()
    }

    private func release() {
        guard isHeld else { return }
        isHeld = false
        Self.claimed.withLock { _ = $0.remove(ObjectIdentifier(stream)) }
    }
}

extension Stream {
    /// Returns the reason of a failed call: the stream's own error, that it is closed, or else an error with
    /// this code.
    func failure(or code: CocoaError.Code) -> any Error {
        if let ownError { return ownError }
        return streamStatus == .closed ? StreamError.closed : CocoaError(code)
    }
}

/// Whether a stream that can be read once has a reader. Shared by all copies of its source; the first reader
/// gets the stream.
final class StreamUse: Sendable {
    private let state = Locked(false)

    var hasBegun: Bool { state.withLock { $0 } }

    /// - Returns: whether this is the first call.
    func begin() -> Bool {
        state.withLock { hasBegun in
            defer { hasBegun = true }
            return !hasBegun
        }
    }
}

/// Why an operation cannot use a stream: the `OutputStream` for its response body, or the `InputStream` of
/// its request body.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum StreamError: Error, Hashable, Sendable {
    /// The stream was closed before or while the operation used it. A closed stream cannot be reopened.
    case closed
    /// Another operation of this process is using the same stream object.
    case inUse
}

// MARK: - CustomStringConvertible

extension StreamError: CustomStringConvertible {
    /// One sentence.
    public var description: String {
        switch self {
        case .closed: "The stream is closed and cannot be reopened."
        case .inUse: "The stream is being used by another operation."
        }
    }
}

// MARK: - LocalizedError

extension StreamError: LocalizedError {
    /// The same as ``description``.
    public var errorDescription: String? { description }
}

// MARK: - ClassifiedError

extension StreamError: ClassifiedError {
    package var traits: FailureTraits {
        switch self {
        case .inUse: .temporary
        case .closed: .mistake
        }
    }
}
