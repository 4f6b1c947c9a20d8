public import Foundation

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
public struct ChecksumList: Hashable, Sendable {
    /// An entry: one line of the list.
    public struct Entry: Hashable, Sendable {
        /// The path in the list, without its escapes. Octets that are not UTF-8 are U+FFFD here, and match no
        /// path.
        public var path: String { String(decoding: octets, as: UTF8.self) }
        /// The digest of the file.
        public let digest: FileDigest
        /// The number of the line, from 1.
        public let line: Int

        /// The path as it is in the list.
        let octets: [UInt8]
    }

    /// The entries, in the order of the list.
    public let entries: [Entry]
    /// The indices of the entries of a path.
    private var byPath: [Path: [Int]] = [:]
    /// The paths of a file name, in any directory.
    private var byName: [ArraySlice<UInt8>: Namesakes] = [:]

    /// The files of one name.
    private struct Namesakes: Hashable {
        /// The index of an entry of the first path.
        let first: Int
        /// That of a path whose digests are others.
        var other: Int?
    }

    /// Reads a list.
    ///
    /// - Throws: ``ChecksumListError``.
    public init(_ data: Data) throws(ChecksumListError) {
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
                byName[name] = Namesakes(first: index)
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
    public func digests(for path: String) throws(ChecksumListError) -> [FileDigest] {
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
    package func digests(listedFor path: String) -> [FileDigest] {
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
