/// Reads the lines of a ``ChecksumList``.
struct ChecksumLines {
    private enum Section {
        case list
        /// The lines before the empty one of a clearsigned text ([RFC 9580
        /// §7](https://www.rfc-editor.org/rfc/rfc9580#section-7)).
        case signedHead
        case signature
    }

    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    private var section = Section.list
    private var isSigned = false
    private var entries: [ChecksumList.Entry] = []

    static func entries(in octets: [UInt8]) throws(ChecksumListError) -> [ChecksumList.Entry] {
        var lines = ChecksumLines()
        let text = octets.starts(with: byteOrderMark) ? octets.dropFirst(byteOrderMark.count) : octets[...]
        var number = 0
        for line in text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            number += 1
            try lines.read(line.last == UInt8(ascii: "\r") ? line.dropLast() : line, number)
        }
        return lines.entries
    }

    private mutating func read(_ line: ArraySlice<UInt8>, _ number: Int) throws(ChecksumListError) {
        var line = line
        switch section {
        case .signedHead:
            if line.isEmpty { section = .list }
            return
        case .signature:
            if line.elementsEqual("-----END PGP SIGNATURE-----".utf8) { section = .list }
            return
        case .list:
            if line.elementsEqual("-----BEGIN PGP SIGNED MESSAGE-----".utf8) {
                (section, isSigned) = (.signedHead, true)
                return
            }
            if isSigned, line.elementsEqual("-----BEGIN PGP SIGNATURE-----".utf8) {
                section = .signature
                return
            }
            // A line that began with a dash.
            if isSigned, line.starts(with: "- ".utf8) { line = line.dropFirst(2) }
        }
        line = line.drop(while: \.isBlank)
        guard let first = line.first, first != UInt8(ascii: "#") else { return }
        entries.append(try Self.entry(line, number))
    }

    private static func entry(_ line: ArraySlice<UInt8>, _ number: Int) throws(ChecksumListError)
        -> ChecksumList.Entry
    {
        let isEscaped = line.first == UInt8(ascii: "\\")
        let line = isEscaped ? line.dropFirst() : line
        let (digest, name) =
            if let plain = try plain(line, number) { plain } else { try tagged(line, number) }
        guard let path = isEscaped ? unescaped(name) : Array(name), !path.isEmpty, !path.contains(0) else {
            throw .malformedLine(number)
        }
        return ChecksumList.Entry(digest: digest, line: number, octets: path)
    }

    /// `2cf24d…  name`, `2cf24d… *name`, `2cf24d… name`; `nil` if the line does not begin with such a digest.
    private static func plain(
        _ line: ArraySlice<UInt8>,
        _ number: Int
    ) throws(ChecksumListError) -> (FileDigest, ArraySlice<UInt8>)? {
        guard let blank = line.firstIndex(where: \.isBlank) else { return nil }
        let hex = String(decoding: line[..<blank], as: UTF8.self)
        guard let bytes = [UInt8](hex: hex) else { return nil }
        guard let algorithm = DigestAlgorithm(hexCount: bytes.count * 2) else {
            throw .malformedDigest(.unknownLength(bytes.count * 2), line: number)
        }
        var name = line[(blank + 1)...]
        // What says whether it was read as text or as binary. A single letter is a name.
        if name.count > 1, name.first == UInt8(ascii: " ") || name.first == UInt8(ascii: "*") {
            name = name.dropFirst()
        }
        return (try digest(algorithm, hex, number), name)
    }

    /// `SHA256 (name) = 2cf24d…`
    private static func tagged(
        _ line: ArraySlice<UInt8>,
        _ number: Int
    ) throws(ChecksumListError) -> (FileDigest, ArraySlice<UInt8>) {
        guard let opening = line.firstIndex(of: UInt8(ascii: "(")),
            let closing = line.lastIndex(of: UInt8(ascii: ")")), opening < closing
        else { throw .malformedLine(number) }
        let tag = line[..<opening].trimmingHTTPWhitespace()
        let value = line[(closing + 1)...].drop(while: \.isBlank)
        guard !tag.isEmpty, !tag.contains(where: \.isBlank), value.first == UInt8(ascii: "=") else {
            throw .malformedLine(number)
        }
        let name = String(decoding: tag, as: UTF8.self)
        // OpenSSL's name.
        let isSHA2 = name.prefix(5).isEqualIgnoringASCIICase(to: "SHA2-")
        guard let algorithm = DigestAlgorithm(name: isSHA2 ? "sha-" + name.dropFirst(5) : name) else {
            throw .unknownAlgorithm(name, line: number)
        }
        let hex = String(decoding: value.dropFirst().drop(while: \.isBlank), as: UTF8.self)
        return (try digest(algorithm, hex, number), line[(opening + 1)..<closing])
    }

    private static func digest(
        _ algorithm: DigestAlgorithm,
        _ hex: String,
        _ number: Int
    ) throws(ChecksumListError) -> FileDigest {
        do {
            return try FileDigest(algorithm, hex: hex)
        } catch {
            throw .malformedDigest(error, line: number)
        }
    }

    /// The path without its escapes; `nil` for an unknown escape.
    private static func unescaped(_ name: ArraySlice<UInt8>) -> [UInt8]? {
        var path: [UInt8] = []
        var octets = name.makeIterator()
        while let octet = octets.next() {
            guard octet == UInt8(ascii: "\\") else {
                path.append(octet)
                continue
            }
            switch octets.next() {
            case UInt8(ascii: "\\"): path.append(UInt8(ascii: "\\"))
            case UInt8(ascii: "n"): path.append(UInt8(ascii: "\n"))
            case UInt8(ascii: "r"): path.append(UInt8(ascii: "\r"))
            default: return nil
            }
        }
        return path
    }
}

extension UInt8 {
    fileprivate var isBlank: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }
}
