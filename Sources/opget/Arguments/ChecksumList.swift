import Foundation
import OperationNetworking

/// Digests of files, from a list as `sha256sum` and its relatives write them.
///
/// | Line                              | What it is                                                     |
/// |-----------------------------------|----------------------------------------------------------------|
/// | `2cf24d…  dir/name`               | the length of the digest names the algorithm                   |
/// | `2cf24d… *name`, `2cf24d… name`   | the same                                                       |
/// | `\2cf24d…  a\nb`                  | a name with a line feed, a carriage return (`\r`) or a backslash (`\\`) in it |
/// | `SHA256 (name) = 2cf24d…`         | `--tag`, and the form of BSD and of OpenSSL                    |
/// | `# anything`, an empty line       | nothing                                                        |
///
/// Lines may end in CR LF, and the list may begin with a byte order mark. Where it is clearsigned by OpenPGP,
/// the frame is passed over; the signature is not verified.
///
/// A list that cannot be read completely is an error: what it meant to say about a file is not to be missed.
struct ChecksumList: Hashable, Sendable {
    /// An entry: one line of the list.
    struct Entry: Hashable, Sendable {
        /// The path in the list, without its escapes. Octets that are not UTF-8 are U+FFFD here, and match no
        /// path.
        var path: String { String(decoding: octets, as: UTF8.self) }
        /// The digest of the file.
        let digest: FileDigest
        /// The number of the line, from 1.
        let line: Int

        /// The path as it is in the list.
        let octets: [UInt8]
    }

    /// The entries, in the order of the list.
    let entries: [Entry]
    /// The indices of the entries of a path.
    private var byPath: [Path: [Int]] = [:]
    /// The paths of a file name, in any directory.
    private var byName: [ArraySlice<UInt8>: FilesWithName] = [:]

    /// The files of one name.
    private struct FilesWithName: Hashable {
        /// The index of an entry of the first path.
        let first: Int
        /// That of a path whose digests are others.
        var other: Int?
    }

    /// Reads a list.
    ///
    /// - Throws: ``ChecksumListError``.
    init(_ data: Data) throws(ChecksumListError) {
        entries = try ChecksumLines.entries(in: Array(data))
        for (index, entry) in entries.enumerated() {
            let path = Path(entry.octets)
            let same = byPath[path, default: []]
            let earlier = same.first { entries[$0].digest.algorithm == entry.digest.algorithm }
            if let earlier {
                guard entries[earlier].digest != entry.digest else { continue }
                throw .contradiction(path: entry.path, line: entry.line, earlierLine: entries[earlier].line)
            }
            byPath[path] = same + [index]
        }
        // When all digests of each path are known.
        for (index, entry) in entries.enumerated() {
            guard let name = Path(entry.octets).components.last else { continue }
            guard let same = byName[name] else {
                byName[name] = FilesWithName(first: index)
                continue
            }
            if same.other == nil, Set(digests(ofPathAt: index)) != Set(digests(ofPathAt: same.first)) {
                byName[name]?.other = index
            }
        }
    }

    /// The digests of a file, one for each of its algorithms; none if the list does not know the file.
    ///
    /// `./dir/name` and `dir//name` are `dir/name`. A path that the list has counts before all others; a name
    /// without a directory is looked for in every directory of the list.
    ///
    /// - Throws: ``ChecksumListError/ambiguousName(_:line:earlierLine:)`` if different files have that name.
    func digests(for path: String) throws(ChecksumListError) -> [FileDigest] {
        let listed = digests(listedFor: path)
        guard listed.isEmpty else { return listed }
        let path = Path(Array(path.utf8))
        guard !path.isAbsolute, path.components.count == 1, let name = path.components.first,
            let found = byName[name]
        else { return [] }
        if let other = found.other {
            throw .ambiguousName(
                String(decoding: name, as: UTF8.self),
                line: entries[other].line,
                earlierLine: entries[found.first].line
            )
        }
        return digests(ofPathAt: found.first)
    }

    /// The digests that the list has for this very path, and not for a file of the same name elsewhere.
    func digests(listedFor path: String) -> [FileDigest] {
        byPath[Path(Array(path.utf8)), default: []].map { entries[$0].digest }
    }

    private func digests(ofPathAt index: Int) -> [FileDigest] {
        byPath[Path(entries[index].octets), default: []].map { entries[$0].digest }
    }

    /// A path in octets, so that names are equal only when the file system takes them for equal.
    private struct Path: Hashable {
        let isAbsolute: Bool
        /// Without empty ones and `.`.
        let components: [ArraySlice<UInt8>]

        init(_ octets: [UInt8]) {
            isAbsolute = octets.first == UInt8(ascii: "/")
            components = octets.split(separator: UInt8(ascii: "/")).filter { $0 != [UInt8(ascii: ".")] }
        }
    }
}

/// Why a ``ChecksumList`` cannot be used. Lines are counted from 1.
enum ChecksumListError: Error, Hashable, Sendable {
    /// The line is none that `sha256sum` and its relatives write.
    case malformedLine(Int)
    /// The line names an algorithm that is not known here.
    case unknownAlgorithm(String, line: Int)
    /// The line's digest is not one.
    case malformedDigest(DigestError, line: Int)
    /// Two lines say different things about one file.
    case contradiction(path: String, line: Int, earlierLine: Int)
    /// Files in several directories have that name, and are not the same.
    case ambiguousName(String, line: Int, earlierLine: Int)
}

extension ChecksumListError: CustomStringConvertible {
    /// One sentence, with the number of the line.
    var description: String {
        switch self {
        case .malformedLine(let line):
            "Line \(line) of the checksum list is not a checksum and a name."
        case .unknownAlgorithm(let name, let line):
            "Line \(line) of the checksum list: unknown digest algorithm \(String(name.prefix(100)).debugDescription)."
        case .malformedDigest(let error, let line):
            "Line \(line) of the checksum list: \(error)"
        case .contradiction(let path, let line, let earlierLine):
            "Lines \(earlierLine) and \(line) of the checksum list disagree about \(String(path.prefix(100)).debugDescription)."
        case .ambiguousName(let name, let line, let earlierLine):
            "Lines \(earlierLine) and \(line) of the checksum list are both for a file called \(String(name.prefix(100)).debugDescription)."
        }
    }
}

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
        guard hex.utf8.count.isMultiple(of: 2), hex.allSatisfy({ $0.isASCII && $0.isHexDigit }) else {
            return nil
        }
        guard let algorithm = DigestAlgorithm(hexCount: hex.utf8.count) else {
            throw .malformedDigest(.unknownLength(hex.utf8.count), line: number)
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
        let tag = line[..<(line[..<opening].lastIndex { !$0.isBlank }.map { $0 + 1 } ?? line.startIndex)]
        let value = line[(closing + 1)...].drop(while: \.isBlank)
        guard !tag.isEmpty, !tag.contains(where: \.isBlank), value.first == UInt8(ascii: "=") else {
            throw .malformedLine(number)
        }
        let name = String(decoding: tag, as: UTF8.self)
        // OpenSSL's name.
        let isSHA2 = name.prefix(5).lowercased() == "sha2-"
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
