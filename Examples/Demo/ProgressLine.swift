/// A tally as one line of text: a bar, and as many figures as fit.
struct ProgressLine {
    private static let barWidth = (shortest: 10, longest: 40)

    let tally: Tally
    let columns: Int

    /// Never wider than `columns`, unless that is absurdly narrow.
    var text: String {
        // Of one width from the beginning to the end: the bar stands still.
        let (whole, count) = ("\(ByteCount(tally.bytesExpected))", "\(tally.fileCount)")
        let percent = "\(Int(tally.fraction * 100))%".paddedLeft(to: 4)
        let bytes = "\(ByteCount(tally.bytesReceived))".paddedLeft(to: whole.count) + " of \(whole)"
        let files = "\(tally.filesDone)".paddedLeft(to: count.count) + " of \(count) files"
        var figures = [percent, bytes, files, "\(tally.running.count) running"]
        // Two columns before the bar, two for its brackets, two before each figure; the last one stays empty.
        while figures.count > 1, room(beside: figures) < Self.barWidth.shortest { figures.removeLast() }
        let width = max(Self.barWidth.shortest, min(Self.barWidth.longest, room(beside: figures)))
        let filled = Int(tally.fraction * Double(width))
        let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: width - filled)
        return "  [\(bar)]" + figures.map { "  " + $0 }.joined()
    }

    private func room(beside figures: [String]) -> Int {
        columns - 5 - figures.reduce(0) { $0 + 2 + $1.count }
    }
}
