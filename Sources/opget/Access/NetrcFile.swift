import Foundation
import OperationNetworking

/// Names and passwords for hosts, from a file in the form of netrc(5), as curl, wget and ftp read it.
///
/// Known are `machine`, `default`, `login`, `password`, `account` (passed over), `macdef` (passed over to the
/// next empty line), texts in double quotes with `\` before what is to be taken as it is, and lines that
/// begin with `#`. Other words are passed over. Names and passwords are UTF-8.
struct NetrcFile: Hashable, Sendable {
    /// One `machine`, or the `default`.
    struct Entry: Hashable, Sendable {
        /// `nil` for the `default`.
        var host: String?
        var login: String?
        var password: String?
    }

    let entries: [Entry]

    /// - Parameter url: the file; unless something else is said, `.netrc` in the directory that `HOME` names
    ///   in the environment, or else in the user's own.
    /// - Throws: ``NetrcError``; also for a file that has passwords and that others than its owner may read
    ///   or write.
    init(contentsOf url: URL? = nil) throws(NetrcError) {
        let named = url ?? Self.home.appendingPathComponent(".netrc")
        let file = named.resolvingSymlinksInPath()
        let data: Data
        let mode: Int
        do {
            let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
            guard attributes[.type] as? FileAttributeType == .typeRegular else {
                throw NetrcError.unreadable(path: file.path, reason: "it is not a regular file")
            }
            mode = (attributes[.posixPermissions] as? NSNumber)?.intValue ?? 0o777
            data = try Data(contentsOf: file)
        } catch let error as NetrcError {
            throw error
        } catch {
            throw NetrcError.unreadable(path: file.path, reason: error.localizedDescription)
        }
        // NUL bytes, as in UTF-16, which would contain no known word.
        guard !data.contains(0) else {
            throw NetrcError.unreadable(path: file.path, reason: "it is not UTF-8 text")
        }
        var reader = NetrcReader(bytes: Array(data))
        entries = try reader.entries()
        if let line = reader.brokenLine {
            throw NetrcError.unreadable(path: file.path, reason: "line \(line) is not UTF-8")
        }
        guard mode & 0o077 == 0 || entries.allSatisfy({ $0.password == nil }) else {
            throw NetrcError.readableByOthers(path: file.path, mode: mode)
        }
    }

    private static var home: URL {
        // Foundation reads the user database before the environment.
        if let home = ProcessInfo.processInfo.environment["HOME"], home.hasPrefix("/") {
            return URL(fileURLWithPath: home, isDirectory: true)
        }
        return FileManager.default.homeDirectoryForCurrentUser
    }

    /// - Throws: ``NetrcError``.
    init(text: String) throws(NetrcError) {
        var reader = NetrcReader(bytes: Array(text.utf8))
        entries = try reader.entries()
    }

    /// Returns the credential for a host.
    ///
    /// - Parameters:
    ///   - host: its name, in any case.
    ///   - user: the login that the entry must have; `nil`: the first entry counts.
    /// - Returns: `nil` when there is no entry with a name and a password. The `default` is for hosts that no
    ///   entry before it is for.
    func credential(for host: String, user: String? = nil) -> Credential? {
        let entry = entries.first { entry in
            (entry.host.map { $0.lowercased() == host.lowercased() } ?? true)
                && (user == nil || entry.login == nil || entry.login == user)
        }
        guard let entry, let login = user ?? entry.login, let password = entry.password else { return nil }
        return Credential(user: login, password: password)
    }
}

extension NetrcFile: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The number of entries, and nothing of them.
    var description: String { "netrc file with \(entries.count) entries, hidden" }

    /// The same as ``description``.
    var debugDescription: String { description }

    /// The same as ``description``: nothing to look into.
    var customMirror: Mirror { Mirror(self, children: ["entries": description]) }
}

/// Why a netrc file was not taken.
enum NetrcError: Error, Hashable, Sendable {
    /// The file cannot be read, or a name or a password is not UTF-8: another one would be sent.
    case unreadable(path: String, reason: String)
    /// The file has passwords, and users other than its owner may read or write it. `mode` has its permission
    /// bits.
    case readableByOthers(path: String, mode: Int)
    /// A quoted text is not terminated, or a word has no value. Lines are counted from 1.
    case malformed(line: Int)
}

