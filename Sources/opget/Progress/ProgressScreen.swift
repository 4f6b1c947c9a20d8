import OperationNetworking

/// Formats the progress as lines of text that are at least one column narrower than the terminal. In a bar,
/// `+` marks the bytes of an earlier run.
///
/// ```
/// debian-13.iso       [=======>          ]  41%   270.1 MiB   11.2 MiB/s   35s
/// fedora-44.iso       [++>               ]  12%    88.3 MiB       paused
/// ubuntu-26.iso       [+++++=====>       ]  55%     2.8 GiB  waiting 12s
/// [3/10]  310.4 MiB of 740.0 MiB  41%  18.0 MiB/s  24s left
/// ```
struct ProgressScreen: Hashable, Sendable {
    /// The columns of a transfer's line after its name, the least important one first.
    private enum Field: CaseIterable {
        case total, bar, timeLeft, speed, bytes, percent
    }

    /// From the left.
    private static let order: [Field] = [.bar, .percent, .bytes, .total, .speed, .timeLeft]

    /// The minimum width of names before columns are omitted.
    private static let narrowestName = 14
    private static let widestName = 48

    /// The columns of the terminal.
    let columns: Int
    /// The rows of the terminal; `nil` for any number.
    let rows: Int?
    /// The width of the longest name, so that columns do not move.
    let longestName: Int

    init(columns: Int, rows: Int? = nil, longestName: Int = .max) {
        self.columns = columns
        self.rows = rows
        self.longestName = longestName
    }

    private var width: Int { max(1, columns - 1) }

    /// Returns a line for each transfer, as far as the terminal has rows, and one for the batch, if any.
    func lines(_ transfers: [TransferState], _ batch: BatchState) -> [StyledText] {
        let hasBatchLine = batch.count > 1 || transfers.isEmpty
        let room = max(1, (rows ?? .max) - 1) - (hasBatchLine ? 1 : 0)
        var shown = transfers[...]
        var lines: [StyledText] = []
        if transfers.count > room {
            shown = transfers.prefix(max(0, room - 1))
            lines = shown.map(line)
            if room > 0 { lines.append(fitting("… and \(transfers.count - shown.count) more")) }
        } else {
            lines = shown.map(line)
        }
        if hasBatchLine { lines.append(line(batch)) }
        return lines
    }

    private func fitting(_ text: String) -> StyledText {
        StyledText(DisplayText(text).shortened(to: width))
    }

    // MARK: - A transfer

    private var barWidth: Int { min(40, max(10, width / 5)) }

    private func width(of field: Field) -> Int {
        switch field {
        case .bar: barWidth + 2
        case .percent: 4
        case .bytes: 10
        case .total: 13
        case .speed: 12
        case .timeLeft: 6
        }
    }

    /// The columns that fit, and the resulting width of the name.
    private var layout: (fields: [Field], name: Int) {
        var fields = Field.allCases[...]
        let widest = min(longestName, Self.widestName)
        while true {
            let name = width - fields.reduce(0) { $0 + width(of: $1) + 2 }
            // The total is optional: the percentage shows nearly as much.
            let enough = fields.first == .total ? widest : min(Self.narrowestName, max(4, longestName))
            // A very narrow terminal shows the percentage, and the name in the remaining width.
            if fields.isEmpty || name >= enough || (fields.count == 1 && name >= 2) {
                return (Array(fields), min(name, widest))
            }
            fields = fields.dropFirst()
        }
    }

    private func line(_ transfer: TransferState) -> StyledText {
        let (fields, nameWidth) = layout
        // The state replaces a number that is meaningless in it.
        let state = transfer.isPaused ? Self.paused : transfer.waitingTime == nil ? nil : Self.waiting
        var stateField = state == nil ? nil : [Field.speed, .bytes, .percent].first(where: fields.contains)
        var borrowed = stateField == .percent ? (state ?? "").count - width(of: .percent) : 0
        if borrowed > 0, nameWidth - borrowed < 2 { (stateField, borrowed) = (nil, 0) }
        var line = StyledText()
        line.append(DisplayText(transfer.name).fitted(to: nameWidth - borrowed).string)
        for field in Self.order where fields.contains(field) {
            let isState = field == stateField
            let text =
                isState
                ? self.state(of: transfer, in: field)
                : self.text(of: field, transfer, isAlone: fields.count == 1)
            line.append(String(repeating: " ", count: 2 + max(0, width(of: field) - text.count)))
            line.append(text, isState ? .attention : nil)
        }
        line.trim()
        return line
    }

