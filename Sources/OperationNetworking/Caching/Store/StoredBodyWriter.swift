import Dispatch
import Foundation
internal import OperationNetworkingSystem

/// Writes the body of one entry: into memory while it is short enough for that, and piece by piece into a
/// file. Both share the pieces.
///
/// Used on one thread at a time. If it is released before ``commit(_:then:)``, it is abandoned.
final class StoredBodyWriter: Sendable {
    /// The entry that is going to be stored.
    struct Target: Sendable {
        let key: CacheKey
        /// The entries that it replaces.
        let replacing: Set<Int64>
        /// The entries of the key that were found invalidated; `nil`: they are not compared.
        let invalidated: Set<Int64>?
        /// When the response was asked for.
        let start: StoreMoments.Moment
    }

    /// The longest bodies, in bytes; 0: none.
    struct Limits: Sendable {
        let memory: Int64
        let disk: Int64
    }

    /// Bytes that may wait for the disk before it is full.
    static let capacity = 512 << 10
    /// Pieces that are passed on together: to wake the queue costs more than to write one.
    private static let piecesAtOnce = 3

    private struct Progress {
        /// The bytes that are not passed on to the disk yet, in pieces; all of them are full but the last.
        var pieces: [Data] = []
        /// The whole body; `nil`: too long for memory.
        var body: CacheBody? = CacheBody()
        var count: Int64 = 0
        /// Bytes that wait for the disk.
        var waiting = 0
        var isOver = false
        /// Neither memory nor the disk takes it any more.
        var isDropped = false
        /// The file could not be written, or is too long.
        var hasFileFailed = false
        var whenReady: (@Sendable () -> Void)?

        mutating func forgetBytes() {
            pieces = []
            body = nil
        }
    }

    private let store: ResponseStore
    private let target: Target
    private let limits: Limits
    /// `nil`: memory only.
    private let file: DiskTier.Body?
    private let progress = Locked(Progress())

    init(_ store: ResponseStore, _ target: Target, _ limits: Limits) {
        self.store = store
        self.target = target
        self.limits = limits
        file = limits.disk > 0 ? store.disk.map { DiskTier.Body($0) } : nil
    }

    deinit {
        abandon()
    }

    // MARK: - Bytes

    /// Copies the next bytes. Never waits, and never fails: a full disk makes the whole entry be dropped.
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
            if !progress.hasFileFailed { takeForDisk(bytes, &progress) }
        }
    }

    private func takeForDisk(_ bytes: Span<UInt8>, _ progress: inout Progress) {
        var done = 0
        while done < bytes.count {
            if progress.pieces.last.map({ $0.count == CacheBody.pieceLength }) ?? true {
                if progress.pieces.count == Self.piecesAtOnce { passOn(&progress) }
                progress.pieces.append(Data())
                // A body that has filled one piece is likely to fill the next.
                if progress.count > CacheBody.pieceLength {
                    progress.pieces[progress.pieces.count - 1].reserveCapacity(CacheBody.pieceLength)
                }
            }
            let last = progress.pieces.count - 1
            let taken = min(CacheBody.pieceLength - progress.pieces[last].count, bytes.count - done)
            progress.pieces[last].append(bytes.extracting(done..<done + taken))
            done += taken
        }
    }

    /// Has the pieces written.
    private func passOn(_ progress: inout Progress) {
        guard let file else { return }
        let pieces = progress.pieces
        progress.pieces = []
        let count = pieces.reduce(0) { $0 + $1.count }
        progress.waiting += count
        store.state.withLock { $0.waiting += count }
        store.writing.async { [self] in
            for piece in pieces { file.write(piece) }
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

    /// Whether enough bytes wait for the disk. More are taken all the same.
    var isFull: Bool { progress.withLock { $0.waiting >= Self.capacity } }

    /// Whether it is known that ``commit(_:then:)`` will make no entry of it, whatever else comes.
    var isLost: Bool {
        progress.withLock { $0.isOver || $0.isDropped || $0.hasFileFailed && $0.body == nil }
    }

    /// Called on any thread when it can take more after ``isFull``.
    var whenReady: (@Sendable () -> Void)? {
        get { progress.withLock { $0.whenReady } }
        set { progress.change { $0.whenReady = newValue } }
    }

    // MARK: - The end

    /// Forgets it; what it was to replace stays.
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

    /// Makes it an entry, in place of those that it replaces.
    ///
    /// - Parameters:
    ///   - head: the final one: its `length` is that of the bytes that came, else the entry is dropped.
    ///   - then: called once, on any thread, perhaps before this returns: `nil` if it was dropped.
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
        store.insert(head, last.body, at: target, isForDisk ? file : nil, last.pieces, then: then)
    }
}
