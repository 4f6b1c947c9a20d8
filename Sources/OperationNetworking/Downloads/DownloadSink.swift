import Foundation
import FoundationNetworking
internal import OperationNetworkingSystem

/// Saves a body as a file: the side of a download's sink that the network thread uses. ``PartDestination`` does the
/// work on the queue of a ``SinkWriter``.
///
/// The sink is full between ``prepare(_:)`` and the moment when the file is ready for the body, so no byte arrives
/// earlier.
final class DownloadSink: ResponseSink, @unchecked Sendable {
    // @unchecked: every stored property is immutable; the state that both sides use is in `shared`, and `part` is used
    // only on the writer's queue.

    /// The state shared by the network thread and the queue.
    ///
    /// | `failure`          | bytes arrive | the transfer ends, or is retried  | the user starts, or resumes |
    /// |--------------------|--------------|-----------------------------------|-----------------------------|
    /// | none               | accepted     | continues                         | continues                   |
    /// | a lack of space    | refused      | is the operation's error          | forgotten: continues        |
    /// | any other          | refused      | is the operation's error          | is the operation's error    |
    ///
    /// Only an operation that was paused during the lack of space reaches the last cell of that row: a running one
    /// has ended.
    struct Shared {
        /// The number of bodies that the file is not ready for yet. One may have been abandoned while the next is
        /// prepared.
        var preparations = 0
        /// The bytes of the file, including those that wait to be written, and without those that are compared. When
        /// a body begins from the start, there are none: the bytes on disk are removed before a new byte is written,
        /// or count again after a failure.
        var held = StoredBytes()
        /// The bytes that are kept from before, if the download can go back to them.
        var kept: StoredBytes?
        /// The number of bytes that still have to be compared.
        var again: Int64 = 0
        var isAbandoned = false
        var failure: (any Error)?
        /// Why no body can be saved, if that was known before the first one.
        var refusal: DownloadError?
        var demand: RestartReason?
        var onChange: (@Sendable () -> Void)?

        /// Goes back to the bytes that were kept.
        mutating func goBack(to kept: StoredBytes) {
            held = kept
            self.kept = nil
            again = 0
        }

        /// Forgets a lack of space: the user resumes, and may have freed some.
        mutating func proceed() {
            if let failure, DiskSpace.isLack(failure) { self.failure = nil }
        }
    }

    private let destination: URL?
    private let progress: Locked<DownloadProgress>
    private let shared: Locked<Shared>
    private let part: PartDestination
    private let writer: SinkWriter

    /// - Parameters:
    ///   - plan: the download.
    ///   - progress: updated from the writer's queue.
    init(_ plan: DownloadPlan, progress: Locked<DownloadProgress>) {
        destination = plan.options.destination
        self.progress = progress
        shared = Locked(Shared())
        part = PartDestination(plan, progress: progress, shared: shared)
        writer = SinkWriter(part)
        // Begun at once, so that an early end closes the file.
        try? writer.begin()
        progress.withLock { $0.countNow = { [weak self] in self?.count } }
    }

    // MARK: - State

    var held: StoredBytes { shared.withLock { $0.held } }
    var isFull: Bool { shared.withLock { $0.preparations > 0 } || writer.isFull }
    var failure: (any Error)? { shared.withLock { $0.failure } }
    var demand: RestartReason? { shared.withLock { $0.demand } }
    let abilities = SinkAbilities(canBeEmptied: true, canCompare: true, keepsUntilWhole: true)

    var onChange: (@Sendable () -> Void)? {
        get { shared.withLock { $0.onChange } }
        set {
            shared.change { $0.onChange = newValue }
            writer.onChange = newValue
        }
    }

    // MARK: - Commands

    func willOpen(for adapted: URLRequest?, token: String?) {
        writer.perform { [part] in part.willOpen(for: adapted, token: token) }
    }

    func open(_ whenOpen: @escaping @Sendable (Result<SinkContent, any Error>) -> Void) -> SinkContent? {
        writer.perform { self.open(mayRepeat: true, whenOpen) }
        return nil
    }

    /// Opens the file on the queue. If another download to the same file is closing it, opens it afterwards.
    private func open(
        mayRepeat: Bool,
        _ whenOpen: @escaping @Sendable (Result<SinkContent, any Error>) -> Void
    ) {
        // A file that is opened now would never be closed.
        if shared.withLock({ $0.isAbandoned }) { return whenOpen(.failure(URLError(.cancelled))) }
        let content = Result { try part.find() }
        if case .failure(DownloadError.inUse) = content, let destination {
            let isWaiting = ClosingDownloads.wait(for: destination) {
                self.writer.perform { self.open(mayRepeat: true, whenOpen) }
            }
            if isWaiting { return }
            // It may have closed the file in the meantime.
            if mayRepeat { return open(mayRepeat: false, whenOpen) }
        }
        if case .failure(let error) = content { part.didNotOpen(error) }
        whenOpen(content)
    }

    func dropCondition() {
        progress.withLock { $0.isConditional = false }
    }

    func prepare(_ start: BodyStart) throws {
        try shared.withLock { shared in
            if let failure = shared.failure { throw failure }
            if let refusal = shared.refusal { throw refusal }
            shared.preparations += 1
            shared.again = 0
            switch start.place {
            case .start:
                shared.demand = nil
                shared.held = StoredBytes(count: 0, content: start.content)
            case .end:
                break
            case .again(let offset):
                shared.again = max(0, shared.held.count - offset)
            }
        }
        if start.place.isStart { writer.dropRest() }
        writer.perform { [part] in part.begin(start) }
    }

    func write(_ bytes: Span<UInt8>) throws {
        let isWanted = try shared.withLock { shared in
            if let failure = shared.failure { throw failure }
            guard shared.demand == nil else { return false }
            let again = min(shared.again, Int64(bytes.count))
            shared.again -= again
            shared.held.count += Int64(bytes.count) - again
            return true
        }
        if isWanted { try writer.append(bytes) }
    }

    func flush() {
        writer.perform { [part] in part.flush() }
    }

    func goBack() -> Bool {
        let goesBack = shared.withLock { shared in
            guard let kept = shared.kept, shared.failure == nil, shared.demand == nil else { return false }
            shared.goBack(to: kept)
            return true
        }
        if goesBack {
            writer.dropRest()
            writer.perform { [part] in part.goBackToKept() }
        }
        return goesBack
    }

    func proceed() {
        // Without an open file, there is nothing to resume.
        guard progress.withLock({ $0.hasOpened }) else { return }
        shared.withLock { $0.proceed() }
    }

    func end(_ whenEnded: @escaping @Sendable (SinkEnd) -> Void) -> SinkEnd? {
        writer.perform { [part, writer] in part.end(on: writer, whenEnded) }
        return nil
    }

    func abandon(_ whenStopped: @escaping @Sendable () -> Void) -> SinkStop {
        let isFirst = shared.withLock { shared in
            defer { shared.isAbandoned = true }
            return !shared.isAbandoned
        }
        if isFirst, let destination { ClosingDownloads.enter(destination) }
        return writer.abandon(whenStopped) ? .stopped(nil) : .stopping
    }
}
