import Foundation
import FoundationNetworking
internal import OperationNetworkingSystem

/// The destination of a response's body. Used on the network thread; nothing here waits.
protocol ResponseSink: AnyObject {
    /// The bytes that it has taken since it was last emptied. Bytes that it took and could not write are not
    /// counted.
    var held: HeldBytes { get }

    /// Whether the transfer has to wait until ``onChange`` was called.
    var isFull: Bool { get }

    /// Why it takes nothing any more.
    var failure: (any Error)? { get }

    /// Why the body that is coming is no use, and the whole has to come instead; `nil` again after
    /// ``prepare(_:)`` for the whole, and only then.
    var demand: RestartReason? { get }

    /// Whether it keeps last bytes only where they may be asked back.
    var keepsLastBytes: Bool { get }

    /// Whether ``onChange`` is ever called.
    var tellsChanges: Bool { get }

    /// Called, on any thread, when a full one has room again, and when one fails, or demands something,
    /// between two writes.
    var onChange: (@Sendable () -> Void)? { get set }

    /// The abilities to use the bytes that it has.
    var abilities: SinkAbilities { get }

    /// Tells the request as adapters have made it, `nil` without adapters, and the token that goes along.
    /// Called before each ``open(_:)``.
    func willOpen(for adapted: URLRequest?, token: String?)

    /// Looks for bytes of an earlier process. Called once, before anything is asked, and again after an error
    /// that is a lack of descriptors.
    /// - Returns: the content, unless it has to be looked for; then `whenOpen` is called, once, on any
    ///   thread.
    func open(_ whenOpen: @escaping @Sendable (Result<SinkContent, any Error>) -> Void) -> SinkContent?

    /// The server has contradicted its own 304 to the ``SinkContent/condition``: it is asked for the whole
    /// without one.
    func dropCondition()

    /// Gets ready for a body. Called before each transfer's first byte.
    func prepare(_ start: BodyStart) throws

    /// The last bytes that it took: at most `count`, and at least as many as ``abilities`` promise.
    func lastBytes(_ count: Int) -> [UInt8]

    /// The bytes that it has, if they are in memory: for an archive.
    var bytesInMemory: Data? { get }

    /// Takes all of `bytes`.
    func write(_ bytes: Span<UInt8>) throws

    /// The transfer stopped, and may go on later, or never: what came is to be made safe.
    func flush()

    /// Gives up the bytes that it has, whose rest cannot be asked for, for those that it has kept besides.
    /// - Returns: whether it has: ``held`` says so at once.
    func goBack() -> Bool

    /// The user wants the transfer to go on, which was stopped, or never began: a lack of room that was met
    /// since is none any more if the user has made some.
    func goOn()

    /// No more will come.
    /// - Returns: the end, unless something still has to arrive where it belongs; then `whenEnded` is called,
    ///   once, on any thread.
    func end(_ whenEnded: @escaping @Sendable (SinkEnd) -> Void) -> SinkEnd?

    /// Gives the rest up. The bytes that came are kept, as far as that is possible without waiting for
    /// others.
    /// - Returns: the kept bytes, unless something is still being written; then `whenStopped` is called,
    ///   once, on any thread.
    func abandon(_ whenStopped: @escaping @Sendable () -> Void) -> SinkStop
}

extension ResponseSink {
    /// The number of the bytes that it holds.
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

    func goOn() {}

    func goBack() -> Bool { false }

    func lastBytes(_ count: Int) -> [UInt8] { [] }
}

/// The bytes that a sink holds. Number and content change in one step, when the bytes of another content are
/// gone: until then they are what they were, whatever head has been judged.
struct HeldBytes: Hashable, Sendable {
    var count: Int64 = 0
    /// The ``BodyStart/content`` of the body that they began with; 0: they are of an earlier process.
    var content = 0
    /// Whether they do not have the digest that they have to have, and are going to be thrown away.
    var isRefuted = false

    /// The content of the bytes that an earlier process has kept besides those of content 0.
    static let keptContent = -1
}

/// The content of a sink before anything is asked.
struct SinkContent: Sendable {
    /// The representation of its bytes; `nil`: it has none that could be continued.
    var partial: PartialContent?
    /// The representation of the bytes that it has kept besides; `nil`: there are none, or they are of another
    /// request.
    var kept: PartialContent?
    /// The complete file, and the parts of other requests, that the body is to take the place of.
    var replaced: [KeptBody] = []
    /// Why bytes that were there are not.
    var lost: RestartReason?
    /// The condition that is sent with every request, so that the whole comes only if it is another one than
    /// before.
    var condition: FileCondition?
}

/// A body that is about to come.
struct BodyStart: Sendable {
    /// The place of a body in the sink.
    enum Place: Hashable, Sendable {
        /// At the start: the kept bytes are thrown away, for a reason if there are any.
        case start(RestartReason?)
        /// Behind the kept bytes.
        case end
        /// At an offset within the kept bytes: as far as these go, both have to be equal.
        case again(from: Int64)
    }

    var place: Place
    /// The length of the whole, `nil` if it is unknown.
    var total: Int64?
    /// The head of the response whose body it is.
    var head: ResponseHead
    /// The URL of that response.
    var url: URL
    /// The caller's address, or the one that he has named since: where redirects lead does not count.
    var address: URL?
    /// The number of the content: each body that replaces what is held has another one. One that goes on has
    /// that of the bytes before it.
    var content = 0
    /// Whether anything but equal bytes says that it belongs to those that are there.
    var isProven = true
    /// Whether the rest, or the whole, may be asked for if this body breaks off: then the last bytes may be
    /// asked back. For a sink that ``ResponseSink/keepsLastBytes``.
    var mayComeAgain = false
    /// The servers that the challenge's closure trusts although the policy does not.
    var trustedServers: Set<TrustException> = []

    /// The bytes of the whole that begin this file, if they are a part that the caller's own `Range` asked
    /// for.
    var ownRange: Range<Int64>? {
        guard case .start = place, head.status == 206 else { return nil }
        return head.fields["Content-Range"].flatMap { try? ContentRange(fieldValue: $0) }?.bytes
    }
}

/// The result of finishing a body.
enum SinkEnd: Sendable {
    /// Everything is where it belongs; the body, if it is in memory.
    case done(Data?)
    case failed(any Error)
    /// The body was no use; it is thrown away, and the whole has to come again.
    case mustStartOver(RestartReason)
    /// The body was no use, and counts as an attempt that failed with this: there is another one only if the
    /// ``RetryPolicy`` allows it. A reason: the whole has to come then.
    case mustTryAgain(any Error, RestartReason?)
}

/// Whether a sink that was abandoned has come to rest.
enum SinkStop: Hashable, Sendable {
    /// Nothing is written any more; what came, if it is in memory.
    case stopped(Data?)
    case stopping
}
