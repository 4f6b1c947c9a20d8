import Foundation
internal import OperationNetworkingSystem

// Transfers that cannot go on for a while: their clients hold them, or a limit does.
extension Transfers {
    /// Seconds between moments that count as one.
    private static let sameMoment = 0.0005
    /// Seconds after which a transfer that cannot go on does not keep others waiting for a connection.
    private static let longestStall = 1.0

    // ``Transfer/isPutAside`` changes in the next two alone.
    func putAside(_ id: TransferID) {
        checkThread()
        running[id]?.transfer.isPutAside = true
        admission.didHold(id)
    }

    func takeUp(_ id: TransferID) {
        checkThread()
        running[id]?.transfer.isPutAside = false
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
        guard running[id]?.isWatched == false else { return }
        running[id]?.isWatched = true
        stalled.insert(id, at: clock.now + Self.longestStall)
    }

    func lookAtStalled() {
        while let id = stalled.removeFirst(dueAt: clock.now) {
            guard let transfer = running[id]?.transfer else { continue }
            if let since = transfer.stalledSince, since + Self.longestStall > clock.now {
                stalled.insert(id, at: since + Self.longestStall)
            } else {
                running[id]?.isWatched = false
                if transfer.stalledSince != nil { admission.didHold(id) }
            }
        }
    }

    /// Lets those try again whose limit should have something by now.
    func goOn() {
        // A limit that several share has enough for one of them each time, and tells all the same moment,
        // give or take a rounding. The transfer that waited longest goes first, or it would starve.
        var due: [TransferID: MonotonicTime] = [:]
        while let id = held.removeFirst(dueAt: clock.now + Self.sameMoment) {
            due[id] = running[id]?.transfer.lastTurn
        }
        for (id, _) in due.sorted(by: { $0.value < $1.value }) {
            resumeReceiving(id)
            resumeSending(id)
        }
    }
}
