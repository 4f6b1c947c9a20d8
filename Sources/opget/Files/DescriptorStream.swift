import Foundation

/// An open descriptor, such as standard output, as an `OutputStream`: a file, a pipe, a socket or a terminal.
///
/// Uses the initializer of a memory stream, the only one that `OutputStream` can inherit. Opening
/// `/dev/stdout` again would fail for sockets and lose the position in a file. Never closes the descriptor.
final class DescriptorStream: OutputStream {
    private var terminal = Terminal.standardOutput
    private var status = Status.notOpen
    private var failure: (any Error)?
    /// Guards `holds`.
    private let condition = NSCondition()
    private var holds = false

    convenience init(_ descriptor: Int32) {
        self.init(toMemory: ())
        terminal = Terminal(descriptor: descriptor)
    }

    override var streamStatus: Status { status }
    override var streamError: (any Error)? { failure }
    /// Writes block instead, on the operation's own queue.
    override var hasSpaceAvailable: Bool { status == .open }

    override func open() {
        status = .open
    }

    override func close() {
        status = .closed
    }

    // MARK: - Holding, from any thread

    /// Whether writes are held.
    var isHeld: Bool { condition.withLock { holds } }

    /// Makes writes wait from now on.
    func hold() {
        condition.withLock { holds = true }
    }

    /// Lets writes continue.
    func release() {
        condition.withLock {
            holds = false
            condition.broadcast()
        }
    }

    override func write(_ buffer: UnsafePointer<UInt8>, maxLength length: Int) -> Int {
        condition.withLock {
            while holds { condition.wait() }
        }
        let bytes = Array(UnsafeBufferPointer(start: buffer, count: length))
        let code = terminal.write(bytes: bytes[...])
        guard code != 0 else { return length }
        failure = Self.failure(code, terminal.descriptor)
        status = .error
        return -1
    }

    private static func failure(_ code: Int32, _ descriptor: Int32) -> Failure {
        if code == EPIPE { return .closedOutput }
        let name = descriptor == 1 ? "Standard output" : "Descriptor \(descriptor)"
        return Failure(Outcome(file: code), "\(name) could not be written: \(Failure.reason(code)).")
    }
}

extension Failure {
    /// The reader of standard output has closed it, which is not reported as an error.
    static let closedOutput = Failure(.closedOutput, "Standard output was closed.")
}
