import Foundation
import Glibc

/// A descriptor for text output, which may be a terminal.
struct Terminal: Hashable, Sendable {
    static let standardOutput = Terminal(descriptor: 1)
    static let standardError = Terminal(descriptor: 2)

    let descriptor: Int32

    var isTerminal: Bool { isatty(descriptor) == 1 }

    /// Whether another process is in the terminal's foreground, as with `opget ... &`.
    var isInBackground: Bool {
        let foreground = tcgetpgrp(descriptor)
        return foreground > 0 && foreground != getpgrp()
    }

    /// The size that the terminal reports; `nil` for unknown values.
    var size: (columns: Int?, rows: Int?) {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 else { return (nil, nil) }
        return (size.ws_col > 0 ? Int(size.ws_col) : nil, size.ws_row > 0 ? Int(size.ws_row) : nil)
    }

    /// Whether it accepts text soon; a terminal that Ctrl-S has stopped does not.
    var isReady: Bool {
        var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return poll(&waiting, 1, 100) == 1
    }

    /// Writes all of `text`, blocking if necessary. A closed reader is not an error.
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
                // Another process that shares the descriptor has set O_NONBLOCK.
                var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&waiting, 1, -1)
            } else if errno != EINTR {
                return errno
            }
        }
        return 0
    }
}
