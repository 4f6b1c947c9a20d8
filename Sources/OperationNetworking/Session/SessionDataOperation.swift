import Foundation
internal import OperationNetworkingSystem

/// The operation of a data task whose session wants every piece of a body.
final class SessionDataOperation: HTTPRequestOperation, @unchecked Sendable {
    // @unchecked: what changes lives in `receiver`.

    private let receiver = Locked<(@Sendable (Data) -> Void)?>(nil)

    override class var receivesPieces: Bool { true }

    /// Called on the completion queue.
    func setReceiver(_ body: @escaping @Sendable (Data) -> Void) {
        receiver.withLock { $0 = body }
    }

    override func didReceive(_ piece: Data) {
        receiver.withLock { $0 }?(piece)
    }

    override func didFinish() {
        let released = receiver.withLock { receiver in
            defer { receiver = nil }
            return receiver
        }
        withExtendedLifetime(released) {}
    }
}
