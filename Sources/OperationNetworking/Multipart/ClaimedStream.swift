public import Foundation
internal import OperationNetworkingSystem

/// A stream of the user's while an operation uses it: in this process there is one of these at a time for
/// each stream, for a stream of Foundation's that two threads use ends the process.
///
/// | The stream is                       | ``init(_:)``, then ``open()`` | while it is claimed     |
/// |-------------------------------------|-------------------------------|-------------------------|
/// | not open                            | opens it                      | ``StreamError/inUse``   |
/// | open, by its owner; read in part    | takes it as it is             | ``StreamError/inUse``   |
/// | closed                              | ``StreamError/closed``        | ``StreamError/inUse``   |
/// | failed                              | its own error                 | ``StreamError/inUse``   |
///
/// Used by one thread at a time. Given back by ``close()``, or when it is released.
final class ClaimedStream {
    private static let claimed = Locked<Set<ObjectIdentifier>>([])

    private let stream: Stream
    private var isHeld = true

    /// - Throws: ``StreamError/inUse``; the stream is not touched then.
    init(_ stream: Stream) throws(StreamError) {
        guard Self.claimed.withLock({ $0.insert(ObjectIdentifier(stream)).inserted }) else { throw .inUse }
        self.stream = stream
    }

    deinit {
        giveBack()
    }

    /// Claims and opens it. What cannot be used is closed.
    convenience init(opening stream: Stream) throws {
        try self.init(stream)
        do {
            try open()
        } catch {
            close()
            throw error
        }
    }

    /// May wait. After an error the stream may still be closed.
    func open() throws {
        if stream.streamStatus == .notOpen { stream.open() }
        switch stream.streamStatus {
        case .closed: throw StreamError.closed
        // The end of an empty body would never find out.
        case .error: throw stream.failure(or: stream is OutputStream ? .fileWriteUnknown : .fileReadUnknown)
        case .notOpen, .opening, .open, .reading, .writing, .atEnd: break
        @unknown default: break
        }
    }

    /// Closes the stream and gives it back.
    func close() {
        guard isHeld else { return }
        stream.close()
        giveBack()
    }

    private func giveBack() {
        guard isHeld else { return }
        isHeld = false
        Self.claimed.withLock { _ = $0.remove(ObjectIdentifier(stream)) }
    }
}

extension Stream {
    /// Why a call failed: what the stream itself says, that it is closed, or, if it says nothing, an error
    /// with this code.
    func failure(or code: CocoaError.Code) -> any Error {
        if let ownError { return ownError }
        return streamStatus == .closed ? StreamError.closed : CocoaError(code)
    }
}

/// A flag that a stream, which can be read once, has a reader. Shared by all copies of its source; the first
/// reader gets the stream.
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

/// Why an operation cannot use the stream that it was given: an `OutputStream` for the body of its response,
/// or an `InputStream` with the body of its request.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum StreamError: Error, Hashable, Sendable {
    /// The stream was closed before the operation used it, or while it did. A closed stream cannot be opened
    /// again.
    case closed
    /// Another operation of this process uses the same stream object.
    case inUse
}

// MARK: - CustomStringConvertible

extension StreamError: CustomStringConvertible {
    /// One sentence.
    public var description: String {
        switch self {
        case .closed: "The stream is closed, and cannot be opened again."
        case .inUse: "The stream is used by another operation."
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
        case .inUse: .passing
        case .closed: .mistake
        }
    }
}
