import Foundation
internal import OperationNetworkingSystem

/// Where the body of a response goes. Used on the network thread; nothing here waits.
protocol ResponseSink: AnyObject {
    /// How many bytes it has taken since it was last emptied. Bytes that it took and could not write are not counted.
    var count: Int64 { get }

    /// Whether the transfer has to wait until ``onChange`` was called.
    var isFull: Bool { get }

    /// Why it takes nothing any more.
    var failure: (any Error)? { get }

    /// Called, on any thread, when a full one has room again, and when one fails between two writes.
    var onChange: (@Sendable () -> Void)? { get set }

    /// Whether ``empty()`` is possible.
    var canBeEmptied: Bool { get }

    /// Gets ready for `expected` bytes, if that is known, and opens what has to be opened. Called before each
    /// transfer's first byte.
    func prepare(expecting expected: Int64?) throws

    /// Throws away everything it has.
    func empty() throws

    /// Takes all of `bytes`.
    func write(_ bytes: Span<UInt8>) throws

    /// No more will come: `then` is called, on any thread, when everything has arrived where it belongs.
    func end(_ then: @escaping @Sendable (Result<Data?, any Error>) -> Void)

    /// Nobody wants the rest. What came is kept, as far as that is possible without waiting for others.
    /// - Returns: what is there, unless something is still being written; then `whenStopped` is called, once, on any
    ///   thread.
    func abandon(_ whenStopped: @escaping @Sendable () -> Void) -> SinkStop
}

/// Whether a sink that was abandoned has come to rest.
enum SinkStop: Hashable, Sendable {
    /// Nothing is written any more; what came, if it is in memory.
    case stopped(Data?)
    case stopping
}
