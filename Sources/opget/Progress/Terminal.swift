import Foundation
import Glibc

/// A descriptor that text is written to, and perhaps a terminal.
struct Terminal: Hashable, Sendable {
    static let standardOutput = Terminal(descriptor: 1)
    static let standardError = Terminal(descriptor: 2)

    let descriptor: Int32

    var isTerminal: Bool { isatty(descriptor) == 1 }

    /// Whether another process has the terminal now: `opget ... &`.
    var isInBackground: Bool {
        let foreground = tcgetpgrp(descriptor)
        return foreground > 0 && foreground != getpgrp()
    }

    /// As large as the terminal says; what it does not say is `nil`.
    var size: (columns: Int?, rows: Int?) {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 else { return (nil, nil) }
        return (size.ws_col > 0 ? Int(size.ws_col) : nil, size.ws_row > 0 ? Int(size.ws_row) : nil)
    }

    /// Whether it takes text now, or soon: a terminal that Ctrl-S has stopped does not.
    var isReady: Bool {
        var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return poll(&waiting, 1, 100) == 1
    }

    /// Writes all of `text`, waiting if it has to. A reader that went away is no error: there is no one left
    /// to tell.
    func write(_ text: String) {
        _ = write(bytes: Array(text.utf8)[...])
    }

    /// Writes all of `bytes`; returns the `errno` of a failure, or 0.
    func write(bytes: ArraySlice<UInt8>) -> Int32 {
        var rest = bytes
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                // Another process shares the descriptor, and has set O_NONBLOCK.
                var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&waiting, 1, -1)
            } else if errno != EINTR {
                return errno
            }
        }
        return 0
    }
}
