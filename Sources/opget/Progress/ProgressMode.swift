/// How progress is shown.
enum ProgressMode: String, Hashable, Sendable, CaseIterable {
    case auto, always, never, plain

    /// Whether progress is drawn instead of written as plain lines. Nothing is drawn on a dumb terminal.
    func draws(onTerminal isTerminal: Bool, environment: [String: String]) -> Bool {
        if environment["TERM"] == "dumb" { return false }
        switch self {
        case .always: return true
        case .never, .plain: return false
        case .auto: return isTerminal && (environment["CI"] ?? "").isEmpty
        }
    }

    /// Returns the number of columns: from `COLUMNS`, else from the terminal, else 80.
    static func columns(_ terminal: Int?, environment: [String: String]) -> Int {
        if let text = environment["COLUMNS"], let columns = Int(text), columns > 0 { return columns }
        return terminal ?? 80
    }
}
