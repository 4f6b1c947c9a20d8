import Dispatch
import Foundation
internal import OperationNetworkingSystem

/// Writes one entry of a tiered store: into memory while it is short enough for that, and piece by piece into
/// a file, if it is too long for the index.
///
/// A piece is shared by both, not copied.
final class EntryWriter: CacheWriting {
    /// Bytes that may wait for the disk before it is full.
    static let capacity = 512 * 1024
    /// Pieces that are handed over together: to wake the queue costs more than to write one.
    private static let piecesAtOnce = 3

    private struct Progress {
        /// The whole body; `nil`: too long for memory.
        var body: CacheBody? = CacheBody()
        /// Filled pieces, for the file.
        var filled: [Data] = []
        /// The piece that is being filled.
        var piece = Data()
        var count: Int64 = 0
        /// Bytes that wait for the disk.
        var waiting = 0
        var isOver = false
        /// The entry cannot be stored any more.
        var isDropped = false
        /// The file could not be written.
        var hasFileFailed = false
        var whenReady: (@Sendable () -> Void)?

        mutating func forgetPieces() {
            filled = []
            piece = Data()
        }
    }

    private let store: TieredStore
    private let key: CacheKey
    private let target: EntryTarget
    private let start: StoreMoments.Moment
    private let limits: EntryLimits
    /// `nil`: memory only.
    private let file: EntryFile?
    private let progress = Locked(Progress())

    /// - Parameters:
    ///   - store: the one that gets the entry.
    ///   - key: of the entry.
    ///   - target: the entries whose place it takes.
    ///   - start: when the response was asked for.
    ///   - limits: the longest bodies.
    init(
        _ store: TieredStore,
        key: CacheKey,
        target: EntryTarget,
        start: StoreMoments.Moment,
        limits: EntryLimits
    ) {
        self.store = store
        self.key = key
        self.target = target
        self.start = start
        self.limits = limits
        file = limits.disk > 0 ? store.disk.map { EntryFile($0) } : nil
    }

    deinit {
        abandon()
    }

    // MARK: - Bytes

    func append(_ bytes: Span<UInt8>) {
        progress.withLock { progress in
            guard !progress.isOver, !progress.isDropped else { return }
            progress.count += Int64(bytes.count)
            let fitsDisk = file != nil && !progress.hasFileFailed && progress.count <= limits.disk
            if progress.count > limits.memory { progress.body = nil }
            guard fitsDisk || progress.body != nil else {
                progress.isDropped = true
                progress.forgetPieces()
                return
            }
            progress.body?.append(bytes)
            if fitsDisk { takeForDisk(bytes, &progress) }
        }
    }

    private func takeForDisk(_ bytes: Span<UInt8>, _ progress: inout Progress) {
        var done = 0
        while done < bytes.count {
            // A body that has filled one piece is likely to fill the next.
            if progress.piece.isEmpty, progress.count > CacheBody.pieceLength {
                progress.piece.reserveCapacity(CacheBody.pieceLength)
            }
            let taken = min(CacheBody.pieceLength - progress.piece.count, bytes.count - done)
            progress.piece.append(bytes.extracting(done..<done + taken))
            done += taken
            guard progress.piece.count == CacheBody.pieceLength else { break }
            progress.filled.append(progress.piece)
            progress.piece = Data()
            if progress.filled.count == Self.piecesAtOnce { passOn(&progress) }
        }
    }

