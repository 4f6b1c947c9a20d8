/// The use of a body that is coming: a value that decides, piece by piece.
enum BodyUse: Hashable {
    /// The body goes to the sink.
    case deliver
    /// A number of bytes that are held, and passed by. The bytes after them are held as well, and are
    /// compared; what follows goes to the sink.
    case skip(Int64, then: ArraySlice<UInt8>)
    /// A number of bytes that are held: the sink compares them, and writes what comes after them.
    case compare(Int64)
    /// The body has to begin with these bytes, which are held; what comes after them goes to the sink.
    case check(ArraySlice<UInt8>)
    /// The body is that of an error, or of a redirect: it is kept aside, up to this number of bytes more, and
    /// cut there.
    case keepAside(Int64)
    /// No head has said that a body comes.
    case drop
    /// The body is of no use, and cut after this number of bytes more.
    case discard(Int)

    /// The treatment of one piece.
    enum Step: Hashable {
        /// Nothing of it is needed.
        case ignore
        /// The bytes from `start` on go to the sink; those from `new` on were not there before.
        case write(from: Int, new: Int)
        /// The first bytes are kept aside; the body is cut if there are more.
        case keepAside(Int, cuts: Bool)
        /// The body goes on for longer than it is worth.
        case cut
        /// The body is not what is held.
        case differs
    }

    var isForSink: Bool {
        switch self {
        case .deliver, .skip, .compare, .check: true
        case .keepAside, .drop, .discard: false
        }
    }

    /// Why the body is received although the sink gets nothing of it; `nil`: there is no reason.
    var unused: UnusedBody? {
        switch self {
        case .discard: .discarded
        case .keepAside: .explanation
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
        case .keepAside(let left):
            // The limit is the caller's.
            let kept = Int(max(0, min(left, Int64(count))))
            self = .keepAside(left - Int64(kept))
            return .keepAside(kept, cuts: kept < count)
        case .drop:
            return .ignore
        case .discard(let left):
            guard count <= left else { return .cut }
            self = .discard(left - count)
            return .ignore
        }
    }
}
