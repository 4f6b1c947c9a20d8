import Foundation
import OperationNetworkingSystem
import OperationNetworkingTesting

/// A stream of a given length that says when it is read and closed, and can be held.
final class WatchedStream: InputStream {
    let didRead = Gate()
    let didClose = Gate()
    private let gate: Gate?
    private let state: Locked<(isOpen: Bool, closed: Int, left: Int)>

    init(length: Int, heldBy gate: Gate? = nil) {
        self.gate = gate
        state = Locked((false, 0, length))
        super.init(data: Data())
    }

    /// The number of times that it was closed.
    var closeCount: Int { state.withLock { $0.closed } }

    override func open() { state.withLock { $0.isOpen = true } }

    override func close() {
        state.withLock { $0.closed += 1 }
        didClose.open()
    }

    override var streamStatus: Stream.Status { state.withLock { $0.isOpen } ? .open : .notOpen }

    override var streamError: (any Error)? { nil }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength length: Int) -> Int {
        didRead.open()
        try? gate?.waitSynchronously(within: .seconds(30))
        return state.withLock { state in
            let count = min(state.left, length)
            state.left -= count
            UnsafeMutableRawBufferPointer(start: buffer, count: count).initializeMemory(
                as: UInt8.self,
                repeating: 65
            )
            return count
        }
    }
}