    /// Has the filled pieces written.
    private func passOn(_ progress: inout Progress) {
        guard let file, !progress.filled.isEmpty else { return }
        let pieces = progress.filled
        progress.filled = []
        let count = pieces.count * CacheBody.pieceLength
        progress.waiting += count
        store.state.withLock { $0.waiting += count }
        store.bodies.async { [self] in
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

    var isFull: Bool { progress.withLock { $0.waiting >= Self.capacity } }

    var isLost: Bool {
        progress.withLock { $0.isOver || $0.isDropped || $0.hasFileFailed && $0.body == nil }
    }

    var whenReady: (@Sendable () -> Void)? {
        get { progress.withLock { $0.whenReady } }
        set { progress.change { $0.whenReady = newValue } }
    }

    // MARK: - The end

    func abandon() {
        let isFirst = progress.withLock { progress in
            defer {
                progress.isOver = true
                progress.body = nil
                progress.forgetPieces()
            }
            return !progress.isOver
        }
        if isFirst { giveUp() }
    }

    private func giveUp() {
        guard let file else { return }
        store.bodies.async { file.abandon() }
    }

    func commit(_ head: CachedHead, then: (@Sendable (CacheEntry?) -> Void)?) {
        let (body, rest, isUsable) = progress.withLock { progress in
            let isUsable =
                !progress.isOver && !progress.isDropped && progress.count == head.length
            if isUsable { passOn(&progress) }
            let taken = (progress.body, progress.piece, isUsable)
            let wasOver = progress.isOver
            progress.isOver = true
            progress.body = nil
            progress.forgetPieces()
            precondition(!wasOver, "An entry was committed twice, or after it was abandoned")
            return taken
        }
        guard isUsable else {
            giveUp()
            then?(nil)
            return
        }
        store(head, body, rest, then)
    }

    private func store(
        _ head: CachedHead,
        _ body: CacheBody?,
        _ rest: Data,
        _ then: (@Sendable (CacheEntry?) -> Void)?
    ) {
        let hash = key.storedHash
        var entry = CacheEntry(id: store.identifiers.next(), head: head)
        var replaced = target.replacing
        var lost: [Int64] = []
        var isForDisk = false
        let isStored = store.state.withLock { state in
            let (isWanted, isInvalidated) = state.moments.fate(of: key, since: start)
            guard isWanted else { return false }
            if isInvalidated { entry.head.isInvalidated = true }
            if let known = target.invalidated, state.hasInvalidated(key, besides: known) {
                entry.head.isInvalidated = true
            }
            isForDisk = file != nil && state.isDiskOn && head.length <= limits.disk
            if let body {
                let variant = MemoryTier.Variant(entry: entry, body: body, isOnDisk: isForDisk)
                state.insert(variant, of: key, hash, replacing: replaced)
                let excess = state.excess(key)
                for id in excess { state.remove(id, of: key) }
                replaced += excess
            } else {
                for id in replaced { state.remove(id, of: key) }
                state.forgetCompleteness(key)
            }
            guard isForDisk else {
                lost = replaced
                return body != nil
            }
            state.begin(key)
            state.waiting += rest.count
            passOn(entry, rest, hash, replaced, body == nil ? then : nil)
            return true
        }
        // Out of date all the same: it must not come back when the new one has left memory.
        for id in lost { store.remove(id, of: key) }
        // Memory may have it all the same; what was written of its file goes.
        if !isForDisk { giveUp() }
        guard isStored else {
            then?(nil)
            return
        }
        if body != nil { then?(entry) }
    }

    /// Has the rest written, and then the index changed. Called with the lock of the store held.
    private func passOn(
        _ entry: CacheEntry,
        _ rest: Data,
        _ hash: Int64,
        _ replaced: [Int64],
        _ then: (@Sendable (CacheEntry?) -> Void)?
    ) {
        guard let file, let disk = store.disk else { return }
        let (key, target) = (key, target)
        store.bodies.async { [store] in
            file.finish(rest, as: entry.id)
            store.state.withLock { $0.waiting -= rest.count }
            store.index.async {
                let used = store.takeUsed()
                let hidden = store.state.withLock { $0.hidden }
                var stored = entry
                let isStored = disk.perform { disk in
                    try disk.store(
                        &stored,
                        of: key,
                        hash,
                        EntryTarget(replacing: replaced, invalidated: target.invalidated),
                        content: file.content,
                        hidden: hidden,
                        used: used
                    )
                }
                if isStored {
                    // Another process has changed the row meanwhile: the next look-up asks for it.
                    if stored.head != entry.head { store.state.withLock { $0.forgetCompleteness(key) } }
                    store.note(hash, disk)
                    file.close()
                    if case .file? = file.content { store.scheduleWritingThrough() }
                } else {
                    store.state.withLock { state in
                        state.hidden.insert(replaced)
                        state.change(entry.id, of: key) { variant in
                            var variant = variant
                            variant.isOnDisk = false
                            if stored.head.isInvalidated { variant.entry.head.isInvalidated = true }
                            return variant
                        }
                    }
                    store.bodies.async { file.abandon() }
                }
                store.finishRemovals(disk)
                store.end(key)
                then?(isStored ? stored : nil)
            }
        }
    }
}
