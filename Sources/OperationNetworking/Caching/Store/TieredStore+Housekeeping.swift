import Dispatch
import Foundation
internal import OperationNetworkingSystem

/// The work that no call waits for, on a queue of its own: it removes files without an entry, and has the
/// others written through to the disk.
extension TieredStore {
    /// Once after opening, when the index is known.
    func beginHousekeeping() {
        guard let disk else { return }
        housekeeping.async { [self] in
            removeOrphans(disk)
            compareSum(disk)
            writeThrough(disk, olderThan: DiskTier.writeback)
        }
    }

    /// Has what was stored written through some time later, when the kernel has written most of it by itself.
    /// A store that is released before leaves that to the next one.
    func scheduleWritingThrough() {
        guard let disk else { return }
        let isScheduled = state.withLock { state in
            defer { state.isWritingScheduled = true }
            return state.isWritingScheduled
        }
        guard !isScheduled else { return }
        housekeeping.asyncAfter(deadline: .now() + .seconds(Int(DiskTier.writeback) + 5)) { [weak self] in
            guard let self else { return }
            state.withLock { $0.isWritingScheduled = false }
            if !writeThrough(disk, olderThan: DiskTier.writeback) { scheduleWritingThrough() }
        }
    }

    /// Waits until the files of entries are on the disk, and notes it: a later run of the machine believes
    /// them.
    ///
    /// - Returns: whether none is left, younger ones included.
    @discardableResult
    func writeThrough(_ disk: DiskTier, olderThan seconds: Int64) -> Bool {
        // What seems to be of the future is of a clock that was ahead.
        let latest = identifiers.next()
        let earliest = EntryIdentifiers.earliest(seconds, before: latest)
        let youngest = earliest...EntryIdentifiers.latest(60, after: latest)
        while true {
            let (ids, isLast) = index.sync { disk.unsynchronized(but: youngest) }
            let written = disk.synchronize(ids)
            guard !written.isEmpty else { break }
            let isNoted = index.sync { disk.perform { try $0.noteSynchronized(written) } }
            if isLast || !isNoted { break }
        }
        return index.sync { disk.unsynchronized().ids.isEmpty }
    }

    /// Removes files that no entry has and no process writes: those of processes that were killed, and of an
    /// index that was begun anew.
    func removeOrphans(_ disk: DiskTier) {
        for name in disk.fileNames() {
            guard let id = DiskTier.entry(of: name) else {
                disk.removeUnlessLocked(name, if: { true })
                continue
            }
            guard index.sync(execute: { disk.contains(id) }) == false else { continue }
            // Its writer may have been about to make the row: looked at again with the lock held.
            disk.removeUnlessLocked(name, if: { index.sync { disk.contains(id) } == false })
        }
    }

    /// Compares the sum of costs with the entries: one that is too small would let the directory grow. Some
    /// entries at a time, since look-ups wait meanwhile; what is stored and removed meanwhile is little.
    func compareSum(_ disk: DiskTier) {
        let excess = disk.capacity / 8
        var counted: Int64 = 0
        var last = Int64.min
        while true {
            let start = last
            guard let next = index.sync(execute: { disk.cost(above: start) }) else { return }
            counted += next.bytes
            last = next.last
            if counted - index.sync(execute: { max(disk.usage(), 0) }) > excess { break }
        }
        index.sync {
            _ = disk.perform { try $0.recount() }
            finishRemovals(disk)
        }
    }
}
