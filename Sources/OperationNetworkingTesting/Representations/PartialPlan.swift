/// The plan of a 206 or 416, before and after the misbehaviors have changed it.
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
            break  // decided before there is a range, or when it is sent
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