extension NetrcError: CustomStringConvertible, LocalizedError {
    /// One sentence, with what to do.
    var description: String {
        switch self {
        case .unreadable(let path, let reason):
            "\(path) cannot be read: \(reason)."
        case .readableByOthers(let path, let mode):
            "\(path) contains passwords, but its mode is \(String(mode & 0o777, radix: 8)): "
                + "run chmod 600 to make it private."
        case .malformed(let line):
            "Line \(line) of the netrc file has a word without a value or an unterminated quote."
        }
    }

    /// The same as ``description``.
    var errorDescription: String? { description }
}

/// Parses a netrc file.
struct NetrcReader {
    let bytes: [UInt8]
    private var position = 0
    private var line = 1
    /// The first line with a name or password that is not UTF-8.
    private(set) var brokenLine: Int?

    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    mutating func entries() throws(NetrcError) -> [NetrcFile.Entry] {
        var entries: [NetrcFile.Entry] = []
        while skipToWord() {
            if bytes[position] == UInt8(ascii: "#"), isAtStartOfLine {
                skipLine()
                continue
            }
            switch try word().text {
            case "machine":
                entries.append(NetrcFile.Entry(host: try value()))
            case "default":
                entries.append(NetrcFile.Entry())
            case "login", "user":
                let login = try value()
                if let last = entries.indices.last { entries[last].login = login }
            case "password", "passwd":
                let password = try value()
                if let last = entries.indices.last { entries[last].password = password }
            case "account":
                _ = try rawValue()
            case "macdef":
                skipMacro()
            default:
                break
            }
        }
        return entries
    }

    // MARK: - Words

    /// - Returns: whether there is another word.
    private mutating func skipToWord() -> Bool {
        while position < bytes.count, Self.isSpace(bytes[position]) { step() }
        return position < bytes.count
    }

    /// A word, and whether it is UTF-8.
    private typealias Word = (text: String, isText: Bool)

    private mutating func value() throws(NetrcError) -> String {
        let (text, isText) = try rawValue()
        if !isText { brokenLine = brokenLine ?? line }
        return text
    }

    private mutating func rawValue() throws(NetrcError) -> Word {
        let begin = line
        guard skipToWord() else { throw .malformed(line: begin) }
        return try word()
    }

    private mutating func word() throws(NetrcError) -> Word {
        if bytes[position] == UInt8(ascii: "\"") { return try quotedWord() }
        let start = position
        while position < bytes.count, !Self.isSpace(bytes[position]) { position += 1 }
        return Self.decoded(bytes[start..<position])
    }

    private static func decoded(_ octets: some Collection<UInt8>) -> Word {
        let text = String(validating: octets, as: UTF8.self)
        return (text ?? String(decoding: octets, as: UTF8.self), text != nil)
    }

    private mutating func quotedWord() throws(NetrcError) -> Word {
        let begin = line
        position += 1
        var text: [UInt8] = []
        while position < bytes.count {
            let byte = bytes[position]
            step()
            if byte == UInt8(ascii: "\"") { return Self.decoded(text) }
            if byte == UInt8(ascii: "\\"), position < bytes.count {
                text.append(Self.meaning(ofQuoted: bytes[position]))
                step()
            } else {
                text.append(byte)
            }
        }
        throw .malformed(line: begin)
    }

    /// As in curl.
    private static func meaning(ofQuoted byte: UInt8) -> UInt8 {
        switch byte {
        case UInt8(ascii: "n"): UInt8(ascii: "\n")
        case UInt8(ascii: "r"): UInt8(ascii: "\r")
        case UInt8(ascii: "t"): UInt8(ascii: "\t")
        default: byte
        }
    }

    // MARK: - Lines

    private var isAtStartOfLine: Bool {
        bytes[..<position].last { $0 != 0x20 && $0 != 0x09 }.map { $0 == UInt8(ascii: "\n") } ?? true
    }

    private mutating func skipLine() {
        while position < bytes.count, bytes[position] != UInt8(ascii: "\n") { position += 1 }
    }

    /// A macro definition ends with an empty line or the end of the file.
    private mutating func skipMacro() {
        skipLine()
        while position < bytes.count {
            step()
            let start = position
            skipLine()
            if bytes[start..<position].allSatisfy({ $0 == UInt8(ascii: "\r") }) { return }
        }
    }

    private mutating func step() {
        if bytes[position] == UInt8(ascii: "\n") { line += 1 }
        position += 1
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D
    }
}
