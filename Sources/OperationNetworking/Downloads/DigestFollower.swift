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
    /// The bytes were discarded, or other digests were requested, before the computation was complete.
    case startedOver
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
            case .startedOver, .abandoned: "the computation was abandoned"
            }
        return "The digest of the partial file could not be computed: \(why)."
    }
}

/// Computes the digests of a file while it is written, by reading it behind the writer.
///
/// It begins at byte 0 in each process, so the digests of a resumed download are right as well. It reads and computes
/// on its own queue, in pieces of 256 KiB: neither the writer nor the network thread waits. ``DigestFollowerState``
/// decides; this class acts.
///
/// Commands may come from any thread. When released, it stops after the current piece.
final class DigestFollower: @unchecked Sendable {
    // @unchecked: `computations` and `buffer` are used on `queue` only, and by `init`; what both sides touch
    // is in `shared`.

    /// Reads bytes of the file, from `offset` on, into the beginning of `buffer`, on the follower's queue.
    ///
    /// Returns the number of bytes, at most as many as fit; 0 at the end of the file.
    typealias Reader = @Sendable (_ offset: Int64, _ buffer: inout MutableSpan<UInt8>) throws -> Int

    /// Called once, on the follower's queue or on the thread whose command makes the result obsolete.
    typealias Answer = @Sendable (Result<[FileDigest], DigestFollowerError>) -> Void

    private struct Shared {
        var state = DigestFollowerState()
        /// `nil` once the computation was abandoned.
        var reader: Reader?
        var failure: DigestFollowerError?
        var answer: Answer?

        mutating func takeAnswer() -> Answer? {
            defer { answer = nil }
            return answer
        }
    }

    private let computations: [DigestComputation]
    private let queue = DispatchQueue(label: "OperationNetworking.DigestFollower", qos: .utility)
    private let shared: Locked<Shared>
    /// Empty at rest, because thousands of followers may be waiting for their writers.
    private var buffer: [UInt8] = []

    /// - Parameters:
    ///   - algorithms: the algorithms, in the order of the result.
    ///   - reader: released with the follower, or when it is abandoned.
    /// - Throws: ``DigestError/refused(_:_:)``.
    init(_ algorithms: [DigestAlgorithm], reader: @escaping Reader) throws(DigestError) {
        var computations: [DigestComputation] = []
        for algorithm in algorithms { computations.append(try DigestComputation(algorithm)) }
        self.computations = computations
        shared = Locked(Shared(reader: reader))
    }

    deinit {
        abandon()
    }

    // MARK: - Commands

    /// Reports that the first `committed` bytes have been written, and can be read.
    func advance(to committed: Int64) {
        guard !computations.isEmpty else { return }
        let mustWork = shared.withLock { $0.state.advance(to: committed) }
        if mustWork { schedule() }
    }

    /// Discards what was read, because bytes were discarded; the computation restarts at byte 0. To be called before
    /// the next ``advance(to:)`` or ``finish(length:then:)``. A pending result becomes
    /// ``DigestFollowerError/startedOver``.
    func startOver() {
        let (mustWork, pointless) = shared.withLock { shared in
            shared.failure = nil
            return (shared.state.startOver(), shared.takeAnswer())
        }
        if mustWork { schedule() }
        pointless?(.failure(.startedOver))
    }

    /// Computes the digests of the first `length` bytes, which are the complete file. The next computation begins at
    /// byte 0.
    func finish(length: Int64, then: @escaping Answer) {
        guard !computations.isEmpty else {
            queue.async { then(.success([])) }
            return
        }
        let (mustWork, pointless, error) = shared.withLock { shared in
            guard shared.reader != nil else { return (false, Optional(then), DigestFollowerError.abandoned) }
            let pointless = shared.takeAnswer()
            shared.answer = then
            return (shared.state.finish(length: length), pointless, .startedOver)
        }
        if mustWork { schedule() }
        pointless?(.failure(error))
    }

    /// Abandons the computation. The reader is released after the current piece.
    func abandon() {
        let (answer, reader) = shared.withLock { shared in
            shared.state.abandon()
            defer { shared.reader = nil }
            return (shared.takeAnswer(), shared.reader)
        }
        answer?(.failure(.abandoned))
        // Not under the lock, because a deinitializer may run any code.
        withExtendedLifetime(reader) {}
    }

    private func schedule() {
        // The follower is retained for one step at a time, so that its owner can release it.
        queue.async { [weak self] in
            while self?.step() == true {}
        }
    }

    // MARK: - On the queue

