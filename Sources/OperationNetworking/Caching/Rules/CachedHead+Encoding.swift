internal import Foundation

/// The encoding of a head on the disk: its members in a fixed order.
///
/// | Member     | Form                                                       |
/// |------------|------------------------------------------------------------|
/// | flags      | one octet, ``Flags``                                       |
/// | number     | 7 bits per octet, the low ones first; the high bit is set if more follow |
/// | text       | its length as a number, then UTF-8                         |
/// | time       | 8 octets, IEEE 754, the low ones first                     |
/// | fields     | their number, the number of their octets, then name and value of each as texts |
extension CachedHead {
    private struct Flags: OptionSet {
        let rawValue: UInt8
        static let isDecoded = Flags(rawValue: 1)
        static let isInvalidated = Flags(rawValue: 2)
        static let hasIdentity = Flags(rawValue: 4)
        static let hasWeakValidator = Flags(rawValue: 8)
        static let all: Flags = [.isDecoded, .isInvalidated, .hasIdentity, .hasWeakValidator]
    }

    func write(to writer: inout HeadWriter) {
        var flags: Flags = []
        if isDecoded { flags.insert(.isDecoded) }
        if isInvalidated { flags.insert(.isInvalidated) }
        if identity != nil { flags.insert(.hasIdentity) }
        if hasWeakValidator { flags.insert(.hasWeakValidator) }
        writer.octets.append(flags.rawValue)
        writer.append(url)
        writer.append(method)
        writer.append(head.version)
        writer.append(Int64(head.status))
        writer.append(head.fields)
        writer.append(selecting)
        if let identity { writer.append(identity) }
        writer.append(eight: requestTime.bitPattern)
        writer.append(eight: responseTime.bitPattern)
        writer.append(length)
    }

    /// Fails for anything that ``write(to:)`` does not produce.
    init(from reader: inout HeadReader) throws(HeadReader.Mistake) {
        let flags = Flags(rawValue: try reader.octet())
        guard flags.isSubset(of: .all) else { throw HeadReader.Mistake() }
        let url = try reader.text()
        let method = try reader.text()
        let version = try reader.text()
        let status = try reader.number()
        let fields = try reader.fields()
        let selecting = try reader.fields()
        let identity = flags.contains(.hasIdentity) ? try reader.text() : nil
        let (requestTime, responseTime) = (try reader.time(), try reader.time())
        let length = try reader.number()
        guard method.isHTTPToken, (200..<600).contains(status) else { throw HeadReader.Mistake() }
        self.init(
            url: url,
            method: method,
            head: ResponseHead(version: version, status: Int(status), fields: fields),
            selecting: selecting,
            identity: identity,
            requestTime: requestTime,
            responseTime: responseTime,
            length: length,
            isDecoded: flags.contains(.isDecoded),
            isInvalidated: flags.contains(.isInvalidated),
            hasWeakValidator: flags.contains(.hasWeakValidator)
        )
    }
}

/// Writes the octets of a ``HeadFile``.
struct HeadWriter {
    var octets: [UInt8] = []

    /// - Parameter number: negative ones become 0.
    mutating func append(_ number: Int64) {
        var rest = UInt64(clamping: number)
        while rest >= 0x80 {
            octets.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        octets.append(UInt8(truncatingIfNeeded: rest))
    }

    /// Appends 8 octets, the low ones first.
    mutating func append(eight number: UInt64) {
        for shift in stride(from: UInt64(0), to: 64, by: 8) {
            octets.append(UInt8(truncatingIfNeeded: number >> shift))
        }
    }

    mutating func append(_ text: String) {
        append(Int64(text.utf8.count))
        octets += text.utf8
    }

    mutating func append(_ fields: HeaderFields) {
        append(Int64(fields.count))
        append(Int64(fields.octetCount))
        for field in fields.fields {
            append(field.name)
            append(field.value)
        }
    }
}

/// Reads the octets of a ``HeadFile``.
struct HeadReader {
    /// The cache did not write these octets.
    struct Mistake: Error {}

    let octets: [UInt8]
    private(set) var position: Int

    init(_ octets: [UInt8], from position: Int = 0) {
        self.octets = octets
        self.position = position
    }

    var isAtEnd: Bool { position == octets.count }

    mutating func octet() throws(Mistake) -> UInt8 {
        guard position < octets.count else { throw Mistake() }
        defer { position += 1 }
        return octets[position]
    }

    mutating func number() throws(Mistake) -> Int64 {
        var result: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 63, by: 7) {
            let octet = try octet()
            result |= UInt64(octet & 0x7F) << shift
            guard octet & 0x80 != 0 else { return Int64(result) }
        }
        throw Mistake()
    }

    mutating func eight() throws(Mistake) -> UInt64 {
        guard octets.count - position >= 8 else { throw Mistake() }
        var number: UInt64 = 0
        for offset in 0..<8 { number |= UInt64(octets[position + offset]) << UInt64(8 * offset) }
        position += 8
        return number
    }

    mutating func time() throws(Mistake) -> Double {
        let time = Double(bitPattern: try eight())
        guard time.isFinite else { throw Mistake() }
        return time
    }

    /// Reads the range of a text.
    private mutating func place() throws(Mistake) -> Range<Int> {
        let count = try number()
        guard count <= octets.count - position else { throw Mistake() }
        let start = position
        position += Int(count)
        return start..<position
    }

    mutating func text() throws(Mistake) -> String {
        let place = try place()
        do {
            return String(copying: try UTF8Span(validating: octets.span.extracting(place)))
        } catch {
            throw Mistake()
        }
    }

    /// Reads fields without making strings of them: most are never used.
    mutating func fields() throws(Mistake) -> HeaderFields {
        let (count, room) = (try number(), try number())
        // Each field needs at least two octets, for its lengths.
        guard count <= (octets.count - position) / 2, room <= octets.count - position else { throw Mistake() }
        var fields = count > 0 ? HeaderFields(roomFor: Int(count), octets: Int(room)) : HeaderFields()
        for _ in 0..<count {
            let (name, value) = (try place(), try place())
            let span = octets.span
            guard span.extracting(name).isHTTPToken, span.extracting(value).isLineOfText else {
                throw Mistake()
            }
            fields.append(name: span.extracting(name), value: span.extracting(value))
        }
        guard fields.octetCount == room else { throw Mistake() }
        return fields
    }
}

extension Span<UInt8> {
    /// Whether these octets are UTF-8 without line ends and NUL.
    fileprivate var isLineOfText: Bool {
        var (all, ends): (UInt8, Bool) = (0, false)
        for index in indices {
            let octet = self[index]
            all |= octet
            ends = ends || octet == 0x0A || octet == 0x0D || octet == 0
        }
        guard !ends else { return false }
        return all < 0x80 || (try? UTF8Span(validating: self)) != nil
    }
}
