import Foundation

/// Adds up the progress of all downloads, and shows it.
final class Meter: Sendable {
    private let expected: [Int64]
    private let screen: Screen
    private let state: Protected<State>

    private struct State {
        var counts: [Int64]
        var finished = 0
    }

    init(expected: [Int64], _ screen: Screen) {
        self.expected = expected
        self.screen = screen
        state = Protected(State(counts: expected.map { _ in 0 }))
    }

    /// Bytes of all downloads.
    var total: Int64 { state.read { $0.counts.reduce(0, +) } }

    func count(of index: Int) -> Int64 { state.read { $0.counts[index] } }

    /// - Returns: whether at least half of everything is there.
    func update(_ index: Int, to count: Int64) -> Bool {
        state.change { $0.counts[index] = count }
        show()
        return total >= expected.reduce(0, +) / 2
    }

    func finished(_ count: Int) {
        state.change { $0.finished = count }
        show()
    }

    func endLine() { screen.endLine() }

    private func show() {
        let all = expected.reduce(0, +)
        let (count, finished) = state.read { ($0.counts.reduce(0, +), $0.finished) }
        let width = 30
        let filled = Int(Double(width) * Double(count) / Double(max(all, 1)))
        let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: width - filled)
        screen.redraw("[\(bar)] \(text(count)) of \(text(all)), \(finished) of \(expected.count) files")
    }
}
