import OperationNetworkingSystem

@testable import OperationNetworking

/// Work that is always there: each pass of the network thread finds it and asks for the next.
final class Crowd: Sendable {
    /// The most bytes of one transfer in a pass: the last piece but one may end just below the share, and the last but
    /// one of the rest just below that.
    static let limit = PassQuota.share + PassQuota.rest + 2 * EasyHandle.receiveBuffer

    private let isOver = Locked(false)
    /// The bytes that came in the present pass, by transfer, and the most that ever did.
    private let bytes = Locked((now: [Int: Int](), most: 0))

    func ask() {
        NetworkThread.shared.perform(isUrgent: true) { [self] _ in
            bytes.withLock { $0.now = [:] }
            if !isOver.withLock({ $0 }) { ask() }
        }
    }

    func take(_ count: Int, of transfer: Int) {
        bytes.withLock {
            $0.now[transfer, default: 0] += count
            $0.most = max($0.most, $0.now[transfer] ?? 0)
        }
    }

    var most: Int { bytes.withLock { $0.most } }

    func goHome() {
        isOver.withLock { $0 = true }
    }
}
