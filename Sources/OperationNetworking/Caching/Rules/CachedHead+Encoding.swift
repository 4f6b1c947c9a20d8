internal import Foundation

/// The encoding of a head on the disk: a version, then the members in a fixed order.
///
/// | Member     | Form                                                       |
/// |------------|------------------------------------------------------------|
/// | version    | the octet 2                                                |
/// | flags      | one octet, ``Flags``                                       |
/// | number     | 7 bits per octet, the low ones first; the high bit is set if more follow |
/// | text       | its length as a number, then UTF-8                         |
/// | time       | 8 octets, IEEE 754, the low ones first                     |
/// | fields     | their number, then name and value of each as texts         |
extension CachedHead {
    private static let version: UInt8 = 2

    private struct Flags: OptionSet {
        let rawValue: UInt8
        static let isDecoded = Flags(rawValue: 1)
        static let isInvalidated = Flags(rawValue: 2)
        static let hasIdentity = Flags(rawValue: 4)
        static let hasWeakValidator = Flags(rawValue: 8)
        static let all: Flags = [.isDecoded, .isInvalidated, .hasIdentity, .hasWeakValidator]
    }

    var encoded: [UInt8] {
        var flags: Flags = []
        if isDecoded { flags.insert(.isDecoded) }
        if isInvalidated { flags.insert(.isInvalidated) }
        if identity != nil { flags.insert(.hasIdentity) }
        if hasWeakValidator { flags.insert(.hasWeakValidator) }
        var writer = HeadWriter()
        writer.octets = [Self.version, flags.rawValue]
        writer.append(url)
        writer.append(method)
        writer.append(head.version)
        writer.append(UInt64(clamping: head.status))
        writer.append(head.fields)
        writer.append(selecting)
        if let identity { writer.append(identity) }
        writer.append(requestTime)
        writer.append(responseTime)
        writer.append(UInt64(clamping: length))
        return writer.octets
    }

    /// Fails for anything that ``encoded`` does not produce.
    init?(encoded octets: [UInt8]) {
        self.init(encoded: octets, in: octets.indices)
    }

    /// The same, for a part of the octets.
    init?(encoded octets: [UInt8], in range: Range<Int>) {
        var reader = HeadReader(octets: octets, position: range.lowerBound, end: range.upperBound)
        do {
            self = try reader.head()
        } catch {
            return nil
        }
    }

    private struct HeadWriter {
        var octets: [UInt8] = []

        mutating func append(_ number: UInt64) {
            var rest = number
            while rest >= 0x80 {
                octets.append(UInt8(truncatingIfNeeded: rest) | 0x80)
                rest >>= 7
            }
            octets.append(UInt8(truncatingIfNeeded: rest))
        }

        mutating func append(_ text: String) {
            append(UInt64(text.utf8.count))
            octets += text.utf8
        }

        mutating func append(_ time: Double) {
            for shift in stride(from: 0, to: 64, by: 8) {
                octets.append(UInt8(truncatingIfNeeded: time.bitPattern >> UInt64(shift)))
            }
        }

        mutating func append(_ fields: HeaderFields) {
            append(UInt64(fields.count))
            for field in fields.fields {
                append(field.name)
                append(field.value)
            }
        }
    }

    private struct HeadReader {
        struct Mistake: Error {}

        let octets: [UInt8]
        var position: Int
        let end: Int

        mutating func head() throws(Mistake) -> CachedHead {
            guard try octet() == version else { throw Mistake() }
            let flags = Flags(rawValue: try octet())
            guard flags.isSubset(of: .all) else { throw Mistake() }
            let url = try text()
            let method = try text()
            let httpVersion = try text()
            let status = try number()
            let fields = try fields()
            let selecting = try self.fields()
            let identity = flags.contains(.hasIdentity) ? try text() : nil
            let (requestTime, responseTime) = (try time(), try time())
            let length = try number()
            guard position == end, method.isHTTPToken, (200..<600).contains(status) else {
                throw Mistake()
            }
            return CachedHead(
                url: url,
                method: method,
                head: ResponseHead(version: httpVersion, status: Int(status), fields: fields),
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

        private mutating func octet() throws(Mistake) -> UInt8 {
            guard position < end else { throw Mistake() }
            defer { position += 1 }
            return octets[position]
        }

        private mutating func number() throws(Mistake) -> Int64 {
            var result: UInt64 = 0
            for shift in stride(from: UInt64(0), to: 63, by: 7) {
                let octet = try octet()
                result |= UInt64(octet & 0x7F) << shift
                guard octet & 0x80 != 0 else { return Int64(result) }
            }
            throw Mistake()
        }

        /// Reads the range of a text.
        private mutating func place() throws(Mistake) -> Range<Int> {
            let count = try number()
            guard count <= end - position else { throw Mistake() }
            let start = position
            position += Int(count)
            return start..<position
        }

        private mutating func text() throws(Mistake) -> String {
            let place = try place()
            do {
                return String(copying: try UTF8Span(validating: octets.span.extracting(place)))
            } catch {
                throw Mistake()
            }
        }

        private mutating func time() throws(Mistake) -> Double {
            guard end - position >= 8 else { throw Mistake() }
            var pattern: UInt64 = 0
            for offset in 0..<8 { pattern |= UInt64(octets[position + offset]) << UInt64(8 * offset) }
            position += 8
            let time = Double(bitPattern: pattern)
            guard time.isFinite else { throw Mistake() }
            return time
        }

        /// Reads fields without making strings of them: most are never used.
        private mutating func fields() throws(Mistake) -> HeaderFields {
            let count = try number()
            // Each field needs at least two octets.
            guard count <= (end - position) / 2 else { throw Mistake() }
            guard count > 0 else { return HeaderFields() }
            var fields = HeaderFields(roomFor: Int(count), octets: end - position)
            for _ in 0..<count {
                let (name, value) = (try place(), try place())
                let span = octets.span
                guard span.extracting(name).isHTTPToken, span.extracting(value).isLineOfText else {
                    throw Mistake()
                }
                fields.append(name: span.extracting(name), value: span.extracting(value))
            }
            return fields
        }
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
