/// The use of a body while it is received: decides about each piece.
enum BodyUse: Hashable {
    /// The body goes to the sink.
    case deliver
    /// A number of bytes are already held and are skipped. The bytes after them are also held, and are
    /// compared; the rest goes to the sink.
    case skip(Int64, then: ArraySlice<UInt8>)
    /// A number of bytes are already held: the sink compares them, and writes the rest.
    case compare(Int64)
    /// The body has to begin with these bytes, which are already held; the rest goes to the sink.
    case check(ArraySlice<UInt8>)
    /// The body of an error or redirect is buffered separately, up to this number of further bytes, and truncated
    /// there.
    case bufferSeparately(Int64)
    /// No head has announced a body.
    case drop
    /// The body is discarded, and the transfer is stopped after this number of further bytes.
    case discard(Int)

    /// What to do with one piece.
    enum Step: Hashable {
        /// Ignore the piece.
        case ignore
        /// The bytes from `start` on go to the sink; those from `new` on are new.
        case write(from: Int, new: Int)
        /// The first bytes are buffered separately; the body is truncated if there are more.
        case bufferSeparately(Int, cuts: Bool)
        /// The body is longer than is worth receiving.
        case cut
        /// The body differs from the held bytes.
        case differs
    }

    var isForSink: Bool {
        switch self {
        case .deliver, .skip, .compare, .check: true
        case .bufferSeparately, .drop, .discard: false
        }
    }

    /// Why the body is received although it does not go to the sink; `nil` otherwise.
    var unused: UnusedBody? {
        switch self {
        case .discard: .discarded
        case .bufferSeparately: .explanation
        case .deliver, .skip, .compare, .check, .drop: nil
        }
    }

    /// Decides about the next piece of the body.
    mutating func take(_ piece: Span<UInt8>, from start: Int = 0) -> Step {
        let count = piece.count - start
        switch self {
        case .deliver:
            return .write(from: start, new: start)
        case .skip(let left, let held):
            let skipped = Int(min(left, Int64(count)))
            if left > Int64(skipped) {
                self = .skip(left - Int64(skipped), then: held)
            } else {
                self = held.isEmpty ? .deliver : .check(held)
            }
            return skipped < count ? take(piece, from: start + skipped) : .ignore
        case .compare(let left):
            let compared = Int(min(left, Int64(count)))
            self = left > Int64(compared) ? .compare(left - Int64(compared)) : .deliver
            return .write(from: start, new: start + compared)
        case .check(let held):
            let compared = min(held.count, count)
            for offset in 0..<compared where piece[start + offset] != held[held.startIndex + offset] {
                return .differs
            }
            self = held.count > compared ? .check(held.dropFirst(compared)) : .deliver
            guard compared < count else { return .ignore }
            return .write(from: start + compared, new: start + compared)
        case .bufferSeparately(let left):
            // The caller sets the limit.
            let kept = Int(max(0, min(left, Int64(count))))
            self = .bufferSeparately(left - Int64(kept))
            return .bufferSeparately(kept, cuts: kept < count)
        case .drop:
            return .ignore
        case .discard(let left):
            guard count <= left else { return .cut }
            self = .discard(left - count)
            return .ignore
        }
    }
}
