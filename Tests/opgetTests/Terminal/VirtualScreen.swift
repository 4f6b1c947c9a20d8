/// The screen of a terminal after some output: characters in rows, and the cursor.
///
/// It knows what opget writes, and no more: CR, LF, wrapping at the right edge with wide characters, cursor up and down,
/// erasing to the end of line and screen, colors, the cursor's visibility. Anything else is listed in `problems`; and so
/// is clearing everything, because some terminals keep what was cleared among the lines that have scrolled away.
struct VirtualScreen: Sendable {
    /// A place for a character one column wide, or half of a wide one.
    struct Cell: Hashable, Sendable {
        var text = " "
        var color: Int?
        /// The right half of a wide character has no text.
        var isRightHalf = false
    }

    private struct Row: Sendable {
        var cells: [Cell]
        /// The text goes on in the next row, not in a new line.
        var continues = false

        var isBlank: Bool { cells.allSatisfy { $0.text == " " } }
    }

    private enum Parsing: Sendable {
        case text
        case escape
        case sequence(parameters: [UInt8])
    }

    private(set) var columns: Int
    private(set) var rowCount: Int
    private(set) var isCursorShown = true
    private(set) var cursor = (row: 0, column: 0)
    private(set) var problems: [String] = []

    private var rows: [Row]
    /// A character was put into the last column: the next one goes to the next row.
    private var isAtEdge = false
    private var color: Int?
    private var parsing = Parsing.text
    private var character: [UInt8] = []

    init(columns: Int, rows rowCount: Int) {
        self.columns = columns
        self.rowCount = rowCount
        rows = Array(repeating: Self.blankRow(columns), count: rowCount)
    }

    private static func blankRow(_ columns: Int) -> Row {
        Row(cells: Array(repeating: Cell(), count: columns))
    }

    // MARK: - What is to be seen

    /// The rows without the spaces at their ends, and without the empty ones at the bottom.
    var lines: [String] {
        var lines = rows.map { row in
            var text = row.cells.map { $0.isRightHalf ? "" : $0.text }.joined()
            while text.last == " " { text.removeLast() }
            return text
        }
        while lines.last?.isEmpty == true { lines.removeLast() }
        return lines
    }

    /// The pieces of text in this color, from the top.
    func text(inColor color: Int) -> [String] {
        var pieces: [String] = []
        for row in rows {
            var piece = ""
            for cell in row.cells {
                if cell.color == color {
                    piece += cell.text
                } else if !piece.isEmpty {
                    pieces.append(piece)
                    piece = ""
                }
            }
            if !piece.isEmpty { pieces.append(piece) }
        }
        return pieces
    }

    // MARK: - Output

    mutating func write(_ bytes: some Sequence<UInt8>) {
        for byte in bytes { write(byte) }
    }

    mutating func write(_ text: String) {
        write(text.utf8)
    }

    private mutating func write(_ byte: UInt8) {
        switch parsing {
        case .escape:
            parsing = byte == UInt8(ascii: "[") ? .sequence(parameters: []) : .text
            if byte != UInt8(ascii: "[") { problems.append("ESC \(byte)") }
        case .sequence(let parameters):
            if (0x40...0x7E).contains(byte) {
                parsing = .text
                perform(byte, String(decoding: parameters, as: UTF8.self))
            } else {
                parsing = .sequence(parameters: parameters + [byte])
            }
        case .text where byte < 0x20 || byte == 0x7F:
            control(byte)
        case .text:
            character.append(byte)
            // A character is complete when its bytes are UTF-8.
            guard let text = String(validating: character, as: UTF8.self) else { return }
            character = []
            for scalar in text.unicodeScalars { put(scalar) }
        }
    }

    private mutating func control(_ byte: UInt8) {
        switch byte {
        case 0x0D:
            cursor.column = 0
            isAtEdge = false
        case 0x0A: lineFeed()
        case 0x1B: parsing = .escape
        default: problems.append("control character \(byte)")
        }
    }

    private mutating func perform(_ command: UInt8, _ parameters: String) {
        switch (UnicodeScalar(command), parameters) {
        case ("A", _):
            cursor.row = max(0, cursor.row - (Int(parameters) ?? 1))
            isAtEdge = false
        case ("B", _):
            cursor.row = min(rowCount - 1, cursor.row + (Int(parameters) ?? 1))
            isAtEdge = false
        case ("J", ""), ("J", "0"):
            if cursor == (0, 0) { problems.append("the whole screen was cleared") }
            eraseLine()
            for row in rows.indices where row > cursor.row { rows[row] = Self.blankRow(columns) }
        case ("K", ""), ("K", "0"): eraseLine()
        case ("h", "?25"): isCursorShown = true
        case ("l", "?25"): isCursorShown = false
        case ("m", ""), ("m", "0"): color = nil
        case ("m", _) where (30...37).contains(Int(parameters) ?? 0): color = Int(parameters)
        default: problems.append("ESC [ \(parameters)\(UnicodeScalar(command))")
        }
    }

