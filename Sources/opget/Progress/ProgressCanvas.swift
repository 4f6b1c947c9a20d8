/// The part of a terminal that is drawn again and again, at its bottom; lines to keep scroll up above it.
///
/// It makes the characters to write and writes nothing itself. Between two calls the cursor is at the
/// beginning of the last line drawn, and hidden if there is one: what the terminal itself shows for a key,
/// such as `^C`, then overwrites a line of ours and never begins another.
struct ProgressCanvas: Hashable, Sendable {
    private static let hideCursor = "\u{1B}[?25l"
    private static let showCursor = "\u{1B}[?25h"
    private static let clearBelow = "\u{1B}[J"
    private static let clearLine = "\u{1B}[K"
    private static let down = "\u{1B}[B"

    let inColor: Bool
    /// The lines on the screen, and its width then.
    private var drawn: [StyledText] = []
    private var drawnColumns = 0

    init(inColor: Bool = false) {
        self.inColor = inColor
    }

    /// Whether nothing is drawn.
    var isEmpty: Bool { drawn.isEmpty }

    /// Replaces what is drawn by `lines`, below `kept`, which stay. `columns` is the width of the terminal
    /// now: if it became narrower, it has wrapped the lines that were drawn before. Nothing is written if
    /// nothing is new.
    mutating func draw(_ lines: [StyledText], keeping kept: [StyledText] = [], columns: Int) -> String {
        guard !kept.isEmpty || lines != drawn || columns != drawnColumns else { return "" }
        var text = erase(columns)
        for line in kept { text += line.rendered(inColor: inColor) + "\r\n" }
        if drawn.isEmpty, !lines.isEmpty { text += Self.hideCursor }
        if !drawn.isEmpty, lines.isEmpty { text += Self.showCursor }
        (drawn, drawnColumns) = (lines, columns)
        return text + lines.map { $0.rendered(inColor: inColor) }.joined(separator: "\r\n")
            + (lines.isEmpty ? "" : "\r")
    }

    /// Leaves what is drawn where it is.
    mutating func forget() {
        drawn = []
    }

    /// Row by row: if a frame at the top of the window were cleared at once, some terminals (tmux) would keep
    /// it among the lines that have scrolled away.
    private func erase(_ columns: Int) -> String {
        guard !drawn.isEmpty else { return "" }
        let rows = drawn.map { DisplayText($0.plain).rows(in: max(1, columns)) }
        let below = rows.reduce(0, +) - 1
        let start = "\r" + Self.up(rows.dropLast().reduce(0, +))
        guard below > 0 else { return start + Self.clearLine }
        let lines = String(repeating: Self.clearLine + Self.down, count: below)
        return start + lines + Self.clearBelow + Self.up(below)
    }

    private static func up(_ rows: Int) -> String {
        rows > 0 ? "\u{1B}[\(rows)A" : ""
    }
}
