import Foundation
import Glibc

/// Reads single keys from the controlling terminal, without echo.
///
/// Works only while opget is in the terminal's foreground: a background process that reads, or changes the
/// terminal's modes, would interfere with the foreground process. The owner polls for keys. Callable from any
/// thread.
final class Keyboard: @unchecked Sendable {
    // @unchecked: `original` is accessed only under `lock`; the rest never changes.

    private let descriptor: Int32
    private let lock = NSLock()
    /// The original modes of the terminal; `nil` while they are unchanged.
    private var original: termios?

    init(descriptor: Int32 = 0) {
        self.descriptor = descriptor
    }

    deinit {
        close()
    }

    /// Whether it is this session's terminal, with opget in the foreground.
    private var isOurs: Bool { tcgetpgrp(descriptor) == getpgrp() }

    /// Enables single-key input if opget is in the foreground. Called repeatedly, because opget may come to
    /// the foreground later, or a shell may reset the terminal.
    func open() {
        lock.withLock {
            var modes = termios()
            guard isOurs, tcgetattr(descriptor, &modes) == 0 else { return }
            // Another process, possibly another opget, already reads single keys: the order in which modes
            // are restored would be random.
            guard modes.c_lflag & tcflag_t(ICANON) != 0 else { return }
            if original == nil {
                original = modes
                TerminalRescue.remember(modes, of: descriptor)
            }
            modes.c_lflag &= ~tcflag_t(ICANON | ECHO)
            // read(2) returns what is available, and never blocks.
            withUnsafeMutableBytes(of: &modes.c_cc) { characters in
                characters[Int(VMIN)] = 0
                characters[Int(VTIME)] = 0
            }
            // Not TCSADRAIN, which would wait for a terminal that Ctrl-S has stopped.
            tcsetattr(descriptor, TCSANOW, &modes)
        }
    }

    /// Restores the terminal's modes. Calling it again does nothing.
    func close() {
        lock.withLock {
            guard var modes = original else { return }
            original = nil
            // In the background, the terminal belongs to another process, which has set its modes.
            if isOurs { tcsetattr(descriptor, TCSANOW, &modes) }
            TerminalRescue.forget()
        }
    }

    /// Returns the commands of the keys that were pressed since the last call.
    func pressed() -> [KeyCommand] {
        lock.withLock {
            guard original != nil, isOurs else { return [] }
            var bytes = [UInt8](repeating: 0, count: 64)
            let count = read(descriptor, &bytes, bytes.count)
            return KeyCommand.all(in: bytes.prefix(max(0, count)))
        }
    }
}
