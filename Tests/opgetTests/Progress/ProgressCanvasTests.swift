import Testing

@testable import opget

@Suite struct ProgressCanvasTests {
    private var canvas = ProgressCanvas()

    private func text(_ lines: [String]) -> [StyledText] {
        lines.map { StyledText(DisplayText($0)) }
    }

    private mutating func draw(_ lines: [String], keeping kept: [String] = [], columns: Int = 80) -> String {
        canvas.draw(text(lines), keeping: text(kept), columns: columns)
    }

    @Test mutating func aFrameReplacesTheOneBefore() {
        #expect(draw(["a", "b"]) == "\u{1B}[?25la\r\nb\r")
        #expect(draw(["c", "d"]) == "\r\u{1B}[1A\u{1B}[K\u{1B}[B\u{1B}[J\u{1B}[1Ac\r\nd\r")
        #expect(draw(["e"]) == "\r\u{1B}[1A\u{1B}[K\u{1B}[B\u{1B}[J\u{1B}[1Ae\r")
        #expect(draw(["f"]) == "\r\u{1B}[Kf\r")
    }

    @Test mutating func aFrameThatIsTheSameIsNotDrawnAgain() {
        #expect(draw(["a", "b"]) != "")
        #expect(draw(["a", "b"]) == "")
        #expect(
            draw(["a", "b"], keeping: ["one"])
                == "\r\u{1B}[1A\u{1B}[K\u{1B}[B\u{1B}[J\u{1B}[1Aone\r\na\r\nb\r"
        )
        #expect(draw(["a", "b"], columns: 79) != "")
        #expect(draw([]) == "\r\u{1B}[1A\u{1B}[K\u{1B}[B\u{1B}[J\u{1B}[1A\u{1B}[?25h")
        #expect(draw([]) == "")
    }

    @Test mutating func whatIsForgottenStays() {
        _ = draw(["a"])
        canvas.forget()
        #expect(draw(["a"]) == "\u{1B}[?25la\r")
    }

    @Test mutating func linesToKeepStayAboveTheFrame() {
        #expect(draw([], keeping: ["done"]) == "done\r\n")
        _ = draw(["a"])
        #expect(draw(["b"], keeping: ["one", "two"]) == "\r\u{1B}[Kone\r\ntwo\r\nb\r")
    }

    @Test mutating func theEndGivesTheCursorBack() {
        _ = draw(["a"])
        #expect(draw([], keeping: ["done"]) == "\r\u{1B}[Kdone\r\n\u{1B}[?25h")
        #expect(draw([]) == "")
    }

    @Test mutating func linesThatATerminalWrappedMeanwhileAreErasedToo() {
        _ = draw(["0123456789", "日本語", "last"])
        // Three rows of two: a half of a character does not fit into the fifth column.
        let clear = String(repeating: "\u{1B}[K\u{1B}[B", count: 4) + "\u{1B}[J\u{1B}[4A"
        #expect(draw(["x"], columns: 5) == "\r\u{1B}[4A" + clear + "x\r")
    }

    @Test func colorsAreOnlyWrittenWhereTheyAreWanted() {
        var line = StyledText()
        line.append("a ")
        line.append("b", .attention)
        var (plain, colored) = (ProgressCanvas(), ProgressCanvas(inColor: true))
        #expect(plain.draw([line], columns: 80) == "\u{1B}[?25la b\r")
        #expect(colored.draw([line], columns: 80) == "\u{1B}[?25la \u{1B}[33mb\u{1B}[0m\r")
    }
}
