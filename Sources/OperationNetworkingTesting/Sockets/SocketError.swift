internal import Foundation

/// A failed system call.
public struct SocketError: Error, Hashable, Sendable {
    /// The name of the call.
    public let call: String
    /// The value of `errno`.
    public let code: Int32

    /// Creates the error of the call that has just failed on this thread.
    init(_ call: String) {
        self.call = call
        code = errno
    }

    init(_ call: String, code: Int32) {
        self.call = call
        self.code = code
    }
}

extension SocketError: CustomStringConvertible {
    /// The call and the system's error message.
    public var description: String { "\(call): \(String(cString: strerror(code)))" }
}
