/// The part of a terminal that is drawn again and again, at its bottom; lines to keep scroll up above it.
///
/// It makes the characters to write and writes nothing itself. Between two calls the cursor is at the beginning of the
/// last line drawn, and hidden if there is one: what the terminal itself shows for a key, such as `^C`, then
/// overwrites a line of ours and never begins another.
struct ProgressCanvas: Hashable, Sendable {
    private static let hideCursor = "\u{1B}[?25l"
    private static let showCursor = "\u{1B}[?25h"
    private static let clearBelow = "\u{1B}[J"

    let inColor: Bool
    /// The lines on the screen, and its width then.
    private var drawn: [StyledText] = []
    private var drawnColumns = 0

    init(inColor: Bool = false) {
        self.inColor = inColor
    }

    /// Replaces what is drawn by `lines`, below `kept`, which stay. `columns` is the width of the terminal now: if
    /// it became narrower, it has wrapped the lines that were drawn before. Nothing is written if nothing is new.
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

    private func erase(_ columns: Int) -> String {
        guard !drawn.isEmpty else { return "" }
        let rows = drawn.dropLast().reduce(0) { $0 + DisplayText($1.plain).rows(in: max(1, columns)) }
        let up = rows > 0 ? "\u{1B}[\(rows)A" : ""
        return "\r" + up + Self.clearBelow
    }
}
