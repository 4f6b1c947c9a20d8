import Foundation

/// Standard output: lines, and on a terminal one line that is drawn again and again.
final class Screen: Sendable {
    private let isTerminal = isatty(STDOUT_FILENO) == 1
    private let hasOpenLine = Protected(false)

    /// Prints a line of its own.
    func say(_ line: String) {
        endLine()
        write(line + "\n")
    }

    /// Draws over the last drawn line. Elsewhere than on a terminal that would only be noise.
    func redraw(_ line: String) {
        guard isTerminal else { return }
        hasOpenLine.change { $0 = true }
        write("\r\u{1B}[K" + line)
    }

    /// Leaves the drawn line as it is, and goes on below it.
    func endLine() {
        let wasOpen = hasOpenLine.change { isOpen in
            defer { isOpen = false }
            return isOpen
        }
        if wasOpen { write("\n") }
    }

    private func write(_ text: String) {
        FileHandle.standardOutput.write(Data(text.utf8))
    }
}
