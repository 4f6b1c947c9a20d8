import Foundation
internal import OperationNetworkingSystem

/// Which transfers may start now: a value that decides and does nothing.
///
/// Two things about libcurl 7.88 are handled here, because it handles them badly or not at all:
/// - Starting thousands of transfers at once takes time that grows with their square; so a pass starts a few.
/// - Transfers that start together to one https server would open a connection each, although the first may turn out
///   to be HTTP/2 and could carry them all. libcurl can wait for that, but then one silent host holds up all others.
///   So the first transfer to an idle origin goes ahead, and the others follow when it has a connection, or has failed.
struct Admission {
    /// Where connections can be shared.
    struct Origin: Hashable, Sendable {
        var domain: TrustDomain
        var host: String
        var port: Int

        /// `nil`: nothing is shared there, so nobody has to wait for anybody.
        init?(_ request: TransferRequest) {
            let isShared =
                switch request.version {
                case .automatic: request.url.scheme?.lowercased() == "https"
                case .http2PriorKnowledge: true
                case .http1: false
                }
            guard isShared, let host = request.url.host else { return nil }
            domain = request.trustDomain
            self.host = host.lowercased()
            port = request.url.port ?? 443
        }
    }

    private struct OriginState {
        /// In the line.
        var waiting = 0
        /// Started and not ended.
        var running = 0
        /// Whether one of those that run has, or had, a connection, or one has failed to get one.
        var isOpen = false
        var followers: [TransferID] = []

        var isIdle: Bool { waiting == 0 && running == 0 && followers.isEmpty }
    }

    private var line = Fifo<(id: TransferID, origin: Origin?)>()
    private var origins: [Origin: OriginState] = [:]

    /// Whether ``next()`` may have something.
    var mayHaveNext: Bool { !line.isEmpty }

    /// A transfer wants to start.
    mutating func append(_ id: TransferID, to origin: Origin?) {
        line.append((id, origin))
        if let origin { origins[origin, default: OriginState()].waiting += 1 }
    }

    /// The next transfer to start; `nil`: none may. It counts as started: ``didEnd(at:)`` has to follow.
    mutating func next() -> (id: TransferID, origin: Origin?)? {
        while let next = line.popFirst() {
            guard let origin = next.origin, var state = origins[origin] else { return next }
            state.waiting -= 1
            let mayStart = state.running == 0 || state.isOpen
            if mayStart { state.running += 1 } else { state.followers.append(next.id) }
            origins[origin] = state
            if mayStart { return next }
        }
        return nil
    }

    /// A transfer to that origin has a connection: those that follow can share it, or know that they cannot.
    mutating func didConnect(to origin: Origin) {
        guard origins[origin]?.isOpen == false else { return }
        open(origin)
    }

    /// A transfer to that origin, which had started, has ended. If it never had a connection, the others try all at
    /// once: one after the other, each might wait until it times out.
    mutating func didEnd(at origin: Origin) {
        guard let state = origins[origin] else { return }
        origins[origin]?.running -= 1
        if !state.isOpen { open(origin) }
        if origins[origin]?.isIdle == true { origins[origin] = nil }
    }

    private mutating func open(_ origin: Origin) {
        let followers = origins[origin]?.followers ?? []
        origins[origin]?.isOpen = true
        origins[origin]?.followers = []
        for id in followers { append(id, to: origin) }
    }
}
