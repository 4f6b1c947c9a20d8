import Dispatch
internal import Foundation
internal import OperationNetworkingSystem

/// Why a ``DigestFollower`` has no digests.
enum DigestFollowerError: Error, Sendable {
    /// The bytes from `offset` on could not be read.
    case unreadable(offset: Int64, any Error)
    /// The file has fewer bytes than were said to be written.
    case endsEarly(length: Int64, expected: Int64)
    /// OpenSSL refused.
    case refused(DigestError)
    /// The bytes were taken back, or others asked for, before the digests were there.
    case startedOver
    /// The owner gave the digests up.
    case abandoned
}

extension DigestFollowerError: LocalizedError {
    var errorDescription: String? {
        let why: String =
            switch self {
            case .unreadable(let offset, let error): "its bytes from \(offset) on could not be read: \(error)"
            case .endsEarly(let length, let expected): "it has \(length) bytes of \(expected)"
            case .refused(let error): "\(error)"
            case .startedOver, .abandoned: "that was given up"
            }
        return "The digest of the partial file could not be computed: \(why)."
    }
}

/// Computes the digests of a file while its writer writes it, by reading it behind the writer.
///
/// It begins at byte 0 in each process, so a download that goes on in another one has right digests as well.
/// Reading and computing are done on a queue of its own, one piece of 256 KiB at a time: neither the writer
/// nor the network thread waits for them. ``DigestFollowerState`` decides, this acts.
///
/// Commands may come from any thread. Released, it stops after the piece it is at.
final class DigestFollower: @unchecked Sendable {
    // @unchecked: `computations` and `buffer` are used on `queue` only, and by `init`; what both sides touch
    // is in `shared`.

    /// Reads bytes of the file, from `offset` on, into the beginning of `buffer`; on the follower's queue.
    ///
    /// It returns how many were read: at most as many as there is room for, 0 at the end of the file.
    typealias Reader = @Sendable (_ offset: Int64, _ buffer: inout MutableSpan<UInt8>) throws -> Int

    /// Called once, on the follower's queue, or on the thread that makes the answer pointless.
    typealias Answer = @Sendable (Result<[FileDigest], DigestFollowerError>) -> Void

    private struct Shared {
        var state = DigestFollowerState()
        /// `nil` when the digests were given up.
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
    /// Empty at rest: thousands may wait for their writers.
    private var buffer: [UInt8] = []

    /// - Parameters:
    ///   - algorithms: the digests come in this order.
    ///   - reader: released when the follower is, or when it is abandoned.
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

    /// The first `committed` bytes are written, and can be read.
    func advance(to committed: Int64) {
        guard !computations.isEmpty else { return }
        let mustWork = shared.withLock { $0.state.advance(to: committed) }
        if mustWork { schedule() }
    }

    /// Bytes were taken back: what was read counts no more, and the next come from 0. To be called before the
    /// next ``advance(to:)`` or ``finish(length:then:)``; an answer that is waited for is
    /// ``DigestFollowerError/startedOver``.
    func startOver() {
        let (mustWork, pointless) = shared.withLock { shared in
            shared.failure = nil
            return (shared.state.startOver(), shared.takeAnswer())
        }
        if mustWork { schedule() }
        pointless?(.failure(.startedOver))
    }

    /// The file is complete: its first `length` bytes are what the digests are of. What comes after the
    /// answer begins at 0.
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

    /// Gives the digests up. The reader is let go of, after the piece that is being read.
    func abandon() {
        let (answer, reader) = shared.withLock { shared in
            shared.state.abandon()
            defer { shared.reader = nil }
            return (shared.takeAnswer(), shared.reader)
        }
        answer?(.failure(.abandoned))
        // Not under the lock: what is released may run anything.
        withExtendedLifetime(reader) {}
    }

    private func schedule() {
        // It is held only for a step at a time: an owner that lets go of it waits for no gigabytes.
        queue.async { [weak self] in
            while self?.step() == true {}
        }
    }

    // MARK: - On the queue

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

/// The next step of a ``DigestFollower``: a value that decides and does nothing.
///
/// | event                | resting                   | working                        |
/// |----------------------|---------------------------|--------------------------------|
/// | ``advance(to:)``     | works, if a piece is full | goes on as far                 |
/// | ``startOver()``      | works                     | drops what is read, begins at 0 |
/// | ``finish(length:)``  | works                     | answers when all is read       |
/// | ``abandon()``        | nothing more              | rests after this piece         |
struct DigestFollowerState: Hashable, Sendable {
    enum Step: Hashable, Sendable {
        /// Forget all bytes.
        case forget
        case read(Range<Int64>)
        /// Report the digests of `length` bytes.
        case answer(length: Int64)
        /// Nothing, until there is work again.
        case rest
    }

    /// Bytes that are read at once, and fewer only at the end.
    static let pieceLength: Int64 = 256 * 1024

    /// Bytes that are computed.
    private(set) var position: Int64 = 0
    /// Bytes that are written.
    private var committed: Int64 = 0
    /// The length of the whole, once the owner waits for the digests.
    private var length: Int64?
    private var isWorking = false
    private var mustForget = false
    private var hasFailed = false
    private var isAbandoned = false

    // MARK: - Events: each returns whether work has to be scheduled

    /// Less than before says nothing new.
    mutating func advance(to committed: Int64) -> Bool {
        self.committed = max(self.committed, committed)
        return work()
    }

    mutating func startOver() -> Bool {
        committed = 0
        length = nil
        hasFailed = false
        // The position of bytes that are to be forgotten does not matter.
        mustForget = mustForget || isWorking || position > 0
        position = 0
        return work()
    }

    mutating func finish(length: Int64) -> Bool {
        // Bytes were taken back without an event.
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
        // A file that grows by little is not looked at for each little.
        return committed - position >= Self.pieceLength
            ? .read(position..<position + Self.pieceLength) : .rest
    }

    mutating func didForget() {
        mustForget = false
    }

    /// - Returns: whether the bytes count: `false` if they were taken back meanwhile, or the digests were
    ///   given up.
    mutating func didRead(_ count: Int) -> Bool {
        guard !mustForget, !isAbandoned else { return false }
        if let length, position + Int64(count) > length {
            // The end was said to be before the end of this piece, while it was read.
            mustForget = true
            position = 0
            return false
        }
        position += Int64(count)
        return true
    }

    /// - Returns: whether it matters: `false` if the bytes were taken back meanwhile.
    mutating func didFail() -> Bool {
        guard !mustForget, !isAbandoned else { return false }
        hasFailed = true
        return true
    }

    /// The digests are closed, so what comes next begins at 0.
    /// - Returns: whether the answer is the one that is waited for.
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
