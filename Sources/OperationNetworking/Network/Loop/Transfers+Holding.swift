import Foundation
internal import OperationNetworkingSystem

// Transfers that are held by their clients or by a limit.
extension Transfers {
    /// Whether descriptors are in use that will become free soon.
    var freesDescriptors: Bool { admission.activeCount > 0 || CountedFiles.count(of: .closingDownload) > 0 }

    /// Records that a transfer, or its files, found no descriptor. It has given up its place.
    /// - Returns: whether it waits in the line again: see ``DescriptorBudget``.
    func mayWaitForDescriptors() -> Bool {
        checkThread()
        return descriptors.didRunOut(
            othersFreeSome: freesDescriptors,
            waitingCount: admission.waitingCount,
            holdsFiles: waitsWithFiles
        )
    }

    func pause(_ id: TransferID) {
        checkThread()
        running[id]?.transfer.setPaused(true)
        admission.didHold(id)
    }

    func resume(_ id: TransferID) {
        checkThread()
        running[id]?.transfer.setPaused(false)
        admission.didResume(id)
        resumeReceiving(id)
    }

    func resumeSending(_ id: TransferID) {
        checkThread()
        guard let transfer = running[id]?.transfer else { return }
        guard let failure = drive({ transfer.resumeSending() }) else { return }
        end(transfer, failure)
    }

    func watch(_ id: TransferID) {
        if running.watch(id, true) { alarms.watchStall(of: id, since: clock.now) }
    }

    func checkStalled() {
        while let id = alarms.nextStalled(now: clock.now) {
            guard let transfer = running[id]?.transfer else { continue }
            let since = transfer.activity.stalledSince
            if let since, since + TransferAlarms.longestStall > clock.now {
                alarms.watchStall(of: id, since: since)
            } else {
                running.watch(id, false)
                if since != nil { admission.didHold(id) }
            }
        }
    }

    /// Resumes transfers whose limit should allow bytes again.
    func resumeHeld() {
        // A shared limit allows one of its transfers each time, and reports the same time, up to rounding, to
        // all. The transfer that has waited longest goes first, or it would starve.
        var due: [TransferID: MonotonicTime] = [:]
        while let id = alarms.nextHeld(now: clock.now) {
            due[id] = running[id]?.transfer.activity.lastTurn
        }
        for (id, _) in due.sorted(by: { $0.value < $1.value }) {
            resumeReceiving(id)
            resumeSending(id)
        }
    }
}
