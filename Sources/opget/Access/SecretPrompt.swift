import Glibc

/// Prompts for a secret at the controlling terminal, independent of the standard streams.
enum SecretPrompt {
    private static let longest = 4096

    /// - Parameter question: the prompt, without a colon.
    /// - Returns: the input; `nil` without a terminal.
    /// - Throws: `Failure` if the input ends (Ctrl-D) or is not UTF-8. Ctrl-C ends the process.
    static func ask(_ question: String) throws -> String? {
        let terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard terminal >= 0 else { return nil }
        defer { close(terminal) }
        var modes = termios()
        guard tcgetattr(terminal, &modes) == 0 else { return nil }
        var silent = modes
        silent.c_lflag &= ~tcflag_t(ECHO | ICANON)
        let text = DisplayText("opget: " + question + ": ").string
        return try TerminalRescue.ask(text, on: terminal, modes, silent) { try line(from: terminal) }
    }

    private static func line(from terminal: Int32) throws -> String? {
        var bytes: [UInt8] = []
        while bytes.count < longest {
            var byte: UInt8 = 0
            let count = read(terminal, &byte, 1)
            if count < 0, errno == EINTR { continue }
            guard count == 1 else { break }
            if TerminalRescue.takeRepetition() { bytes = [] }
            switch byte {
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
                guard let text = String(validating: bytes, as: UTF8.self) else {
                    throw Failure(.usage, "The answer is not UTF-8.")
                }
                return text
            // Ctrl-D; Ctrl-C and Ctrl-\ if the terminal does not turn them into signals.
            case 3, 4, 28: throw Failure(.signal(SIGINT), "No answer was given.")
            // Backspace erases a character, Ctrl-U everything.
            case 8, 127: eraseCharacter(of: &bytes)
            case 21: bytes = []
            default: bytes.append(byte)
            }
        }
        throw Failure(.usage, "The secret is too long, or the terminal was closed.")
    }

    private static func eraseCharacter(of bytes: inout [UInt8]) {
        while let last = bytes.popLast(), last & 0xC0 == 0x80 {}
    }
}
