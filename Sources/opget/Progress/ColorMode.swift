/// When to use colors.
enum ColorMode: String, Hashable, Sendable, CaseIterable {
    case auto, always, never

    /// A dumb terminal never receives escape sequences. Otherwise the option decides, then
    /// [`NO_COLOR`](https://no-color.org), then `CLICOLOR_FORCE` and `FORCE_COLOR`.
    func colors(onTerminal isTerminal: Bool, environment: [String: String]) -> Bool {
        if environment["TERM"] == "dumb" { return false }
        switch self {
        case .always: return true
        case .never: return false
        case .auto: break
        }
        if environment["NO_COLOR"]?.isEmpty == false { return false }
        for name in ["CLICOLOR_FORCE", "FORCE_COLOR"] {
            if let value = environment[name], !value.isEmpty, value != "0" { return true }
        }
        return isTerminal
    }
}
