import Foundation
internal import OperationNetworkingSystem

/// All transfers of the process. It is only lent, by ``NetworkThread/perform(_:)``, and stays on the network thread.
///
/// libcurl is entered from one place, `drive`. From within libcurl nothing here may be called; whoever does is
/// stopped by a precondition, because most libcurl calls would answer `CURLM_RECURSIVE_API_CALL`.
final class Transfers {
    private static let maximumIdleConnections = 256

    private let owner = ThreadIdentity.current
    private let poller: SocketPoller
    private let clock = PassClock()
    private var domains: [TrustDomain: Int] = [:]
    private var domainList: [TransferDomain] = []
    private var running: [TransferID: (transfer: Transfer, domain: TransferDomain)] = [:]
    private var byHandle: [ObjectIdentifier: TransferID] = [:]
    private var deadlines = DeadlineQueue()
    /// Ends that the clients have not heard of yet.
    private var ended = Fifo<(client: any TransferClient, end: TransferEnd)>()
    private(set) var isInsideCurl = false

    init() throws {
        poller = try SocketPoller()
    }

    /// Readable when a socket of any transfer is ready.
    var descriptor: Int32 { poller.descriptor }

    /// How many transfers have started and not ended.
    var count: Int {
        checkThread()
        return running.count
    }

    // MARK: - Commands

    /// Starts a transfer. The client hears of everything later, never during this call.
    func start(_ request: TransferRequest, id: TransferID, for client: any TransferClient) {
        checkThread()
        clock.tick()
        do throws(CurlError) {
            let domain = try domain(for: request.trustDomain)
            let easy = try domain.takeHandle()
            let transfer = Transfer(
                id: id, request: request, client: client, easy: easy, clock: clock,
                resumeSending: { NetworkThread.shared.perform { $0.resumeSending(id) } })
            try easy.prepare(request.options, delegate: transfer)
            try drive { () throws(CurlError) in try domain.add(easy) }
            running[id] = (transfer, domain)
            byHandle[ObjectIdentifier(easy)] = id
            remind(of: transfer)
        } catch {
            ended.append((client, TransferEnd(error: .curl(error), metrics: TransferMetrics())))
        }
    }

    /// Stops a transfer; the client hears nothing more. Nothing happens if it has ended already.
    /// - Returns: what it cost, unless it had ended.
    @discardableResult
    func stop(_ id: TransferID) -> TransferMetrics? {
        checkThread()
        // It may be gone: it can end on this thread between somebody's stop and now.
        guard let transfer = running[id]?.transfer else { return nil }
        let metrics = transfer.metrics
        remove(id)
        return metrics
    }

    /// The client has room again.
    func resumeReceiving(_ id: TransferID) {
        checkThread()
        guard let transfer = running[id]?.transfer else { return }
        guard let failure = drive({ transfer.resumeReceiving() }) else { return }
        end(transfer, failure)
    }

    private func resumeSending(_ id: TransferID) {
        checkThread()
        guard let transfer = running[id]?.transfer else { return }
        drive { transfer.easy.resumeSending() }
    }

    // MARK: - Driving

    /// Moves everything that can move now, once.
    /// - Returns: whether something may be left that no socket will report again.
    func pass() -> Bool {
        checkThread()
        clock.tick()
        let ready = drive {
            for domain in domainList { domain.timeOut(now: clock.now) }
            return poller.poll { token, events in
                domainList[Int(token >> 32)].act(on: Int32(truncatingIfNeeded: token), events)
            }
        }
        collectFinished()
        stopIdle()
        tellEnds()
        return ready > 0 || domainList.contains { $0.deadline.map { $0 <= clock.now } ?? false }
    }

    /// When ``pass()`` has something to do even if no socket is ready.
    var nextDeadline: MonotonicTime? {
        (domainList.compactMap(\.deadline) + [deadlines.next].compactMap(\.self)).min()
    }

    /// Seconds from the last pass until `deadline`.
    func seconds(until deadline: MonotonicTime) -> Double {
        max(0, deadline - MonotonicTime.now)
    }

    private func drive<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        precondition(!isInsideCurl, "libcurl was entered from within one of its callbacks")
        isInsideCurl = true
        defer { isInsideCurl = false }
        return try body()
    }

    private func collectFinished() {
        for domain in domainList {
            while let (easy, code) = domain.nextFinished() {
                guard let id = byHandle[ObjectIdentifier(easy)], let transfer = running[id]?.transfer else { continue }
                let end = transfer.end(code: code)
                remove(id)
                ended.append((transfer.client, end))
            }
        }
    }

    private func stopIdle() {
        while let id = deadlines.removeFirst(dueAt: clock.now) {
            guard let transfer = running[id]?.transfer else { continue }
            let timeout = transfer.request.idleTimeout
            if transfer.isHeld || clock.now - transfer.lastActivity < timeout {
                remind(of: transfer)
            } else {
                end(transfer, .idle(seconds: timeout))
            }
        }
    }

    private func end(_ transfer: Transfer, _ error: TransferError) {
        let end = transfer.end(error)
        remove(transfer.id)
        ended.append((transfer.client, end))
    }

    /// A client may start the next transfer from here, or run the run loop: what is left stays in `ended`.
    private func tellEnds() {
        while let next = ended.popFirst() {
            next.client.transferDidComplete(next.end)
        }
    }

    private func remind(of transfer: Transfer) {
        let timeout = transfer.request.idleTimeout
        guard timeout > 0, timeout.isFinite else { return }
        deadlines.insert(transfer.id, at: (transfer.isHeld ? clock.now : transfer.lastActivity) + timeout)
    }

    private func remove(_ id: TransferID) {
        guard let (transfer, domain) = running.removeValue(forKey: id) else { return }
        byHandle[ObjectIdentifier(transfer.easy)] = nil
        drive { domain.remove(transfer.easy) }
    }

    private func domain(for trust: TrustDomain) throws(CurlError) -> TransferDomain {
        if let index = domains[trust] { return domainList[index] }
        let index = domainList.count
        let poller = poller
        let domain = try TransferDomain(
            clock: clock,
            maximumIdleConnections: Self.maximumIdleConnections,
            didChangeSocket: { socket, interest in
                switch interest {
                case .watch(let events):
                    // It fails only for a descriptor that is closed already, and libcurl finds that out by itself.
                    try? poller.watch(socket, for: events, token: UInt64(index) << 32 | UInt64(UInt32(socket)))
                case .forget:
                    poller.forget(socket)
                }
            })
        domainList.append(domain)
        domains[trust] = index
        return domain
    }

    private func checkThread() {
        precondition(owner.isCurrent, "Transfers were used off the network thread")
    }
}
