import Foundation

/// Says on standard error what happens: drawn progress on a terminal, plain lines elsewhere.
///
/// When it draws, lines wait for the next frame, so that the terminal sees ten frames a second at most.
struct Reporter {
    /// What is shown besides errors.
    enum Style: Hashable, Sendable {
        case drawn, lines, quiet
    }

    private let style: Style
    private let terminal: Terminal
    private let environment: [String: String]
    private let longestName: Int
    private var canvas = ProgressCanvas()
    private var waiting: [String] = []

    init(style: Style, terminal: Terminal, environment: [String: String], longestName: Int) {
        self.style = style
        self.terminal = terminal
        self.environment = environment
        self.longestName = longestName
    }

    var draws: Bool { style == .drawn }

    /// Something that a quiet run leaves out. Where progress is drawn, it is cut to the terminal's width too.
    mutating func tell(_ line: String) {
        guard style != .quiet else { return }
        append(style == .drawn ? DisplayText(line).shortened(to: max(1, columns - 1)) : DisplayText(line))
    }

    /// Something that is always said, and in full.
    mutating func complain(_ line: String) {
        append(DisplayText("opget: " + line))
    }

    private mutating func append(_ line: DisplayText) {
        guard style == .drawn else { return terminal.write(line.string + "\n") }
        waiting.append(line.string)
    }

    private var columns: Int { ProgressMode.columns(terminal.size.columns, environment: environment) }

    /// Draws the next frame; nothing if nothing is drawn.
    mutating func draw(_ transfers: [TransferState], _ batch: BatchState) {
        guard style == .drawn, !terminal.isInBackground else { return }
        let screen = ProgressScreen(columns: columns, rows: terminal.size.rows, longestName: longestName)
        write(screen.lines(transfers, batch))
    }

    /// The plain form of a frame.
    mutating func summarize(_ batch: BatchState) {
        guard style == .lines else { return }
        append(DisplayText(ProgressScreen(columns: .max).line(batch)))
    }

    /// Takes away what is drawn, writes what waits, and gives the cursor back.
    mutating func clear() {
        guard style == .drawn else { return }
        write([])
    }

    private mutating func write(_ lines: [String]) {
        terminal.write(canvas.draw(lines, keeping: waiting, columns: columns))
        waiting = []
    }

    /// For an end that cannot wait for the next frame: what gives the cursor back.
    static func restoreCursor(of terminal: Terminal) {
        if terminal.isReady { terminal.write("\r\n\u{1B}[?25h") }
    }
}
