public import Foundation
internal import OperationNetworkingSystem

/// Why a file is not a cookie file.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum CookieFileError: Error, Hashable, Sendable {
    /// A line is not a cookie: its number, counted from 1, and the reason. The reason does not quote the
    /// line, whose value is a secret.
    case malformedLine(Int, String)
    /// The file is not text.
    case notText
}

extension CookieFileError: CustomStringConvertible, LocalizedError {
    /// One sentence.
    public var description: String {
        switch self {
        case .malformedLine(let number, let reason): "Line \(number) is not a cookie: \(reason)."
        case .notText: "The file is not text."
        }
    }

    /// The same as ``description``.
    public var errorDescription: String? { description }
}

extension CookieJar {
    private static let heading = "# Netscape HTTP Cookie File"
    private static let headings = [heading, "# HTTP Cookie File"]

    /// Creates a jar in memory with the cookies of a file in Netscape's format, as ``save(to:)``, curl and
    /// wget write it. Expired cookies, and lines that are not cookies, are skipped, as in curl.
    ///
    /// - Parameters:
    ///   - file: a file URL.
    ///   - didSkip: called with a ``CookieFileError/malformedLine(_:_:)`` for each line that is skipped
    ///     because it is not a cookie.
    /// - Throws: ``CookieFileError`` if nothing in the file looks like cookies (no heading, and no line with
    ///   six fields), or an error if the file cannot be read.
    public convenience init(
        contentsOf file: URL,
        didSkip: (CookieFileError) -> Void = { _ in }
    ) throws {
        self.init()
        for cookie in try Self.cookies(of: Data(contentsOf: file), didSkip: didSkip) { set(cookie) }
    }

    /// Writes all cookies, including session cookies, to a file that curl and wget can read. The file is
    /// replaced atomically and is readable only by its owner.
    ///
    /// - Throws: an error if the file cannot be written.
    public func save(to file: URL) throws {
        let text = Self.text(all(now: .secondsSince1970))
        do {
            try PrivateFile.replace(path: file.path, with: Array(text.utf8).span)
        } catch let error as SystemError {
            throw CocoaError.file(error, file)
        }
    }

    static func text(_ cookies: [Cookie]) -> String {
        ([heading, ""] + cookies.map(\.line)).joined(separator: "\n") + "\n"
    }

    /// Parses the bytes of a cookie file, in order. Calls `didSkip` for each line that is not a cookie.
    /// - Throws: ``CookieFileError`` if it is not a cookie file, so that a save does not overwrite another
    ///   file.
    static func cookies(
        of data: Data,
        didSkip: (CookieFileError) -> Void = { _ in }
    ) throws(CookieFileError) -> [Cookie] {
        var cookies: [Cookie] = []
        var skipped: [CookieFileError] = []
        var isOfCookies = false
        for (index, line) in data.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .enumerated()
        {
            let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
            do throws(Cookie.LineError) {
                guard let text = String(validating: line, as: UTF8.self) else { throw .encoding }
                isOfCookies = isOfCookies || headings.contains(text)
                guard let cookie = try Cookie.read(line: text[...]) else { continue }
                cookies.append(cookie)
            } catch {
                skipped.append(.malformedLine(index + 1, error.reason))
                let fieldCount = line.split(separator: UInt8(ascii: "\t"), omittingEmptySubsequences: false)
                    .count
                isOfCookies = isOfCookies || fieldCount >= 6
            }
        }
        if cookies.isEmpty, !isOfCookies, let first = skipped.first {
            throw String(validating: data, as: UTF8.self) == nil ? .notText : first
        }
        skipped.forEach(didSkip)
        return cookies
    }
}

extension Cookie.LineError {
    fileprivate var reason: String {
        switch self {
        case .fieldCount(let count): "it has \(count) tab-separated fields instead of 7"
        case .flag: "its second or fourth field is neither TRUE nor FALSE"
        case .expiry: "its fifth field is not a number of seconds"
        case .encoding: "it is not UTF-8"
        case .characters: "its name, domain or path is invalid, or it has a control character"
        }
    }
}

extension CocoaError {
    static func file(_ error: SystemError, _ file: URL) -> CocoaError {
        CocoaError(
            error.isLackOfSpace
                ? .fileWriteOutOfSpace
                : error.isLackOfPermission ? .fileWriteNoPermission : .fileWriteUnknown,
            userInfo: [NSURLErrorKey: file, NSLocalizedDescriptionKey: error.description]
        )
    }
}
