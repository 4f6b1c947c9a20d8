/// The part of a terminal that is drawn again and again, at its bottom; lines to keep scroll up above it.
///
/// It makes the characters to write and writes nothing itself. Between two calls the cursor is at the end of the last
/// line drawn, and hidden if there is one.
struct ProgressCanvas: Hashable, Sendable {
    private static let hideCursor = "\u{1B}[?25l"
    private static let showCursor = "\u{1B}[?25h"
    private static let clearBelow = "\u{1B}[J"

    /// The widths of the lines on the screen.
    private var drawn: [Int] = []

    /// Replaces what is drawn by `lines`, below `kept`, which stay. `columns` is the width of the terminal now: if
    /// it became narrower, it has wrapped the lines that were drawn before.
    mutating func draw(_ lines: [String], keeping kept: [String] = [], columns: Int) -> String {
        var text = erase(columns)
        for line in kept { text += line + "\r\n" }
        if drawn.isEmpty, !lines.isEmpty { text += Self.hideCursor }
        if !drawn.isEmpty, lines.isEmpty { text += Self.showCursor }
        drawn = lines.map { DisplayText($0).width }
        return text + lines.joined(separator: "\r\n")
    }

    private func erase(_ columns: Int) -> String {
        guard !drawn.isEmpty else { return "" }
        let rows = drawn.reduce(0) { $0 + max(1, ($1 + columns - 1) / max(1, columns)) }
        let up = rows > 1 ? "\u{1B}[\(rows - 1)A" : ""
        return "\r" + up + Self.clearBelow
    }
}
