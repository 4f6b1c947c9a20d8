import Foundation
import OperationNetworkingTesting

/// A server's treatment of a file, and of clients that continue it.
public struct ServerKind: Hashable, Sendable {
    /// The validator, which distinguishes versions of a file.
    enum Validator: Hashable, Sendable {
        case strongTag
        /// The same for all versions, as a weak tag may be.
        case weakTag
        /// Another for each version, and long ago.
        case date
        /// The same for all versions, and now: too young to be trusted (RFC 9110 §8.8.2.2).
        case youngDate
        case none
    }

    /// The way in which the first answers about a file end in the middle.
    enum Cut: Hashable, Sendable {
        case close, reset
    }

    /// The change of a file.
    enum Change: Hashable, Sendable {
        /// Other bytes, as many.
        case bytes
        /// Other bytes, more or fewer.
        case length
        /// Other bytes, an eighth as many.
        case shrinking
    }

    /// The server's name in tables and arguments.
    public let name: String
    /// The server's behavior, in a few words.
    public let explanation: String
    var validator = Validator.strongTag
    var misbehaviors: [Representation.Misbehavior] = []
    var cut: Cut?
    var change: Change?
    /// Whether the change comes when an answer is cut, so that one run can see both versions; else between
    /// two runs.
    var changesAtCut = false
    /// Whether nothing has to be fetched twice.
    public var keepsRanges = false

    /// All of them.
    public static let all: [ServerKind] = [
        ServerKind(
            name: "strong-etag",
            explanation: "a strong ETag",
            keepsRanges: true
        ),
        ServerKind(
            name: "strong-date",
            explanation: "only a Last-Modified, of long ago",
            validator: .date,
            keepsRanges: true
        ),
        ServerKind(
            name: "no-validator",
            explanation: "neither ETag nor Last-Modified",
            validator: .none
        ),
        ServerKind(
            name: "changed-etag",
            explanation: "a strong ETag; the file changes between runs, same length",
            change: .bytes
        ),
        ServerKind(
            name: "changed-date",
            explanation: "only a Last-Modified; the file changes between runs, same length",
            validator: .date,
            change: .bytes
        ),
        ServerKind(
            name: "changed-length",
            explanation: "a strong ETag; the file changes between runs, other length",
            change: .length
        ),
        ServerKind(
            name: "changed-weak-etag",
            explanation: "a weak ETag, which stays when the file changes between runs",
            validator: .weakTag,
            change: .bytes
        ),
        ServerKind(
            name: "changed-young-date",
            explanation: "a Last-Modified of this second, which stays when the file changes between runs",
            validator: .youngDate,
            change: .bytes
        ),
        ServerKind(
            name: "changed-unmarked",
            explanation: "neither; the file changes between runs, same length",
            validator: .none,
            change: .bytes
        ),
        ServerKind(
            name: "changed-in-run",
            explanation: "answers end early, and the file changes at that moment: --retry meets another",
            cut: .close,
            change: .bytes,
            changesAtCut: true
        ),
        ServerKind(
            name: "if-range-ignored",
            explanation: "changes as changed-etag, and a 206 comes whatever If-Range says",
            misbehaviors: [.ignoresIfRange],
            change: .bytes
        ),
        ServerKind(
            name: "unnamed-206",
            explanation: "a Last-Modified, which no 206 repeats",
            validator: .date,
            misbehaviors: [.omitsPartialLastModified]
        ),
        ServerKind(
            name: "changed-unnamed-206",
            explanation: "as if-range-ignored, and no 206 has an ETag or a date",
            misbehaviors: [.ignoresIfRange, .sendsPartialEntityTag(nil), .omitsPartialLastModified],
            change: .bytes
        ),
        ServerKind(
            name: "range-ignored",
            explanation: "200 with everything, whatever range is asked for",
            misbehaviors: [.ignoresRange]
        ),
        ServerKind(
            name: "truncating",
            explanation: "the first answers end early, with a Content-Length that is too long",
            cut: .close,
            keepsRanges: true
        ),
        ServerKind(
            name: "resetting",
            explanation: "the first connections are reset in the middle of the body",
            cut: .reset,
            keepsRanges: true
        ),
        ServerKind(
            name: "early-206",
            explanation: "a 206 begins 1000 bytes before the range that was asked for",
            misbehaviors: [.shiftsRange(by: -1000)]
        ),
        ServerKind(
            name: "short-206",
            explanation: "a 206 has at most 300,000 bytes",
            misbehaviors: [.shortensRange(to: 300_000)]
        ),
        ServerKind(
            name: "shrunk-416",
            explanation: "the file shrinks to an eighth between runs: 416",
            change: .shrinking
        ),
    ]

    /// The one to whose answers nothing else happens: the first of all.
    static let strongTag = all[0]
}
