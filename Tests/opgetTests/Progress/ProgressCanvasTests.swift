import Testing

@testable import opget

@Suite struct ProgressCanvasTests {
    @Test func aFrameReplacesTheOneBefore() {
        var canvas = ProgressCanvas()
        #expect(canvas.draw(["a", "b"], columns: 80) == "\u{1B}[?25la\r\nb")
        #expect(canvas.draw(["c", "d"], columns: 80) == "\r\u{1B}[1A\u{1B}[Jc\r\nd")
        #expect(canvas.draw(["e"], columns: 80) == "\r\u{1B}[1A\u{1B}[Je")
        #expect(canvas.draw(["f"], columns: 80) == "\r\u{1B}[Jf")
    }

    @Test func linesToKeepStayAboveTheFrame() {
        var canvas = ProgressCanvas()
        #expect(canvas.draw([], keeping: ["done"], columns: 80) == "done\r\n")
        _ = canvas.draw(["a"], columns: 80)
        #expect(canvas.draw(["b"], keeping: ["one", "two"], columns: 80) == "\r\u{1B}[Jone\r\ntwo\r\nb")
    }

    @Test func theEndGivesTheCursorBack() {
        var canvas = ProgressCanvas()
        _ = canvas.draw(["a"], columns: 80)
        #expect(canvas.draw([], keeping: ["done"], columns: 80) == "\r\u{1B}[Jdone\r\n\u{1B}[?25h")
        #expect(canvas.draw([], columns: 80) == "")
    }

    @Test func linesThatATerminalWrappedMeanwhileAreErasedToo() {
        var canvas = ProgressCanvas()
        _ = canvas.draw(["0123456789", "日本語"], columns: 80)
        #expect(canvas.draw(["x"], columns: 5) == "\r\u{1B}[3A\u{1B}[Jx")
    }
}
