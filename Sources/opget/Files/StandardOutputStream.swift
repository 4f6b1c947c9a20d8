import Foundation

/// Standard output as an `OutputStream`: whatever it is, a file, a pipe, a socket or a terminal.
///
/// Its initializer is that of a stream to memory, since `OutputStream` has no other to inherit. Opening `/dev/stdout`
/// again would fail for sockets and lose the position in a file. Never closes the descriptor.
final class StandardOutputStream: OutputStream {
    private var status = Status.notOpen
    private var failure: (any Error)?
    /// Guards `isHeld`.
    private let condition = NSCondition()
    private var isHeld = false

    override var streamStatus: Status { status }
    override var streamError: (any Error)? { failure }
    /// Writing waits instead, on a queue of the operation's own.
    override var hasSpaceAvailable: Bool { status == .open }

    override func open() {
        status = .open
    }

    override func close() {
        status = .closed
    }

    // MARK: - Holding, from any thread

    /// Has whoever writes wait from now on.
    func hold() {
        condition.withLock { isHeld = true }
    }

    /// Lets them write.
    func letGo() {
        condition.withLock {
            isHeld = false
            condition.broadcast()
        }
    }

    override func write(_ buffer: UnsafePointer<UInt8>, maxLength length: Int) -> Int {
        condition.withLock {
            while isHeld { condition.wait() }
        }
        let bytes = Array(UnsafeBufferPointer(start: buffer, count: length))
        let code = Terminal.standardOutput.write(bytes: bytes[...])
        guard code != 0 else { return length }
        failure = Self.failure(code)
        status = .error
        return -1
    }

    private static func failure(_ code: Int32) -> Failure {
        if code == EPIPE { return .closedOutput }
        return Failure(.file, "Standard output could not be written: \(Failure.reason(code)).")
    }
}

extension Failure {
    /// Whoever read standard output has had enough: no error to talk about.
    static let closedOutput = Failure(.closedOutput, "Standard output was closed.")
}
