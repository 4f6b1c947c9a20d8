import Dispatch
internal import Foundation
internal import OperationNetworkingSystem

/// Why a ``DigestFollower`` could not compute the digests.
enum DigestFollowerError: Error, Sendable {
    /// The bytes from `offset` on could not be read.
    case unreadable(offset: Int64, any Error)
    /// The file is shorter than what was reported as written; both are in bytes.
    case endsEarly(length: Int64, expected: Int64)
    /// OpenSSL refused an algorithm.
    case refused(DigestError)
    /// The owner abandoned the computation.
    case abandoned
}

extension DigestFollowerError: LocalizedError {
    var errorDescription: String? {
        let why: String =
            switch self {
            case .unreadable(let offset, let error): "its bytes after \(offset) could not be read: \(error)"
            case .endsEarly(let length, let expected): "it has \(length) bytes of \(expected)"
            case .refused(let error): "\(error)"
            case .abandoned: "the computation was abandoned"
            }
        return "The digest of the partial file could not be computed: \(why)."
    }
}

/// Computes the digests of a file while it is written, by reading it behind the writer.
///
/// It begins at byte 0 in each process, so the digests of a resumed download are right as well. It reads and computes
/// on its own queue, in pieces of 256 KiB: neither the writer nor the network thread waits. It computes once: if bytes
/// are discarded or changed, it is abandoned, and another one begins.
///
/// Commands may come from any thread. When released, it stops after the current piece.
final class DigestFollower: @unchecked Sendable {
    // @unchecked: `computations` and `buffer` are used on `queue` only, and by `init`; what both sides touch
    // is in `state`.

    /// Reads bytes of the file, from `offset` on, into the beginning of `buffer`, on the follower's queue.
    ///
    /// Returns the number of bytes, at most as many as fit; 0 at the end of the file.
    typealias Reader = @Sendable (_ offset: Int64, _ buffer: inout MutableSpan<UInt8>) throws -> Int

    /// Called once, on the follower's queue or on the thread that abandons it.
    typealias Answer = @Sendable (Result<[FileDigest], DigestFollowerError>) -> Void

    /// The number of bytes that are read at once; fewer only at the end.
    static let pieceLength: Int64 = 256 * 1024

    private struct State {
        /// `nil` once the computation has ended.
        var reader: Reader?
        /// The number of processed bytes.
        var position: Int64 = 0
        /// The number of written bytes.
        var written: Int64 = 0
        /// The length of the whole, once the owner has requested the digests.
        var length: Int64?
        var answer: Answer?
        var failure: DigestFollowerError?
        /// Whether the queue is working, or about to.
        var isWorking = false

        /// The bytes to read next, none if the digests are to be reported; `nil` if there is nothing to do yet.
        var next: Range<Int64>? {
            guard reader != nil else { return nil }
            if let length {
                guard failure == nil, position < length else { return position..<position }
                return position..<min(length, position + pieceLength)
            }
            // Small amounts are not worth a read.
            guard failure == nil, written - position >= pieceLength else { return nil }
            return position..<position + pieceLength
        }
    }

    private let computations: [DigestComputation]
    private let queue = DispatchQueue(label: "OperationNetworking.DigestFollower", qos: .utility)
    private let state: Locked<State>
    /// Empty at rest, because thousands of followers may be waiting for their writers.
    private var buffer: [UInt8] = []

    /// - Parameters:
    ///   - algorithms: the algorithms, in the order of the result.
    ///   - reader: released with the follower, or when it has ended.
    /// - Throws: ``DigestError/refused(_:_:)``.
    init(_ algorithms: [DigestAlgorithm], reader: @escaping Reader) throws(DigestError) {
        var computations: [DigestComputation] = []
        for algorithm in algorithms { computations.append(try DigestComputation(algorithm)) }
        self.computations = computations
        state = Locked(State(reader: reader))
    }

    deinit {
        abandon()
    }

    // MARK: - Commands

    /// Reports that the first `count` bytes have been written, and can be read. A smaller number than before has no
    /// effect.
    func advance(to count: Int64) {
        change { $0.written = max($0.written, count) }
    }

    /// Reports the digests of the first `length` bytes, which are the complete file. Called once.
    func finish(length: Int64, then: @escaping Answer) {
        let isAccepted = change { state in
            guard state.reader != nil else { return false }
            (state.length, state.answer) = (length, then)
            return true
        }
        if !isAccepted { then(.failure(.abandoned)) }
    }

    /// Abandons the computation. The reader is released after the current piece.
    func abandon() {
        end(.failure(.abandoned))
    }

    private func change<Result>(_ body: (inout State) -> Result) -> Result {
        let (result, mustWork) = state.withLock { state in
            let result = body(&state)
            guard !state.isWorking, state.next != nil else { return (result, false) }
            state.isWorking = true
            return (result, true)
        }
        if mustWork {
            // The follower is retained for one step at a time, so that its owner can release it.
            queue.async { [weak self] in
                while self?.step() == true {}
            }
        }
        return result
    }

    private func end(_ result: Result<[FileDigest], DigestFollowerError>) {
        let (answer, reader) = state.withLock { state in
            defer { (state.answer, state.reader) = (nil, nil) }
            return (state.answer, state.reader)
        }
        // Not under the lock, because a deinitializer may run any code.
        withExtendedLifetime(reader) { answer?(result) }
    }

    // MARK: - On the queue

    /// Performs a step.
    /// - Returns: whether there is more to do.
    private func step() -> Bool {
        let (next, reader) = state.withLock { state in
            if state.next == nil { state.isWorking = false }
            return (state.next, state.reader)
        }
        guard let next, let reader else {
            buffer = []
            return false
        }
        if next.isEmpty { end(result()) } else { read(next, reader) }
        return true
    }

    private func read(_ range: Range<Int64>, _ reader: Reader) {
        if buffer.count != range.count { buffer = [UInt8](repeating: 0, count: range.count) }
        let count: Int
        do {
            var piece = buffer.mutableSpan
            count = min(try reader(range.lowerBound, &piece), range.count)
        } catch {
            return fail(.unreadable(offset: range.lowerBound, error))
        }
        guard count > 0 else { return fail(.endsEarly(length: range.lowerBound, expected: range.upperBound)) }
        for computation in computations { computation.update(buffer.span.extracting(first: count)) }
        state.withLock { $0.position += Int64(count) }
    }

    private func fail(_ failure: DigestFollowerError) {
        state.withLock { $0.failure = failure }
    }

    private func result() -> Result<[FileDigest], DigestFollowerError> {
        if let failure = state.withLock({ $0.failure }) { return .failure(failure) }
        do throws(DigestError) {
            var digests: [FileDigest] = []
            for computation in computations { digests.append(try computation.finish()) }
            return .success(digests)
        } catch {
            return .failure(.refused(error))
        }
    }
}
