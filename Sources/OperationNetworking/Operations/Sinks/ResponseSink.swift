import Foundation
import FoundationNetworking
internal import OperationNetworkingSystem

/// The destination of a response's body. Used on the network thread; no method blocks.
protocol ResponseSink: AnyObject {
    /// The bytes that the sink has accepted since it was last emptied, without those that it could not write.
    var held: StoredBytes { get }

    /// Whether the transfer has to wait until ``onChange`` is called.
    var isFull: Bool { get }

    /// Why the sink no longer accepts bytes.
    var failure: (any Error)? { get }

    /// Why the current body is unusable, and the whole body has to be requested; reset to `nil` only by
    /// ``prepare(_:)`` for the whole body.
    var demand: RestartReason? { get }

    /// Whether the sink keeps its last bytes only if they may be compared later.
    var keepsLastBytes: Bool { get }

    /// Whether ``onChange`` is ever called.
    var tellsChanges: Bool { get }

    /// Called, on any thread, when a full sink has room again, and when the sink fails, or makes a demand,
    /// between two writes.
    var onChange: (@Sendable () -> Void)? { get set }

    /// How the sink can use the bytes that it holds.
    var abilities: SinkAbilities { get }

    /// Passes the adapted request (`nil` without adapters) and its token to the sink. Called before each
    /// ``open(_:)``.
    func willOpen(for adapted: URLRequest?, token: String?)

    /// Looks for bytes of an earlier process. Called once, before the first request, and again after an error
    /// about a lack of descriptors.
    /// - Returns: the content, or `nil` if it has to be looked for; then `whenOpen` is called, once, on any
    ///   thread.
    func open(_ whenOpen: @escaping @Sendable (Result<SinkContent, any Error>) -> Void) -> SinkContent?

    /// Drops the ``SinkContent/condition``, because the server contradicted its own 304: the whole body is
    /// requested without a condition.
    func dropCondition()

    /// Prepares for a body. Called before each transfer's first byte.
    func prepare(_ start: BodyStart) throws

    /// Returns the last accepted bytes: at most `count`, and at least as many as ``abilities`` promises.
    func lastBytes(_ count: Int) -> [UInt8]

    /// The held bytes for an archive, if they are in memory.
    var bytesInMemory: Data? { get }

    /// Accepts all of `bytes`.
    func write(_ bytes: Span<UInt8>) throws

    /// Secures the received bytes: the transfer has stopped, and may never resume.
    func flush()

    /// Discards the held bytes, whose rest cannot be requested, in favor of those that were kept from before.
    /// - Returns: whether it did; ``held`` then changes at once.
    func goBack() -> Bool

    /// Prepares to resume the transfer by a command of the user, who may have freed space: an earlier failure
    /// for lack of space is checked again.
    func proceed()

    /// Finishes the body.
    /// - Returns: the end, or `nil` if something still has to be written; then `whenEnded` is called, once,
    ///   on any thread.
    func end(_ whenEnded: @escaping @Sendable (SinkEnd) -> Void) -> SinkEnd?

    /// Abandons the rest of the body. The received bytes are kept, as far as that is possible without waiting
    /// for others.
    /// - Returns: the kept bytes, unless something is still being written; then `whenStopped` is called,
    ///   once, on any thread.
    func abandon(_ whenStopped: @escaping @Sendable () -> Void) -> SinkStop
}

extension ResponseSink {
    /// The number of held bytes.
    var count: Int64 { held.count }

    var keepsLastBytes: Bool { false }

    func willOpen(for adapted: URLRequest?, token: String?) {}

    var tellsChanges: Bool { true }

    var demand: RestartReason? { nil }

    var bytesInMemory: Data? { nil }

    func dropCondition() {}

    func open(_ whenOpen: @escaping @Sendable (Result<SinkContent, any Error>) -> Void) -> SinkContent? {
        SinkContent()
    }

    func flush() {}

    func proceed() {}

    func goBack() -> Bool { false }

    func lastBytes(_ count: Int) -> [UInt8] { [] }
}

/// The bytes that a sink holds. Number and content change in one step, when the bytes of the old content have
/// been discarded, whatever head has been judged before.
struct StoredBytes: Hashable, Sendable {
    var count: Int64 = 0
    /// The ``BodyStart/content`` of the body that they began with; 0 if they are from an earlier process.
    var content = 0
    /// Whether they do not match the expected digest, and will be discarded.
    var isRefuted = false

    /// The content of the bytes that an earlier process kept in addition to those of content 0.
    static let keptContent = -1
}

/// The content of a sink before the first request.
struct SinkContent: Sendable {
    /// The representation of the held bytes; `nil` if there are none that could be resumed.
    var partial: PartialContent?
    /// The representation of the bytes kept from before; `nil` if there are none, or they belong to another
    /// request.
    var kept: PartialContent?
    /// The complete file, and the parts of other requests, that the body replaces.
    var replaced: [KeptBody] = []
    /// Why earlier bytes were lost.
    var lost: RestartReason?
    /// The condition sent with every request, so that the server sends the body only if it has changed.
    var condition: FileCondition?
}

/// A body that is about to arrive.
struct BodyStart: Sendable {
    /// The place of a body in the sink.
    enum Place: Hashable, Sendable {
        /// At the start. Kept bytes, if any, are discarded for the given reason.
        case start(RestartReason?)
        /// Behind the kept bytes.
        case end
        /// At an offset within the kept bytes, with which it has to agree where they overlap.
        case again(from: Int64)

        var isStart: Bool { if case .start = self { true } else { false } }
        /// The offset of the first byte to compare.
        var overlap: Int64? { if case .again(let offset) = self { offset } else { nil } }
    }

    var place: Place
    /// The length of the whole body; `nil` if unknown.
    var total: Int64?
    /// The head of the body's response.
    var head: ResponseHead
    /// The URL of that response.
    var url: URL
    /// The caller's address, or the one that replaced it; redirects do not change it.
    var address: URL?
    /// The number of the content. Each body that replaces the held bytes has a new one; a continued body has
    /// that of the bytes before it.
    var content = 0
    /// Whether anything other than equal bytes proves that the body belongs to the held ones.
    var isProven = true
    /// Whether the rest, or the whole body, may be requested if this body breaks off: then the last bytes may
    /// be compared. For a sink with ``ResponseSink/keepsLastBytes``.
    var mayComeAgain = false
    /// The servers that the challenge closure trusts although the policy does not.
    var trustedServers: Set<TrustException> = []

    /// The range of the first bytes of this file within the representation, if the caller's own `Range`
    /// requested a part.
    var ownRange: Range<Int64>? {
        guard case .start = place, head.status == 206 else { return nil }
        return head.fields["Content-Range"].flatMap { try? ContentRange(fieldValue: $0) }?.bytes
    }
}

/// The result of finishing a body.
enum SinkEnd: Sendable {
    /// Everything has been written; the body, if it is in memory.
    case done(Data?)
    case failed(any Error)
    /// The body was unusable and is discarded; the whole body has to be requested again.
    case mustStartOver(RestartReason)
    /// The body was unusable and counts as an attempt that failed with this error: there is another one only
    /// if the ``RetryPolicy`` allows it. If there is a reason, it requests the whole body.
    case mustTryAgain(any Error, RestartReason?)
}

/// Whether an abandoned sink has stopped.
enum SinkStop: Hashable, Sendable {
    /// Nothing more is written; the received bytes, if they are in memory.
    case stopped(Data?)
    case stopping
}
