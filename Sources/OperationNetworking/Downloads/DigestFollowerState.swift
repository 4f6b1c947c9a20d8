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
