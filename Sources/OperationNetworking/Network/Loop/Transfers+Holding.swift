import Foundation
internal import OperationNetworkingSystem

// Transfers that cannot go on for a while: their clients hold them, or a limit does.
extension Transfers {
    /// Whether descriptors are in use that will not be for long.
    var othersHoldDescriptors: Bool { admission.activeCount > 0 || ClosingFiles.count > 0 }

    /// A transfer, or its files, found no descriptor. It has given its place up.
    /// - Returns: whether it may take it again: see ``DescriptorBudget``.
    func mayWaitForDescriptors() -> Bool {
        checkThread()
        descriptors.didRunOut()
        return othersHoldDescriptors
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

    func lookAtStalled() {
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

    /// Lets those try again whose limit should have something by now.
    func goOn() {
        // A limit that several share has enough for one of them each time, and tells all the same moment,
        // give or take a rounding. The transfer that waited longest goes first, or it would starve.
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
