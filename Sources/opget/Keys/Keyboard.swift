import Foundation
import Glibc

/// The keys of the terminal that opget was started from: pressed ones come one by one, and are not shown.
///
/// Only while opget is in the terminal's foreground: a process in the background that reads, or changes how
/// the terminal works, takes it from the process in the foreground. There is no callback for keys: the owner
/// polls. Callable from any thread.
final class Keyboard: @unchecked Sendable {
    // @unchecked: `original` is touched only under `lock`; the rest never changes.

    private let descriptor: Int32
    private let lock = NSLock()
    /// The modes of the terminal from before; `nil` while they are unchanged.
    private var original: termios?

    init(descriptor: Int32 = 0) {
        self.descriptor = descriptor
    }

    deinit {
        close()
    }

    /// Whether it is the terminal of this session, and ours at the moment.
    private var isOurs: Bool { tcgetpgrp(descriptor) == getpgrp() }

    /// Has keys come one by one, if the terminal is ours. To be asked again and again: a terminal that came
    /// to us only now, or that a shell has reset meanwhile, is changed then.
    func open() {
        lock.withLock {
            var modes = termios()
            guard isOurs, tcgetattr(descriptor, &modes) == 0 else { return }
            // Another process reads single keys already, another opget perhaps: the modes that are restored
            // last would be a matter of luck.
            guard modes.c_lflag & tcflag_t(ICANON) != 0 else { return }
            if original == nil {
                original = modes
                TerminalRescue.remember(modes, of: descriptor)
            }
            modes.c_lflag &= ~tcflag_t(ICANON | ECHO)
            // read(2) returns what there is, and never waits.
            withUnsafeMutableBytes(of: &modes.c_cc) { characters in
                characters[Int(VMIN)] = 0
                characters[Int(VTIME)] = 0
            }
            // Not TCSADRAIN: it would wait for a terminal that Ctrl-S has stopped.
            tcsetattr(descriptor, TCSANOW, &modes)
        }
    }

    /// Has the terminal work as before. Asking again does nothing.
    func close() {
        lock.withLock {
            guard var modes = original else { return }
            original = nil
            // In the background the terminal is another process's, which has set its modes.
            if isOurs { tcsetattr(descriptor, TCSANOW, &modes) }
            TerminalRescue.forget()
        }
    }

    /// The keys that were pressed since the last call.
    func pressed() -> [KeyCommand] {
        lock.withLock {
            guard original != nil, isOurs else { return [] }
            var bytes = [UInt8](repeating: 0, count: 64)
            let count = read(descriptor, &bytes, bytes.count)
            return KeyCommand.all(in: bytes.prefix(max(0, count)))
        }
    }
}
