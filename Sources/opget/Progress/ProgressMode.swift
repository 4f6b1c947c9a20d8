/// The form of progress that is shown.
enum ProgressMode: String, Hashable, Sendable, CaseIterable {
    case auto, always, never, plain

    /// Whether progress is drawn, rather than told in plain lines. On a dumb terminal nothing can be drawn.
    func draws(onTerminal isTerminal: Bool, environment: [String: String]) -> Bool {
        if environment["TERM"] == "dumb" { return false }
        switch self {
        case .always: return true
        case .never, .plain: return false
        case .auto: return isTerminal && (environment["CI"] ?? "").isEmpty
        }
    }

    /// The number of columns to draw in: from `COLUMNS`, else the terminal, else 80.
    static func columns(_ terminal: Int?, environment: [String: String]) -> Int {
        if let text = environment["COLUMNS"], let columns = Int(text), columns > 0 { return columns }
        return terminal ?? 80
    }
}