    private static let paused = "paused"
    private static let waiting = "waiting"

    /// Returns the state in words, with the remaining wait if it fits.
    private func state(of transfer: TransferState, in field: Field) -> String {
        guard !transfer.isPaused, let seconds = transfer.waitingTime else { return Self.paused }
        let text = Self.waiting + " " + TimeSpan(seconds: seconds).text
        return field == .speed && text.count <= width(of: field) ? text : Self.waiting
    }

    private func text(of field: Field, _ transfer: TransferState, isAlone: Bool) -> String {
        switch field {
        case .bar: bar(transfer)
        case .percent:
            transfer.percent.map { "\($0)%" } ?? (isAlone ? ByteCount(transfer.received).shortText : "")
        case .bytes: ByteCount(transfer.received).text
        case .total: transfer.expected.map { "of \(ByteCount($0).text)" } ?? ""
        case .speed:
            transfer.isIdle ? "" : transfer.speed.map { ByteCount(Int64(saturated: $0)).text + "/s" } ?? ""
        case .timeLeft: transfer.isIdle ? "" : transfer.timeLeft.map { TimeSpan(seconds: $0).text } ?? ""
        }
    }

    private func bar(_ transfer: TransferState) -> String {
        guard let expected = transfer.expected, expected > 0 else {
            return "[" + String(repeating: " ", count: barWidth) + "]"
        }
        let part = min(1, Double(transfer.received) / Double(expected))
        let full = Int(part * Double(barWidth))
        let head = full < barWidth ? ">" : ""
        let rest = String(repeating: " ", count: barWidth - full - head.count)
        let oldPart = min(1, Double(transfer.resumedAt) / Double(expected))
        let old = min(full, Int(oldPart * Double(barWidth)))
        return "[" + String(repeating: "+", count: old) + String(repeating: "=", count: full - old) + head
            + rest
            + "]"
    }

    // MARK: - The batch

    /// `[3/10] 12.4 MiB of 40.0 MiB 31% 4.1 MiB/s 6s left`, without the parts that do not fit.
    func line(_ batch: BatchState) -> StyledText {
        let received = ByteCount(batch.received).text
        let (speed, timeLeft) = batch.isPaused ? (nil, nil) : (batch.speed, batch.timeLeft)
        // In order of importance, with the position in the line.
        let parts: [(place: Int, text: String?, style: StyledText.Style?)] = [
            (0, "[\(batch.finished)/\(batch.count)]", nil),
            (5, batch.isPaused ? Self.paused : nil, .attention),
            (2, batch.percent.map { "\($0)%" }, nil),
            (1, batch.expected.map { "\(received) of \(ByteCount($0).text)" } ?? received, nil),
            (3, speed.map { ByteCount(Int64(saturated: $0)).text + "/s" }, nil),
            (4, timeLeft.map { TimeSpan(seconds: $0).text + " left" }, nil),
            (6, batch.hint, nil),
        ]
        var chosen: [(place: Int, text: String, style: StyledText.Style?)] = []
        var used = 0
        for case (let place, let text?, let style) in parts {
            let needed = text.count + (chosen.isEmpty ? 0 : 2)
            if used + needed <= width || chosen.isEmpty {
                chosen.append((place, text, style))
                used += needed
            }
        }
        guard used <= width else { return fitting(chosen[0].text) }
        var line = StyledText()
        for (index, part) in chosen.sorted(by: { $0.place < $1.place }).enumerated() {
            if index > 0 { line.append("  ") }
            line.append(part.text, part.style)
        }
        return line
    }
}
