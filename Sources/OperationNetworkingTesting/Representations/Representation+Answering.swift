internal import Foundation

extension Representation {
    /// Returns the response to `request`.
    ///
    /// Conditions are tested in the order of
    /// [RFC 9110 §13.2.2](https://www.rfc-editor.org/rfc/rfc9110#section-13.2.2).
    func message(for request: ReceivedRequest) -> Message {
        guard request.method == "GET" || request.method == "HEAD" else {
            var message = Message.text(405, "A representation can only be read.\n")
            message.fields.append("Allow", "GET, HEAD")
            return message
        }
        if !misbehaviors.contains(.ignoresConditions) {
            if !isMatched(by: request) { return Message(status: 412, fields: [:], body: "") }
            if !isModified(for: request) {
                return Message(status: 304, fields: validators + headers.lines, body: "")
            }
        }
        switch requestedRange(of: request) {
        case .whole: return whole
        case .unsatisfiable: return unsatisfiable
        case .bytes(let range): return partial(range)
        }
    }

    // MARK: - Conditions

    /// Evaluates `If-Match`, or else `If-Unmodified-Since`.
    private func isMatched(by request: ReceivedRequest) -> Bool {
        if let tags = request["If-Match"] {
            return tags == "*" || self.tags(in: tags).contains { $0 == entityTag && !$0.isWeak }
        }
        guard let limit = request["If-Unmodified-Since"].flatMap(HTTPDate.date), let modified = wholeSeconds
        else { return true }
        return modified <= limit
    }

    /// Evaluates `If-None-Match`, with weak comparison, or else `If-Modified-Since`.
    private func isModified(for request: ReceivedRequest) -> Bool {
        if let tags = request["If-None-Match"] {
            return tags != "*" && !self.tags(in: tags).contains { $0.opaque == entityTag?.opaque }
        }
        guard let limit = request["If-Modified-Since"].flatMap(HTTPDate.date), let modified = wholeSeconds
        else { return true }
        return modified > limit
    }

    /// The range to send: everything if `If-Range` is not exactly the strong tag or the date ([RFC 9110
    /// §13.1.5](https://www.rfc-editor.org/rfc/rfc9110#section-13.1.5)).
    private func requestedRange(of request: ReceivedRequest) -> RequestedRange {
        guard request.method == "GET", let range = request["Range"], !misbehaviors.contains(.ignoresRange)
        else { return .whole }
        if misbehaviors.contains(.refusesRanges) { return .unsatisfiable }
        if let condition = request["If-Range"], !misbehaviors.contains(.ignoresIfRange) {
            let tag = entityTag.flatMap { $0.isWeak ? nil : $0.fieldValue }
            guard condition == tag || condition == lastModified.map(HTTPDate.text) else { return .whole }
        }
        return RequestedRange(range, length: body.count)
    }

    /// A quoted comma is part of the tag ([RFC 9110
    /// §8.8.3](https://www.rfc-editor.org/rfc/rfc9110#section-8.8.3)).
    private func tags(in list: String) -> [EntityTag] {
        var (members, start, isQuoted) = ([Substring](), list.startIndex, false)
        for index in list.utf8.indices {
            switch list.utf8[index] {
            case UInt8(ascii: "\""):
                isQuoted.toggle()
            case UInt8(ascii: ",") where !isQuoted:
                members.append(list[start..<index])
                start = list.utf8.index(after: index)
            default:
                break
            }
        }
        members.append(list[start...])
        return members.map { EntityTag(fieldValue: String($0.trimmed)) }
    }

    private var wholeSeconds: Date? {
        lastModified.map { Date(timeIntervalSince1970: $0.timeIntervalSince1970.rounded(.down)) }
    }

    // MARK: - Responses

    private var whole: Message {
        var fields = validators + contentFields(contentCoding)
        if !misbehaviors.contains(.ignoresRange) { fields.append("Accept-Ranges", "bytes") }
        return Message(status: 200, fields: fields + self.headers.lines, body: body)
    }

    private var unsatisfiable: Message {
        var plan = PartialPlan(range: 0..<0, total: body.count, entityTag: entityTag, coding: nil)
        for misbehavior in misbehaviors { plan.apply(misbehavior, length: body.count) }
        var fields: FieldLines = ["Date": dateText]
        if case .automatic = plan.contentRange { fields.append("Content-Range", "bytes */\(plan.totalText)") }
        if case .literal(let value?) = plan.contentRange { fields.append("Content-Range", value) }
        return Message(status: 416, fields: fields, body: "")
    }

    private func partial(_ range: Range<Int>) -> Message {
        var plan = PartialPlan(range: range, total: body.count, entityTag: entityTag, coding: contentCoding)
        for misbehavior in misbehaviors { plan.apply(misbehavior, length: body.count) }
        let body = self.body[plan.range.prefix(plan.limit)]
        var fields = validators(plan.entityTag, omittingDate: plan.omitsLastModified)
        if misbehaviors.contains(.sendsMultipart) {
            let boundary = "part-of-the-whole"
            fields.append("Content-Type", "multipart/byteranges; boundary=\(boundary)")
            let type = contentType.map { "Content-Type: \($0)\r\n" } ?? ""
            var data = Data("--\(boundary)\r\n\(type)Content-Range: \(plan.contentRangeText)\r\n\r\n".utf8)
            data += body.data + Data("\r\n--\(boundary)--\r\n".utf8)
            return Message(status: 206, fields: fields + self.headers.lines, body: .data(data))
        }
        fields = fields + contentFields(plan.coding)
        switch plan.contentRange {
        case .automatic: fields.append("Content-Range", plan.contentRangeText)
        case .literal(let value): if let value { fields.append("Content-Range", value) }
        }
        return Message(status: 206, fields: fields + self.headers.lines, body: body)
    }

