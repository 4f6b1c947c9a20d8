import Foundation

/// Reports to standard error: drawn progress on a terminal, plain lines elsewhere.
///
/// When it draws, lines wait for the next frame, so that there are at most ten frames a second.
struct Reporter {
    /// The reports that are shown besides errors.
    enum Style: Hashable, Sendable {
        case drawn, quiet
        /// Plain lines, and periodically one about the batch.
        case lines(withSummaries: Bool)
    }

    private let style: Style
    private let terminal: Terminal
    private let environment: [String: String]
    private let longestName: Int
    private let inColor: Bool
    private var canvas: ProgressCanvas
    private var steadySize = SteadySize()
    private var waiting: [StyledText] = []

    init(
        style: Style,
        terminal: Terminal,
        environment: [String: String],
        longestName: Int,
        inColor: Bool
    ) {
        self.style = style
        self.terminal = terminal
        self.environment = environment
        self.longestName = longestName
        self.inColor = inColor
        canvas = ProgressCanvas(inColor: inColor)
    }

    var draws: Bool { style == .drawn }

    // MARK: - Permanent lines

    /// Prints a line unless the run is quiet. If progress is drawn, the line is cut to the terminal's width.
    mutating func show(_ line: String) {
        guard style != .quiet else { return }
        let text = DisplayText(line)
        append(StyledText(style == .drawn ? text.shortened(to: max(1, columns - 1)) : text))
    }

    /// Prints a line unless the drawn progress already shows it.
    mutating func showUnlessDrawn(_ line: String) {
        if style != .drawn { show(line) }
    }

    /// Shows the summary of the run, in full.
    mutating func conclude(_ summary: String) {
        guard style != .quiet else { return }
        append(StyledText(DisplayText(summary)))
    }

    /// Shows the summary of a stopped run, and how to resume it.
    mutating func conclude(stopped reason: String, _ summary: String, _ advice: [String]) {
        guard style != .quiet else { return }
        append(StyledText(DisplayText(reason + " " + summary), beginning: reason, .attention))
        for line in advice { append(StyledText(DisplayText(line))) }
    }

    /// Prints a line always, and in full.
    mutating func complain(_ line: String) {
        append(StyledText(DisplayText("opget: " + line), beginning: "opget:", .failure))
    }

    private mutating func append(_ line: StyledText) {
        guard style == .drawn else { return terminal.write(line.rendered(inColor: inColor) + "\n") }
        waiting.append(line)
    }

    // MARK: - Progress

    private var columns: Int { ProgressMode.columns(terminal.size.columns, environment: environment) }

    /// Draws the next frame, unless progress is not drawn or the window is being resized.
    mutating func draw(_ transfers: [TransferState], _ batch: BatchState, now: Double) {
        guard style == .drawn, !terminal.isInBackground else { return }
        let size = terminal.size
        let isSteady = steadySize.observe(columns: size.columns, rows: size.rows, now: now)
        guard isSteady || canvas.isEmpty else { return }
        let screen = ProgressScreen(columns: columns, rows: size.rows, longestName: longestName)
        write(screen.lines(transfers, batch))
    }

    /// The plain form of a frame.
    mutating func summarize(_ batch: BatchState) {
        guard style == .lines(withSummaries: true) else { return }
        append(ProgressScreen(columns: .max).line(batch))
    }

    /// Removes the drawn lines, writes pending lines, and restores the cursor.
    mutating func clear() {
        guard style == .drawn else { return }
        write([])
    }

    /// Leaves the drawn lines in place, because another process has written below them.
    mutating func forget() {
        canvas.forget()
    }

    private mutating func write(_ lines: [StyledText]) {
        // The terminal's actual width, independent of COLUMNS.
        let columns = terminal.size.columns ?? columns
        let text = canvas.draw(lines, keeping: waiting, columns: columns)
        waiting = []
        if !text.isEmpty { terminal.write(text) }
    }

    /// Restores the cursor for an exit that cannot wait for the next frame.
    static func restoreCursor(of terminal: Terminal) {
        if terminal.isReady { terminal.write("\r\n\u{1B}[?25h") }
    }
}
