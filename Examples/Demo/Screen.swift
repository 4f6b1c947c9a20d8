import Foundation

/// Standard output. On a terminal, one line can be redrawn; elsewhere, lines are appended.
final class Screen {
    private let isTerminal = isatty(STDOUT_FILENO) == 1
    private let hasColors: Bool
    private var lastDrawing: ContinuousClock.Instant?
    private var lastTenth = 0

    init() {
        let environment = ProcessInfo.processInfo.environment
        hasColors = isTerminal && environment["NO_COLOR"] == nil && environment["TERM"] != "dumb"
    }

    /// The width of the terminal now; 80 where there is none.
    var columns: Int {
        var size = winsize()
        guard isTerminal, ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else {
            return 80
        }
        return Int(size.ws_col)
    }

    // MARK: - Lines

    /// Prints the title of a step.
    func title(_ text: String) {
        write("\n" + (hasColors ? "\u{1B}[1m\(text)\u{1B}[0m" : text) + "\n")
    }

    /// One line.
    func line(_ text: String) {
        write("  \(text)\n")
    }

    /// Prints rows with aligned columns.
    func table(_ rows: [[String]]) {
        let count = rows.map(\.count).max() ?? 0
        let widths = (0..<count).map { column in
            rows.map { $0.dropFirst(column).first?.count ?? 0 }.max() ?? 0
        }
        for row in rows {
            let cells = zip(row, widths).map { $0.paddedRight(to: $1) }
            line(cells.joined(separator: "  ").trimmedRight)
        }
    }

    // MARK: - Progress

    /// Draws the line again: at most ten times a second, elsewhere than on a terminal at each tenth of the
    /// whole.
    func draw(_ tally: Tally) {
        guard isTerminal else {
            let tenth = Int(tally.fraction * 10)
            // The last tenth is left to `leave`.
            guard tenth > lastTenth, tenth < 10 else { return }
            lastTenth = tenth
            return write(ProgressLine(tally: tally, columns: columns).text + "\n")
        }
        if let lastDrawing, lastDrawing.duration(to: .now) < .milliseconds(100) { return }
        lastDrawing = .now
        redraw(tally)
    }

    /// Draws the line for the last time, and keeps it.
    func leave(_ tally: Tally) {
        lastTenth = Int(tally.fraction * 10)
        if isTerminal { redraw(tally) } else { write(ProgressLine(tally: tally, columns: columns).text) }
        write("\n")
    }

    private func redraw(_ tally: Tally) {
        write("\r" + ProgressLine(tally: tally, columns: columns).text + "\u{1B}[K")
    }

    private func write(_ text: String) {
        FileHandle.standardOutput.write(Data(text.utf8))
    }
}
