import Glibc

/// Gives the terminal back when the process dies of a fault, or of Ctrl-\\.
///
/// The handler does nothing but what POSIX lets a signal handler do: it reads memory that was allocated
/// before, and calls `tcsetattr`, `write` and `raise`.
enum TerminalRescue {
    private static let memory = Memory()

    /// From now on; where progress is drawn, the cursor is given back as well.
    static func install(showingCursorOf terminal: Terminal?) {
        memory.cursorDescriptor.pointee = terminal?.descriptor ?? -1
        // A shell without job control has it ignored by what it starts in the background.
        let quit = SignalHandling.isIgnored(SIGQUIT) ? [] : [SIGQUIT]
        for number in quit + [SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP] {
            signal(number) { number in
                TerminalRescue.restore()
                Glibc.signal(number, SIG_DFL)
                // It is blocked while its handler runs, and comes as soon as that has returned.
                raise(number)
            }
        }
    }

    static func remember(_ modes: termios, of descriptor: Int32) {
        memory.modes.pointee = modes
        memory.modesDescriptor.pointee = descriptor
    }

    static func forget() {
        memory.modesDescriptor.pointee = -1
    }

    private static func restore() {
        if memory.modesDescriptor.pointee >= 0 {
            tcsetattr(memory.modesDescriptor.pointee, TCSANOW, memory.modes)
        }
        if memory.cursorDescriptor.pointee >= 0 {
            write(memory.cursorDescriptor.pointee, memory.sequence, memory.sequenceLength)
        }
    }

    /// The memory of the handler; made once, never freed.
    private struct Memory: @unchecked Sendable {
        // @unchecked: the modes are written under the keyboard's lock, the rest before any handler is
        // installed. A handler that comes between two writes sees -1, or restores the modes of a moment
        // before.
        let modes = UnsafeMutablePointer<termios>.allocate(capacity: 1)
        let modesDescriptor = UnsafeMutablePointer<Int32>.allocate(capacity: 1)
        let cursorDescriptor = UnsafeMutablePointer<Int32>.allocate(capacity: 1)
        let sequence: UnsafeMutablePointer<UInt8>
        let sequenceLength: Int

        init() {
            modes.initialize(to: termios())
            modesDescriptor.initialize(to: -1)
            cursorDescriptor.initialize(to: -1)
            let bytes = Array("\r\n\u{1B}[?25h".utf8)
            sequence = .allocate(capacity: bytes.count)
            sequence.initialize(from: bytes, count: bytes.count)
            sequenceLength = bytes.count
        }
    }
}
