import Glibc

/// Restores the terminal when the process dies of a fault or of Ctrl-\\. During a prompt, also when Ctrl-C,
/// SIGTERM or SIGHUP ends the process, and when Ctrl-Z stops it.
///
/// The handlers are async-signal-safe: they use preallocated memory, and call `tcgetpgrp`, `getpgrp`,
/// `tcsetattr`, `write`, `signal`, `pthread_sigmask` and `raise`.
enum TerminalRescue {
    private static let memory = Memory()

    private static let faults = [SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP]

    /// Installs the handlers. If progress is drawn, they also restore the cursor.
    static func install(showingCursorOf terminal: Terminal?) {
        memory.cursorDescriptor.pointee = terminal?.descriptor ?? -1
        for number in honored([SIGQUIT]) + faults { signal(number) { TerminalRescue.die(of: $0) } }
    }

    /// Without job control, a shell makes its background processes ignore some of them.
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

    // MARK: - Prompts

    /// Shows `question` on a terminal, in mode `silent` until the answer is read by `read`, and in mode
    /// `ordinary` before and afterwards. If the process is stopped and continued, the question is shown
    /// again.
    ///
    /// The previous handlers are restored afterwards.
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
            // From here on, handlers do not silence the terminal again.
            memory.question.set("")
            tcsetattr(terminal, TCSAFLUSH, &ordinary)
            Terminal(descriptor: terminal).write("\n")
            for (number, handler) in before { signal(number, handler) }
            forget()
        }
        // Before the question is shown: input must neither be echoed nor flushed.
        tcsetattr(terminal, TCSAFLUSH, &silent)
        Terminal(descriptor: terminal).write(question)
        return try read()
    }

    /// Whether the question was shown again since the last call: earlier input is then not part of the
    /// answer.
    static func takeRepetition() -> Bool {
        defer { memory.isAskedAgain.pointee = false }
        return memory.isAskedAgain.pointee
    }

    // MARK: - In handlers

    private static func die(of number: Int32) {
        restore()
        signal(number, SIG_DFL)
        // The signal is blocked while its handler runs, and delivered when that returns.
        raise(number)
    }

    /// Performs the default action of SIGTSTP, and returns when the process continues.
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
        // In the background, this stops the process until it is in the foreground.
        tcsetattr(memory.modesDescriptor.pointee, TCSAFLUSH, memory.silent)
        memory.question.write(to: memory.modesDescriptor.pointee)
    }

    private static func restore() {
        let descriptor = memory.modesDescriptor.pointee
        // In the background, the terminal belongs to another process, which has set its modes.
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

        /// Bytes that do not fit are dropped.
        func set(_ text: String) {
            // Handlers write nothing while the bytes change.
            count.pointee = 0
            let octets = text.utf8.prefix(capacity)
            for (index, octet) in octets.enumerated() { bytes[index] = octet }
            count.pointee = octets.count
        }

        func write(to descriptor: Int32) {
            _ = Glibc.write(descriptor, bytes, count.pointee)
        }
    }

    /// The memory of the handlers, allocated once and never freed.
    private struct Memory: @unchecked Sendable {
        // @unchecked: the modes are written under the keyboard's lock or, like the question, while there is
        // only one thread; the rest before any handler is installed. A handler between two writes sees -1, or
        // restores the previous modes.
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
