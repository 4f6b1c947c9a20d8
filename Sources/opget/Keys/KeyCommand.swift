/// The command of a key.
enum KeyCommand: Hashable, Sendable {
    case pause, quit

    /// Parses the commands in a terminal's input. A key such as F2 sends an escape sequence, `ESC O Q`, whose
    /// characters are not separate keys.
    static func all(in bytes: some Sequence<UInt8>) -> [KeyCommand] {
        var commands: [KeyCommand] = []
        var place = Place.between
        for byte in bytes {
            switch place {
            case .between:
                if byte == 0x1B { place = .afterEscape }
                if let command = KeyCommand(byte) { commands.append(command) }
            case .afterEscape:
                switch byte {
                case UInt8(ascii: "["): place = .inSequence
                case UInt8(ascii: "O"): place = .afterShift
                default: place = .between
                }
            case .inSequence:
                // Parameters are digits and punctuation.
                if (0x40...0x7E).contains(byte) { place = .between }
            case .afterShift:
                place = .between
            }
        }
        return commands
    }

    /// The position of the next character within an escape sequence.
    private enum Place {
        case between, afterEscape, inSequence, afterShift
    }

    private init?(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "p"), UInt8(ascii: "P"): self = .pause
        case UInt8(ascii: "q"), UInt8(ascii: "Q"): self = .quit
        default: return nil
        }
    }
}
