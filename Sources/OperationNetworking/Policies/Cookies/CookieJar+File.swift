public import Foundation
internal import OperationNetworkingSystem

/// Why a file is not one of cookies.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum CookieFileError: Error, Hashable, Sendable {
    /// A line, counted from 1, is not a cookie, and the reason. Nothing of the line is repeated: its value is
    /// a secret.
    case malformedLine(Int, String)
    /// The file is no text.
    case notText
}

extension CookieFileError: CustomStringConvertible, LocalizedError {
    /// A sentence.
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

    /// A jar in memory with the cookies of a file in Netscape's format, as ``save(to:)``, curl and wget write
    /// it. Cookies that have expired are left out, and so are lines that are not cookies, as curl does.
    ///
    /// - Parameters:
    ///   - file: a file URL.
    ///   - didSkip: called with a ``CookieFileError/malformedLine(_:_:)`` for each line that is left out
    ///     because it is not a cookie.
    /// - Throws: ``CookieFileError`` if nothing in the file looks like cookies: no heading of curl's, and no
    ///   line with six fields; or an error for a file that cannot be read.
    public convenience init(
        contentsOf file: URL,
        didSkip: (CookieFileError) -> Void = { _ in }
    ) throws {
        self.init()
        for cookie in try Self.cookies(of: Data(contentsOf: file), didSkip: didSkip) { set(cookie) }
    }

    /// Writes all cookies, those of the session included, into a file that curl and wget can read, and that
    /// only its owner can. The file is replaced as a whole, or stays as it was.
    ///
    /// - Throws: an error for a file that cannot be written.
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

    /// The cookies of a file's bytes, in order. `didSkip` is called for each line that is not a cookie.
    /// - Throws: ``CookieFileError`` for what is no file of cookies: it could be written over.
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
        case .fieldCount(let count): "it has \(count) fields and not 7, separated by tabs"
        case .flag: "its second or fourth field is neither TRUE nor FALSE"
        case .expiry: "its fifth field is no number of seconds"
        case .encoding: "it is not UTF-8"
        case .characters: "its name, its domain or its path cannot be one, or a control character is in it"
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