    /// Performs a step.
    /// - Returns: whether there is more to do.
    private func step() -> Bool {
        let (step, reader) = shared.withLock { ($0.state.next(), $0.reader) }
        switch step {
        case .forget:
            for computation in computations { computation.reset() }
            shared.withLock { $0.state.didForget() }
        case .read(let range):
            guard let reader else { break }
            read(range, reader)
        case .answer(let length):
            answer(length)
        case .rest:
            buffer = []
            return false
        }
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
        guard shared.withLock({ $0.state.didRead(count) }) else { return }
        for computation in computations { computation.update(buffer.span.extracting(first: count)) }
    }

    private func fail(_ failure: DigestFollowerError) {
        shared.withLock { shared in
            if shared.state.didFail() { shared.failure = failure }
        }
    }

    private func answer(_ length: Int64) {
        let result = result()
        let answer = shared.withLock { shared in
            defer { shared.failure = nil }
            return shared.state.didAnswer(length: length) ? shared.takeAnswer() : nil
        }
        answer?(result)
    }

    private func result() -> Result<[FileDigest], DigestFollowerError> {
        if let failure = shared.withLock({ $0.failure }) { return .failure(failure) }
        do throws(DigestError) {
            var digests: [FileDigest] = []
            for computation in computations { digests.append(try computation.finish()) }
            return .success(digests)
        } catch {
            return .failure(.refused(error))
        }
    }
}

/// The next step of a ``DigestFollower``. A value without side effects.
///
/// | event                | resting                     | working                         |
/// |----------------------|-----------------------------|---------------------------------|
/// | ``advance(to:)``     | works if a piece is full    | continues that far              |
/// | ``startOver()``      | works                       | drops what was read, restarts at 0 |
/// | ``finish(length:)``  | works                       | reports when all is read        |
/// | ``abandon()``        | does nothing more           | rests after this piece          |
struct DigestFollowerState: Hashable, Sendable {
    enum Step: Hashable, Sendable {
        /// Reset the computations.
        case forget
        case read(Range<Int64>)
        /// Report the digests of `length` bytes.
        case answer(length: Int64)
        /// Do nothing until there is work again.
        case rest
    }

    /// The number of bytes that are read at once; fewer only at the end.
    static let pieceLength: Int64 = 256 * 1024

    /// The number of processed bytes.
    private(set) var position: Int64 = 0
    /// The number of written bytes.
    private var committed: Int64 = 0
    /// The length of the whole, once the owner has requested the digests.
    private var length: Int64?
    private var isWorking = false
    private var mustForget = false
    private var hasFailed = false
    private var isAbandoned = false

    // MARK: - Events: each returns whether work has to be scheduled

    /// A smaller number than before has no effect.
    mutating func advance(to committed: Int64) -> Bool {
        self.committed = max(self.committed, committed)
        return work()
    }

    mutating func startOver() -> Bool {
        committed = 0
        length = nil
        hasFailed = false
        // The position does not matter while a reset is pending.
        mustForget = mustForget || isWorking || position > 0
        position = 0
        return work()
    }

    mutating func finish(length: Int64) -> Bool {
        // Bytes were discarded without an event.
        if length < position {
            mustForget = true
            position = 0
        }
        self.length = length
        return work()
    }

    mutating func abandon() {
        isAbandoned = true
    }

    private mutating func work() -> Bool {
        guard !isWorking, step != .rest else { return false }
        isWorking = true
        return true
    }

    // MARK: - Steps

    mutating func next() -> Step {
        let step = step
        if step == .rest { isWorking = false }
        return step
    }

    private var step: Step {
        if isAbandoned { return .rest }
        if mustForget { return .forget }
        if let length {
            return position < length && !hasFailed
                ? .read(position..<min(length, position + Self.pieceLength)) : .answer(length: length)
        }
        if hasFailed { return .rest }
        // Small amounts are not worth a read.
        return committed - position >= Self.pieceLength
            ? .read(position..<position + Self.pieceLength) : .rest
    }

    mutating func didForget() {
        mustForget = false
    }

    /// - Returns: whether the bytes count: `false` if they were discarded meanwhile, or the computation was
    ///   abandoned.
    mutating func didRead(_ count: Int) -> Bool {
        guard !mustForget, !isAbandoned else { return false }
        if let length, position + Int64(count) > length {
            // The end was reported within this piece while it was read.
            mustForget = true
            position = 0
            return false
        }
        position += Int64(count)
        return true
    }

    /// - Returns: whether the failure counts: `false` if the bytes were discarded meanwhile.
    mutating func didFail() -> Bool {
        guard !mustForget, !isAbandoned else { return false }
        hasFailed = true
        return true
    }

    /// The computations are finished, so the next bytes begin at 0.
    /// - Returns: whether the result is the requested one.
    mutating func didAnswer(length: Int64) -> Bool {
        let isAnswer = self.length == length && !mustForget && !isAbandoned
        if isAnswer { self.length = nil }
        committed = 0
        position = 0
        hasFailed = false
        mustForget = true
        return isAnswer
    }
}
