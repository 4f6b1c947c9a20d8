/// Detects when a window has stopped changing its size.
///
/// While a window is being resized, the terminal rewraps its lines repeatedly, and its reported size may be
/// outdated (tmux updates it four times a second). Drawing a frame at that time would erase too many or too
/// few rows. If nothing is written until the size is stable, the same lines are wrapped to the final width.
struct SteadySize: Hashable, Sendable {
    /// The required seconds without a change.
    static let settlingTime = 0.3

    private var columns: Int?
    private var rows: Int?
    private var changed = -Double.infinity

    /// Records the terminal's size at `now`, and returns whether it can be drawn on.
    mutating func observe(columns: Int?, rows: Int?, now: Double) -> Bool {
        let isFirst = self.columns == nil && self.rows == nil
        if (columns, rows) != (self.columns, self.rows) {
            (self.columns, self.rows) = (columns, rows)
            if !isFirst { changed = now }
        }
        return now - changed >= Self.settlingTime
    }
}