    // MARK: - Fields

    private var dateText: String { HTTPDate.text(date ?? Date()) }

    private var validators: FieldLines { validators(entityTag) }

    private func validators(_ tag: EntityTag?, omittingDate: Bool = false) -> FieldLines {
        var fields: FieldLines = ["Date": dateText]
        if let tag { fields.append("ETag", tag.fieldValue) }
        if let lastModified, !omittingDate { fields.append("Last-Modified", HTTPDate.text(lastModified)) }
        return fields
    }

    private func contentFields(_ coding: String?) -> [FieldLines.Line] {
        var fields = FieldLines()
        if let contentType, headers["Content-Type"] == nil { fields.append("Content-Type", contentType) }
        if let coding { fields.append("Content-Encoding", coding) }
        return fields.lines
    }
}

extension Representation.EntityTag {
    /// The part of the tag that is compared weakly
    /// ([RFC 9110 §8.8.3.2](https://www.rfc-editor.org/rfc/rfc9110#section-8.8.3.2)).
    fileprivate var opaque: Substring { isWeak ? fieldValue.dropFirst(2) : fieldValue[...] }
}

extension FieldLines {
    /// Concatenates the fields.
    fileprivate static func + (fields: FieldLines, lines: [Line]) -> FieldLines {
        var fields = fields
        for line in lines { fields.append(line.name, line.value) }
        return fields
    }
}

/// The range that a `Range` field requests of a representation of `length` bytes ([RFC 9110
/// §14.1.2](https://www.rfc-editor.org/rfc/rfc9110#section-14.1.2)).
enum RequestedRange: Hashable, Sendable {
    /// Everything: the field is missing or ignored (malformed, another unit, several ranges).
    case whole
    /// These bytes.
    case bytes(Range<Int>)
    /// Bytes beyond the representation.
    case unsatisfiable

    /// Parses the value of the field.
    init(_ fieldValue: String?, length: Int) {
        self = .whole
        guard let fieldValue else { return }
        let parts = fieldValue.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].lowercased() == "bytes" else { return }
        let ends = parts[1].split(separator: "-", omittingEmptySubsequences: false).map(\.trimmed)
        guard ends.count == 2 else { return }
        switch (Self.number(ends[0]), Self.number(ends[1])) {
        case (let first?, let last?):
            guard first <= last else { return }
            self = first < length ? .bytes(first..<min(last, length - 1) + 1) : .unsatisfiable
        case (let first?, nil) where ends[1].isEmpty:
            self = first < length ? .bytes(first..<length) : .unsatisfiable
        case (nil, let count?) where ends[0].isEmpty:
            self = count > 0 && length > 0 ? .bytes(max(0, length - count)..<length) : .unsatisfiable
        default: return
        }
    }

    /// Digits only: `Int` itself would also accept a sign.
    private static func number(_ digits: Substring) -> Int? {
        digits.allSatisfy { ("0"..."9").contains($0) } ? Int(digits) : nil
    }
}

/// The properties of a 206 or 416, which misbehaviors change.
struct PartialPlan {
    enum ContentRange {
        case automatic
        case literal(String?)
    }

    var range: Range<Int>
    /// The number of the range's bytes that are sent.
    var limit = Int.max
    var total: Int?
    var entityTag: Representation.EntityTag?
    var omitsLastModified = false
    var coding: String?
    var contentRange = ContentRange.automatic

    init(range: Range<Int>, total: Int, entityTag: Representation.EntityTag?, coding: String?) {
        self.range = range
        self.total = total
        self.entityTag = entityTag
        self.coding = coding
    }

    var totalText: String { total.map { "\($0)" } ?? "*" }

    var contentRangeText: String { "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(totalText)" }

    mutating func apply(_ misbehavior: Representation.Misbehavior, length: Int) {
        switch misbehavior {
        case .ignoresRange, .ignoresIfRange, .ignoresConditions, .refusesRanges, .sendsMultipart:
            break  // handled before the range is known, or when it is sent
        case .shiftsRange(let count):
            guard !range.isEmpty else { break }
            let start = min(max(0, range.lowerBound + count), length - 1)
            range = start..<min(max(start + 1, range.upperBound + count), length)
        case .shortensRange(let count):
            range = range.prefix(max(1, count))
        case .truncatesRange(let count):
            limit = count
        case .misstatesTotal(let total):
            self.total = total
        case .sendsContentRange(let value):
            contentRange = .literal(value)
        case .sendsPartialEntityTag(let tag):
            entityTag = tag
        case .omitsPartialLastModified:
            omitsLastModified = true
        case .sendsPartialContentCoding(let coding):
            self.coding = coding
        }
    }
}