    private mutating func eraseLine() {
        for column in cursor.column..<columns { rows[cursor.row].cells[column] = Cell() }
        rows[cursor.row].continues = false
        if cursor.column == 0, cursor.row > 0 { rows[cursor.row - 1].continues = false }
        isAtEdge = false
    }

    private mutating func lineFeed() {
        if cursor.row + 1 < rowCount {
            cursor.row += 1
        } else {
            rows.removeFirst()
            rows.append(Self.blankRow(columns))
        }
        isAtEdge = false
    }

    private mutating func put(_ scalar: Unicode.Scalar) {
        let width = Self.width(of: scalar)
        guard width > 0 else {
            // It belongs to the character before.
            var column = isAtEdge ? cursor.column : cursor.column - 1
            if column > 0, rows[cursor.row].cells[column].isRightHalf { column -= 1 }
            if column >= 0 { rows[cursor.row].cells[column].text.unicodeScalars.append(scalar) }
            return
        }
        if isAtEdge || cursor.column + width > columns {
            rows[cursor.row].continues = true
            lineFeed()
            cursor.column = 0
        }
        rows[cursor.row].cells[cursor.column] = Cell(text: String(scalar), color: color)
        if width == 2 {
            rows[cursor.row].cells[cursor.column + 1] = Cell(text: "", color: color, isRightHalf: true)
        }
        cursor.column += width
        isAtEdge = cursor.column == columns
        if isAtEdge { cursor.column -= 1 }
    }

    /// On its own: what opget takes for the width is what is tested.
    private static func width(of scalar: Unicode.Scalar) -> Int {
        switch scalar.value {
        case 0x300...0x36F, 0x200B...0x200D, 0xFE00...0xFE0F: 0
        case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
            0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1FAFF, 0x20000...0x3FFFD:
            2
        default: 1
        }
    }

    // MARK: - Resizing

    /// Makes it another size, as most terminals do it: text that had been wrapped is wrapped anew, and the cursor stays
    /// at its character.
    mutating func resize(columns newColumns: Int, rows newCount: Int) {
        let last = max(cursor.row, rows.lastIndex { !$0.isBlank } ?? 0)
        var result: [Row] = []
        var newCursor = (row: 0, column: 0)
        var line: [Cell] = []
        var cursorOffset: Int?
        for (index, row) in rows[...last].enumerated() {
            if index == cursor.row { cursorOffset = line.count + cursor.column }
            line += row.cells
            if row.continues, index < last { continue }
            while line.last == Cell(), line.count > (cursorOffset ?? 0) { line.removeLast() }
            let wrapped = Self.wrap(line, newColumns)
            if let offset = cursorOffset {
                var left = offset
                for (index, row) in wrapped.enumerated() {
                    if left < row.used || index == wrapped.count - 1 {
                        newCursor = (result.count + index, min(left, newColumns - 1))
                        break
                    }
                    left -= row.used
                }
                cursorOffset = nil
            }
            result += wrapped.map(\.row)
            line = []
        }
        let scrolled = max(0, result.count - newCount)
        result.removeFirst(scrolled)
        while result.count < newCount { result.append(Self.blankRow(newColumns)) }
        rows = result
        cursor = (max(0, newCursor.row - scrolled), newCursor.column)
        (columns, rowCount, isAtEdge) = (newColumns, newCount, false)
    }

    /// `used`: how many cells of the line are in the row.
    private static func wrap(_ line: [Cell], _ columns: Int) -> [(row: Row, used: Int)] {
        var result: [(row: Row, used: Int)] = []
        var rest = line[...]
        repeat {
            var count = min(columns, rest.count)
            if count < rest.count, rest[rest.startIndex + count].isRightHalf { count -= 1 }
            let cells = Array(rest.prefix(count))
            rest = rest.dropFirst(count)
            let blank = Array(repeating: Cell(), count: columns - count)
            result.append((Row(cells: cells + blank, continues: !rest.isEmpty), count))
        } while !rest.isEmpty
        return result
    }
}
