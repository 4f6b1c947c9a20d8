import Glibc

/// Gives the terminal back when the process dies of a fault, or of Ctrl-\\; while a question stands there,
/// also when Ctrl-C, SIGTERM or SIGHUP ends the process, and when Ctrl-Z stops it.
///
/// The handlers do nothing but what POSIX lets a signal handler do: they use memory that was allocated
/// before, and call `tcgetpgrp`, `getpgrp`, `tcsetattr`, `write`, `signal`, `pthread_sigmask` and `raise`.
enum TerminalRescue {
    private static let memory = Memory()

    private static let faults = [SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP]

    /// From now on; where progress is drawn, the cursor is given back as well.
    static func install(showingCursorOf terminal: Terminal?) {
        memory.cursorDescriptor.pointee = terminal?.descriptor ?? -1
        for number in honored([SIGQUIT]) + faults { signal(number) { TerminalRescue.die(of: $0) } }
    }

    /// A shell without job control has some ignored by what it starts in the background.
    private static func honored(_ signals: [Int32]) -> [Int32] {
        signals.filter { !SignalHandling.isIgnored($0) }
    }

    static func remember(_ modes: termios, of descriptor: Int32) {
        memory.modes.pointee = modes
        memory.modesDescriptor.pointee = descriptor
    }

    static func forget() {
        memory.modesDescriptor.pointee = -1
    }

    // MARK: - Questions

    /// Asks `question` on a terminal that is `silent` meanwhile, and `ordinary` before and afterwards. `read`
    /// waits for the answer. A process that was stopped and goes on asks again.
    ///
    /// The handlers from before are there again afterwards.
    static func ask<Answer>(
        _ question: String,
        on terminal: Int32,
        _ ordinary: termios,
        _ silent: termios,
        read: () throws -> Answer
    ) rethrows -> Answer {
        var (ordinary, silent) = (ordinary, silent)
        remember(ordinary, of: terminal)
        memory.silent.pointee = silent
        memory.isAskedAgain.pointee = false
        memory.question.set(question)
        let deadly = honored([SIGQUIT, SIGINT, SIGTERM, SIGHUP]) + faults
        var before = deadly.map { number in (number, signal(number) { TerminalRescue.die(of: $0) }) }
        for number in honored([SIGTSTP]) {
            before.append((number, signal(number) { _ in TerminalRescue.stop() }))
        }
        defer {
            // From here on the terminal is not made silent again.
            memory.question.set("")
            tcsetattr(terminal, TCSAFLUSH, &ordinary)
            Terminal(descriptor: terminal).write("\n")
            for (number, handler) in before { signal(number, handler) }
            forget()
        }
        // Before the question is seen: what is typed as an answer must neither be shown nor be flushed.
        tcsetattr(terminal, TCSAFLUSH, &silent)
        Terminal(descriptor: terminal).write(question)
        return try read()
    }

    /// Whether the question was asked again since the last call: what was typed before is no part of the
    /// answer.
    static func takeRepetition() -> Bool {
        defer { memory.isAskedAgain.pointee = false }
        return memory.isAskedAgain.pointee
    }

    // MARK: - In handlers

    private static func die(of number: Int32) {
        restore()
        signal(number, SIG_DFL)
        // It is blocked while its handler runs, and comes as soon as that has returned.
        raise(number)
    }

    /// Does what SIGTSTP does by default, and returns when the process goes on.
    private static func stop() {
        restore()
        var (stops, before) = (sigset_t(), sigset_t())
        sigemptyset(&stops)
        sigaddset(&stops, SIGTSTP)
        signal(SIGTSTP, SIG_DFL)
        raise(SIGTSTP)
        pthread_sigmask(SIG_UNBLOCK, &stops, &before)
        pthread_sigmask(SIG_SETMASK, &before, nil)
        signal(SIGTSTP) { _ in TerminalRescue.stop() }
        guard !memory.question.isEmpty else { return }
        memory.isAskedAgain.pointee = true
        // In the background this stops the process until it is in the foreground.
        tcsetattr(memory.modesDescriptor.pointee, TCSAFLUSH, memory.silent)
        memory.question.write(to: memory.modesDescriptor.pointee)
    }

    private static func restore() {
        let descriptor = memory.modesDescriptor.pointee
        // In the background the terminal is another process's, which has set its modes.
        if descriptor >= 0, tcgetpgrp(descriptor) == getpgrp() {
            tcsetattr(descriptor, TCSANOW, memory.modes)
            if !memory.question.isEmpty { memory.newLine.write(to: descriptor) }
        }
        if memory.cursorDescriptor.pointee >= 0 { memory.cursor.write(to: memory.cursorDescriptor.pointee) }
    }

    /// Bytes for a handler to write.
    private struct Text {
        private let bytes: UnsafeMutablePointer<UInt8>
        private let count = UnsafeMutablePointer<Int>.allocate(capacity: 1)
        private let capacity: Int

        init(_ text: String = "", capacity: Int) {
            self.capacity = capacity
            bytes = .allocate(capacity: capacity)
            bytes.initialize(repeating: 0, count: capacity)
            count.initialize(to: 0)
            set(text)
        }

        var isEmpty: Bool { count.pointee == 0 }

        /// Bytes that do not fit are left out.
        func set(_ text: String) {
            // No handler writes while they change.
            count.pointee = 0
            let octets = text.utf8.prefix(capacity)
            for (index, octet) in octets.enumerated() { bytes[index] = octet }
            count.pointee = octets.count
        }

        func write(to descriptor: Int32) {
            _ = Glibc.write(descriptor, bytes, count.pointee)
        }
    }

    /// The memory of the handlers; made once, never freed.
    private struct Memory: @unchecked Sendable {
        // @unchecked: the modes are written under the keyboard's lock, or, like the question, while there is
        // one thread; the rest before any handler is installed. A handler that comes between two writes sees
        // -1, or restores the modes of a moment before.
        let modes = UnsafeMutablePointer<termios>.allocate(capacity: 1)
        let modesDescriptor = UnsafeMutablePointer<Int32>.allocate(capacity: 1)
        let silent = UnsafeMutablePointer<termios>.allocate(capacity: 1)
        let isAskedAgain = UnsafeMutablePointer<Bool>.allocate(capacity: 1)
        let cursorDescriptor = UnsafeMutablePointer<Int32>.allocate(capacity: 1)
        let question = Text(capacity: 8192)
        let newLine = Text("\r\n", capacity: 2)
        let cursor = Text("\r\n\u{1B}[?25h", capacity: 8)

        init() {
            modes.initialize(to: termios())
            modesDescriptor.initialize(to: -1)
            silent.initialize(to: termios())
            isAskedAgain.initialize(to: false)
            cursorDescriptor.initialize(to: -1)
        }
    }
}
