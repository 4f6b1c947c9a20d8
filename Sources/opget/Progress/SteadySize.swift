/// Tells when a window has stopped changing its size.
///
/// While it is being dragged, the terminal wraps the lines on it anew again and again, and what it says of
/// its size may be old (tmux tells four times a second). A frame that is drawn then erases too many rows or
/// too few. If nothing is written meanwhile, the terminal has wrapped the same lines to the last width in the
/// end.
struct SteadySize: Hashable, Sendable {
    /// Seconds without a change.
    static let patience = 0.3

    private var columns: Int?
    private var rows: Int?
    private var changed = -Double.infinity

    /// Records what the terminal says at `now`, and returns whether it can be drawn on.
    mutating func observe(columns: Int?, rows: Int?, now: Double) -> Bool {
        let isFirst = self.columns == nil && self.rows == nil
        if (columns, rows) != (self.columns, self.rows) {
            (self.columns, self.rows) = (columns, rows)
            if !isFirst { changed = now }
        }
        return now - changed >= Self.patience
    }
}
