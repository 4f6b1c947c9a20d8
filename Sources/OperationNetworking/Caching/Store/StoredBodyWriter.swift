import Dispatch
import Foundation
internal import OperationNetworkingSystem

/// Writes the body of an entry: into memory while it is short enough, and piece by piece into a file.
///
/// Used on one thread at a time. A writer that is released before ``commit(_:then:)`` discards its entry.
final class StoredBodyWriter: Sendable {
    /// The entry to be stored.
    struct Target: Sendable {
        let key: CacheKey
        /// The entries that are removed when this one is committed.
        let replacing: Set<Int64>
        /// The entries of the key that were already invalidated when they were looked up; `nil` if that is
        /// not compared. See ``StoreChange/insert(_:replacing:invalidated:)``.
        let invalidated: Set<Int64>?
        /// When the request was sent. Removals and invalidations since then apply to the entry.
        let start: StoreMoments.Moment
    }

    /// The longest bodies, in bytes; 0 for none.
    struct Limits: Sendable {
        let memory: Int64
        let disk: Int64
    }

    /// The number of bytes waiting for the disk from which on the writer is full.
    static let capacity = 512 << 10
    /// The number of bytes that are passed to the disk's queue together: waking the queue costs more than
    /// writing them.
    private static let pieceLength = 192 << 10
    /// The most memory that is reserved for an announced length, which may be any number.
    private static let maximumReservation = 1 << 20

    private struct Progress {
        /// The bytes not yet passed to the disk.
        var piece = Data()
        /// The whole body; `nil` if it is too long for memory.
        var body: Data?
        var count: Int64 = 0
        /// The number of bytes that wait for the disk.
        var waiting = 0
        var isOver = false
        /// Whether neither memory nor the disk accepts the body.
        var isDropped = false
        /// Whether the file could not be written, or would be too long.
        var hasFileFailed = false
        var whenReady: (@Sendable () -> Void)?

        mutating func forgetBytes() {
            piece = Data()
            body = nil
        }
    }

    private let store: ResponseStore
    private let target: Target
    private let limits: Limits
    /// `nil` for memory only.
    private let file: DiskTier.Body?
    /// The number of bytes reserved for the body in memory.
    private let reservation: Int
    private let progress: Locked<Progress>

    /// - declaredLength: the length of the body; 0 if unknown.
    init(_ store: ResponseStore, _ target: Target, _ limits: Limits, declaredLength: Int64) {
        self.store = store
        self.target = target
        self.limits = limits
        reservation = Int(min(declaredLength, Int64(Self.maximumReservation)))
        file = limits.disk > 0 ? store.disk.map { DiskTier.Body($0, declaredLength: declaredLength) } : nil
        progress = Locked(
            Progress(body: declaredLength <= limits.memory ? Data(capacity: reservation) : nil)
        )
    }

    deinit {
        abandon()
    }

    // MARK: - Bytes

    /// Copies the next bytes. Never blocks and never fails: on a full disk, the whole entry is discarded.
    func append(_ bytes: Span<UInt8>) {
        progress.withLock { progress in
            guard !progress.isOver, !progress.isDropped else { return }
            progress.count += Int64(bytes.count)
            if progress.count > limits.memory { progress.body = nil }
            if file == nil || progress.count > limits.disk { progress.hasFileFailed = true }
            guard !progress.hasFileFailed || progress.body != nil else {
                progress.isDropped = true
                progress.forgetBytes()
                return
            }
            progress.body?.append(bytes)
            guard !progress.hasFileFailed else { return }
            progress.piece.append(bytes)
            if progress.piece.count >= Self.pieceLength { passOn(&progress) }
        }
    }

    /// Schedules the bytes to be written.
    private func passOn(_ progress: inout Progress) {
        guard let file else { return }
        let piece = progress.piece
        // The body will probably fill another one.
        progress.piece = Data(capacity: min(piece.count, 2 * Self.pieceLength))
        let count = piece.count
        progress.waiting += count
        store.state.withLock { $0.waiting += count }
        store.writing.async { [self] in
            file.write(piece)
            if !file.hasFailed { store.noteWritten(Int64(count)) }
            store.state.withLock { $0.waiting -= count }
            didWrite(count, hasFailed: file.hasFailed)
        }
    }

    private func didWrite(_ count: Int, hasFailed: Bool) {
        let whenReady = progress.withLock { progress in
            if hasFailed { progress.hasFileFailed = true }
            let wasFull = progress.waiting >= Self.capacity
            progress.waiting -= count
            return wasFull && progress.waiting < Self.capacity ? progress.whenReady : nil
        }
        whenReady?()
    }

    /// Whether enough bytes wait for the disk. More are accepted all the same.
    var isFull: Bool { progress.withLock { $0.waiting >= Self.capacity } }

    /// Whether ``commit(_:then:)`` will certainly fail.
    var isLost: Bool {
        progress.withLock { $0.isOver || $0.isDropped || $0.hasFileFailed && $0.body == nil }
    }

    /// Called on any thread when the writer is no longer full.
    var whenReady: (@Sendable () -> Void)? {
        get { progress.withLock { $0.whenReady } }
        set { progress.change { $0.whenReady = newValue } }
    }

    // MARK: - The end

    /// Discards the entry. The entries to replace stay.
    func abandon() {
        let isFirst = progress.withLock { progress in
            defer {
                progress.isOver = true
                progress.forgetBytes()
            }
            return !progress.isOver
        }
        if isFirst { removeFile() }
    }

    private func removeFile() {
        guard let file else { return }
        store.writing.async { file.abandon() }
    }

    /// Stores the entry in place of those that it replaces.
    ///
    /// - Parameters:
    ///   - head: the final head. If its `length` is not the number of bytes written, the entry is discarded.
    ///   - then: called once, on any thread, perhaps before this returns; with `nil` if the entry was
    ///     discarded.
    func commit(_ head: CachedHead, then: (@Sendable (CacheEntry?) -> Void)?) {
        let last = progress.withLock { progress in
            precondition(!progress.isOver, "An entry was committed twice, or after it was abandoned")
            defer {
                progress.isOver = true
                progress.forgetBytes()
            }
            return progress
        }
        guard !last.isDropped, last.count == head.length else {
            removeFile()
            then?(nil)
            return
        }
        let isForDisk = !last.hasFileFailed && limits.disk > 0
        if !isForDisk { removeFile() }
        store.insert(head, exact(last.body), at: target, isForDisk ? file : nil, last.piece, then: then)
    }

    /// A short body without the spare capacity that it has if it grew, because it may stay for long. (The
    /// kernel gives no memory for that of a long one.)
    private func exact(_ body: Data?) -> Data? {
        guard let body, body.count > reservation, body.count <= Self.maximumReservation else { return body }
        var exact = Data(capacity: body.count)
        exact.append(body.span)
        return exact
    }
}
