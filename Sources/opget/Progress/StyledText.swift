/// A line to show, some words of which may have a color. It has no control characters until it is rendered.
struct StyledText: Hashable, Sendable {
    /// The meaning of a color.
    enum Style: Hashable, Sendable {
        case failure, attention

        /// The parameter of SGR.
        fileprivate var code: Int {
            switch self {
            case .failure: 31
            case .attention: 33
            }
        }
    }

    private struct Part: Hashable, Sendable {
        let text: String
        let style: Style?
    }

    private var parts: [Part] = []

    init() {}

    init(_ text: DisplayText) {
        append(text.string)
    }

    /// `text`, with `style` for `beginning` if it begins so.
    init(_ text: DisplayText, beginning: String, _ style: Style) {
        if text.string.hasPrefix(beginning) {
            append(beginning, style)
            append(String(text.string.dropFirst(beginning.count)))
        } else {
            append(text.string)
        }
    }

    /// `text` is of our own making, or was a `DisplayText`.
    mutating func append(_ text: String, _ style: Style? = nil) {
        if !text.isEmpty { parts.append(Part(text: text, style: style)) }
    }

    /// Takes away the spaces at the end.
    mutating func trim() {
        while let last = parts.last, last.style == nil {
            guard let end = last.text.lastIndex(where: { $0 != " " }) else {
                parts.removeLast()
                continue
            }
            parts[parts.count - 1] = Part(text: String(last.text[...end]), style: nil)
            return
        }
    }

    /// Without colors.
    var plain: String { parts.map(\.text).joined() }

    /// The characters to write. Each color ends in the line it began in.
    func rendered(inColor: Bool) -> String {
        guard inColor else { return plain }
        return parts.map { part in
            guard let style = part.style else { return part.text }
            return "\u{1B}[\(style.code)m\(part.text)\u{1B}[0m"
        }
        .joined()
    }
}
