import Foundation

/// The figures of a run, as JSON, as a page and as a chart.
struct Report {
    private let figures: [Figure]

    init(_ figures: [Figure]) {
        self.figures = figures
    }

    func write(to folder: URL) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        try encoder.encode(figures).write(to: folder.appendingPathComponent("figures.json"))
        try Data(page.utf8).write(to: folder.appendingPathComponent("Figures.md"))
        try Data(chart.utf8).write(to: folder.appendingPathComponent("figures.svg"))
    }

    private var page: String {
        var lines = [
            "# Figures", "",
            "Measured by `make bench`: medians of interleaved rounds. Only ratios within a line mean anything on a",
            "shared machine.", "",
            "![Each figure as a share of its goal](figures.svg)", "",
            "| Figure | Measured | Goal | | Beside |", "|---|---:|---:|---|---|",
        ]
        lines += figures.map { figure in
            let beside = figure.bars.map { "\($0.name) \(rounded($0.value))" }.joined(separator: ", ")
            let notes = [beside.isEmpty ? "" : "\(beside) \(figure.barUnit)", figure.remark].filter {
                !$0.isEmpty
            }
            return "| \(figure.name) | \(rounded(figure.value)) \(figure.unit) | \(figure.goalText) | "
                + "\(figure.isReached ? "ok" : "missed") | \(notes.joined(separator: "; ")) |"
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// A bar for each figure, as long as it is good: up to the line, and beyond it, the goal is reached.
    private var chart: String {
        let (height, left, goal, width) = (22, 470, 240, 860)
        var lines = [
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"\(width)\" height=\"\((figures.count + 2) * height)\" "
                + "font-family=\"sans-serif\" font-size=\"12\">",
            "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>",
        ]
        for (index, figure) in figures.enumerated() {
            let share = figure.isMoreBetter ? figure.value / figure.goal : figure.goal / figure.value
            let length = min(1.45, share.isFinite ? max(share, 0) : 1.45) * Double(goal)
            let top = index * height + 6
            let color = figure.isReached ? "#2a8f4f" : "#c8862a"
            lines += [
                "<text x=\"\(left - 8)\" y=\"\(top + 13)\" text-anchor=\"end\">\(escaped(figure.name))</text>",
                "<rect x=\"\(left)\" y=\"\(top)\" width=\"\(Int(length))\" height=\"\(height - 6)\" fill=\"\(color)\"/>",
                "<text x=\"\(left + 6)\" y=\"\(top + 13)\" fill=\"white\">\(rounded(figure.value))</text>",
            ]
        }
        let bottom = figures.count * height + 8
        let x = left + goal
        lines += [
            "<line x1=\"\(x)\" y1=\"0\" x2=\"\(x)\" y2=\"\(bottom)\" stroke=\"black\" stroke-dasharray=\"4 3\"/>",
            "<text x=\"\(x)\" y=\"\(bottom + 16)\" text-anchor=\"middle\">goal</text>",
            "</svg>",
        ]
        return lines.joined(separator: "\n") + "\n"
    }

    private func escaped(_ text: String) -> String {
        text.replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "<", with: "&lt;")
    }
}
