import Glibc

/// Asks for a secret at the terminal that opget was started from, whatever its standard streams are.
enum SecretPrompt {
    private static let longest = 4096

    /// - Parameter question: without a colon.
    /// - Returns: what was typed; `nil` without a terminal.
    /// - Throws: `Failure`, when it was not answered: Ctrl-C or Ctrl-D; or when the answer is not UTF-8, and
    ///   another secret would be sent.
    static func ask(_ question: String) throws -> String? {
        let terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard terminal >= 0 else { return nil }
        defer { close(terminal) }
        var modes = termios()
        guard tcgetattr(terminal, &modes) == 0 else { return nil }
        var silent = modes
        // No signals either: a process that dies here would leave the terminal without an echo.
        silent.c_lflag &= ~tcflag_t(ECHO | ISIG | ICANON)
        // Before the question is seen: what is typed as an answer must neither be shown nor be flushed.
        tcsetattr(terminal, TCSAFLUSH, &silent)
        let output = Terminal(descriptor: terminal)
        output.write(DisplayText("opget: " + question + ": ").string)
        defer {
            tcsetattr(terminal, TCSAFLUSH, &modes)
            output.write("\n")
        }
        return try line(from: terminal)
    }

    private static func line(from terminal: Int32) throws -> String? {
        var bytes: [UInt8] = []
        while bytes.count < longest {
            var byte: UInt8 = 0
            let count = read(terminal, &byte, 1)
            if count < 0, errno == EINTR { continue }
            guard count == 1 else { break }
            switch byte {
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
                guard let text = String(validating: bytes, as: UTF8.self) else {
                    throw Failure(.usage, "The answer is not UTF-8.")
                }
                return text
            // Ctrl-C, Ctrl-D, Ctrl-\.
            case 3, 4, 28: throw Failure(.signal(SIGINT), "It was not answered.")
            // Backspace, a whole character; Ctrl-U, everything.
            case 8, 127: eraseCharacter(of: &bytes)
            case 21: bytes = []
            default: bytes.append(byte)
            }
        }
        throw Failure(.usage, "No secret is that long, or the terminal is gone.")
    }

    private static func eraseCharacter(of bytes: inout [UInt8]) {
        while let last = bytes.popLast(), last & 0xC0 == 0x80 {}
    }
}
