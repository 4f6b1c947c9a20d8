import Foundation

/// An `-i` list in aria2's format: an address per line, followed by indented lines with its options.
///
/// ```
/// # Comments and empty lines are ignored.
/// https://example.com/a.iso
///   out=images/a.iso
///   dir=downloads
///   checksum=sha-256=2cf24d…
/// ```
struct InputList: Hashable, Sendable {
    /// The value of an option, and its line.
    struct Value: Hashable, Sendable {
        let text: String
        let line: Int
    }

    /// An address with its options.
    struct Entry: Hashable, Sendable {
        let url: String
        /// Lines are counted from 1.
        let line: Int
        var out: Value?
        var dir: Value?
        var checksum: Value?
    }

    private(set) var entries: [Entry] = []

    /// - Parameters:
    ///   - data: the list, in UTF-8.
    ///   - name: the list's name in errors.
    /// - Throws: `Failure` that names the line.
    init(_ data: Data, name: String) throws {
        var data = data[...]
        if data.starts(with: [0xEF, 0xBB, 0xBF]) { data = data.dropFirst(3) }
        var number = 0
        for bytes in data.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            number += 1
            do {
                try read(bytes.last == UInt8(ascii: "\r") ? bytes.dropLast() : bytes, number)
            } catch let problem as Problem {
                throw Failure(.usage, "\(name):\(number): \(problem.sentence)")
            }
        }
        guard !entries.isEmpty else { throw Failure(.usage, "\(name): it contains no URL.") }
    }

    private struct Problem: Error {
        let sentence: String

        init(_ sentence: String) {
            self.sentence = sentence
        }
    }

    private mutating func read(_ bytes: Data.SubSequence, _ number: Int) throws {
        guard let line = String(validating: bytes, as: UTF8.self) else { throw Problem("It is not UTF-8.") }
        let text = line.trimmingCharacters(in: .whitespaces)
        guard !text.isEmpty, !text.hasPrefix("#") else { return }
        guard let first = line.first, first == " " || first == "\t" else {
            let address = Self.withoutComment(text)
            guard !address.contains("\t") else {
                throw Problem("More than one URL for a file: mirrors are not supported.")
            }
            return entries.append(Entry(url: address, line: number))
        }
        try readOption(text, number)
    }

    /// A comment may follow an address, in which no `#` has a space before it.
    private static func withoutComment(_ text: String) -> String {
        var isAfterSpace = false
        for index in text.indices {
            if text[index] == "#", isAfterSpace {
                return text[..<index].trimmingCharacters(in: .whitespaces)
            }
            isAfterSpace = text[index] == " " || text[index] == "\t"
        }
        return text
    }

    private mutating func readOption(_ text: String, _ number: Int) throws {
        guard let equals = text.firstIndex(of: "=") else {
            throw Problem("An indented line is an option such as out=NAME, not \(text.debugDescription).")
        }
        guard !entries.isEmpty else { throw Problem("This option has no URL above it.") }
        let name = text[..<equals].trimmingCharacters(in: .whitespaces)
        let text = text[text.index(after: equals)...].trimmingCharacters(in: .whitespaces)
        let value = Value(text: text, line: number)
        switch name {
        case "out": try set(\.out, value, name)
        case "dir": try set(\.dir, value, name)
        case "checksum": try set(\.checksum, value, name)
        default:
            throw Problem(
                "Unknown option \(name.debugDescription); the options are out, dir and checksum."
            )
        }
    }

    /// Sets an option of the last address.
    private mutating func set(_ option: WritableKeyPath<Entry, Value?>, _ value: Value, _ name: String) throws
    {
        let last = entries.count - 1
        guard entries[last][keyPath: option] == nil else {
            throw Problem("A second \(name)= for the same file.")
        }
        entries[last][keyPath: option] = value
    }
}
