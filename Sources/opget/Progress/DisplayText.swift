import OperationNetworking

/// Text that can be shown on a terminal: without control characters, and of known width.
///
/// Names come from servers and from other people's lists. Escape sequences in them, and characters that
/// change the text direction, must not reach the terminal.
struct DisplayText: Hashable, Sendable {
    let string: String
    /// In terminal columns: an upper bound, because terminals differ.
    let width: Int

    /// Replaces characters that must not be shown by `?`.
    init(_ raw: String) {
        string = String(String.UnicodeScalarView(raw.unicodeScalars.map { $0.isShowable ? $0 : "?" }))
        width = Self.width(of: string)
    }

    private init(shown string: String) {
        self.string = string
        width = Self.width(of: string)
    }

    private static func width(of string: String) -> Int {
        string.reduce(0) { $0 + $1.columns }
    }

    /// Returns the number of rows that the text takes in a terminal with `columns` columns. A wide character
    /// that does not fit moves to the next row.
    func rows(in columns: Int) -> Int {
        var (rows, used) = (1, 0)
        for character in string {
            let needed = min(character.columns, columns)
            if used + needed > columns { (rows, used) = (rows + 1, 0) }
            used += needed
        }
        return rows
    }

    // MARK: - Fitting

    /// Returns text that is at most `columns` wide, with the middle omitted, so that the beginning and the
    /// extension are kept.
    func shortened(to columns: Int) -> DisplayText {
        guard width > columns else { return self }
        guard columns > 1 else { return DisplayText(shown: columns == 1 ? "…" : "") }
        let endColumns = (columns - 1) / 2
        let end = String(Self.prefix(of: string.reversed(), columns: endColumns).reversed())
        let start = String(Self.prefix(of: Array(string), columns: columns - 1 - Self.width(of: end)))
        return DisplayText(shown: start + "…" + end)
    }

    /// Returns text that is exactly `columns` wide: shortened, or padded with trailing spaces.
    func fitted(to columns: Int) -> DisplayText {
        let text = shortened(to: columns)
        return DisplayText(shown: text.string + String(repeating: " ", count: columns - text.width))
    }

    private static func prefix(of characters: [Character], columns: Int) -> [Character] {
        var left = columns
        return Array(
            characters.prefix { character in
                left -= character.columns
                return left >= 0
            }
        )
    }
}

extension Character {
    /// The number of terminal columns as counted by wcwidth: the sum over its scalars.
    fileprivate var columns: Int {
        let sum = unicodeScalars.reduce(0) { $0 + $1.columns }
        // Emoji presentation makes a narrow symbol wide.
        return unicodeScalars.contains("\u{FE0F}") ? max(2, sum) : sum
    }
}

extension Unicode.Scalar {
    fileprivate var isShowable: Bool {
        guard !changesLayout else { return false }
        return switch properties.generalCategory {
        case .unassigned: false
        // Joiners are part of emoji and of some scripts; the width of others is unknown.
        case .format: self == "\u{200C}" || self == "\u{200D}" || self == "\u{AD}"
        default: true
        }
    }

    fileprivate var columns: Int {
        if value < 0x300 { return 1 }
        switch properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: break
        }
        if (0x1160...0x11FF).contains(value) || (0xD7B0...0xD7FF).contains(value) { return 0 }
        return properties.isEmojiPresentation || Self.wideRanges.contains { $0.contains(value) } ? 2 : 1
    }

    /// East Asian Wide and Fullwidth ([UAX #11](https://www.unicode.org/reports/tr11/)), without emoji, which
    /// Unicode classifies itself.
    private static let wideRanges: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2329...0x232A, 0x2630...0x2637, 0x268A...0x268F, 0x2E80...0x303E, 0x3041...0x4DBF,
        0x4DC0...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F,
        0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x18DFF, 0x1AFF0...0x1B2FF, 0x1D300...0x1D376,
        0x1F200...0x1F265, 0x1F300...0x1F64F, 0x1F680...0x1F6FF, 0x1F900...0x1F9FF, 0x20000...0x3FFFD,
    ]
}
