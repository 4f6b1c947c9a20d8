/// The redrawn area at the bottom of a terminal; permanent lines scroll up above it.
///
/// It returns the characters to write and writes nothing itself. Between two calls the cursor is at the
/// beginning of the last drawn line, and hidden if there is one, so that the terminal's echo of a key, such
/// as `^C`, overwrites that line and never begins another.
struct ProgressCanvas: Hashable, Sendable {
    private static let hideCursor = "\u{1B}[?25l"
    private static let showCursor = "\u{1B}[?25h"
    private static let clearBelow = "\u{1B}[J"
    private static let clearLine = "\u{1B}[K"
    private static let down = "\u{1B}[B"

    let inColor: Bool
    /// The drawn lines, and the width at that time.
    private var drawn: [StyledText] = []
    private var drawnColumns = 0

    init(inColor: Bool = false) {
        self.inColor = inColor
    }

    /// Whether nothing is drawn.
    var isEmpty: Bool { drawn.isEmpty }

    /// Replaces the drawn lines by `lines`, below the permanent lines `kept`. `columns` is the current width
    /// of the terminal: if it became narrower, it has wrapped the drawn lines. Returns nothing if nothing
    /// changed.
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

    /// Leaves the drawn lines in place.
    mutating func forget() {
        drawn = []
    }

    /// Row by row: if a frame at the top of the window were cleared at once, some terminals (tmux) would move
    /// it into their scrollback.
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
