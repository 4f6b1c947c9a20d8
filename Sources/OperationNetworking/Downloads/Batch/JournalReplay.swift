import Foundation
internal import OperationNetworkingSystem

/// The state that a journal's bytes describe: a value made of nothing else.
///
/// A journal is lines, each a checksum, a space, JSON and a line feed. The first is the ``JournalHeader``; it
/// was on the disk before the file had its name. Each other is a ``JournalEntry``.
///
/// | What is found                             | What it was                            | What it means     |
/// |-------------------------------------------|----------------------------------------|-------------------|
/// | a line without its line feed, at the end  | the process died while it wrote        | nothing           |
/// | a line whose checksum is wrong            | power was lost; others may be right    | nothing           |
/// | an entry of a member that there is not, or of a file of a negative length | -      | nothing           |
/// | several entries of one member             | it was tried again                     | the last one      |
/// | no header, or one that is wrong           | no journal                             | an error          |
struct JournalReplay: Hashable, Sendable {
    enum Unreadable: Error, Hashable, Sendable {
        case noHeader
        case otherSchema(Int)
    }

    let header: JournalHeader
    /// The ends of members, by index.
    private(set) var entries: [Int: JournalEntry] = [:]
    /// The offset of the next line: the bytes behind it are a line that was not written to its end.
    let length: Int

    init(_ bytes: [UInt8]) throws(Unreadable) {
        // One line after the other: a journal may be long.
        guard let end = bytes.firstIndex(of: JournalLine.end), let body = JournalLine.body(bytes[..<end])
        else {
            throw .noHeader
        }
        guard let version = try? JSONDecoder().decode(Version.self, from: body) else { throw .noHeader }
        guard version.schema == JournalHeader.currentSchema else { throw .otherSchema(version.schema) }
        guard let header = try? JSONDecoder().decode(JournalHeader.self, from: body) else { throw .noHeader }
        self.header = header
        let decoder = JSONDecoder()
        var start = end + 1
        while let end = bytes[start...].firstIndex(of: JournalLine.end) {
            defer { start = end + 1 }
            guard let body = JournalLine.body(bytes[start..<end]),
                let entry = try? decoder.decode(JournalEntry.self, from: body),
                header.items.indices.contains(entry.member), entry.finished?.stamp.length ?? 0 >= 0
            else { continue }
            entries[entry.member] = entry
        }
        length = start
    }

    /// The ends of members, as far as they are still true.
    ///
    /// - Parameters:
    ///   - items: those of the header.
    ///   - retriesFailed: whether a failure is no end.
    ///   - stamp: of the file that is there now; `nil`: there is none.
    ///   - record: the stamp in the record of that file; `nil`: it has none.
    ///   - accepts: whether bytes that came under a verification of the servers of this URL count now.
    /// - Returns: the results of those that need not be tried, by their indices.
    func known(
        _ items: [DownloadItem],
        retriesFailed: Bool,
        stamp: (URL) -> FileStamp?,
        record: (URL) -> FileStamp? = { _ in nil },
        accepts: (ServerVerification, URL) -> Bool = { _, _ in true }
    ) -> [Int: Result<DownloadedFile, any Error>] {
        var known: [Int: Result<DownloadedFile, any Error>] = [:]
        for (member, entry) in entries {
            let (file, url) = (items[member].destination, items[member].url)
            if let finished = entry.finished, stamp(file) == finished.stamp,
                finished.isRecorded != true || record(file) == finished.stamp,
                accepts(finished.serverVerification(for: url), url)
            {
                known[member] = .success(finished.download(file))
            } else if let failure = entry.failure, !retriesFailed {
                known[member] = .failure(DownloadBatchError.failedBefore(failure))
            }
        }
        return known
    }

    /// The part of a header that every version has.
    private struct Version: Codable {
        let schema: Int
    }
}

/// A line of a journal.
enum JournalLine {
    static let end = UInt8(ascii: "\n")
    /// The length of the checksum in hexadecimal digits: the first of SHA-256.
    private static let checksumLength = 16

    /// The line, with its line feed.
    static func bytes(_ value: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let body = [UInt8](try encoder.encode(value))
        return Array(try checksum(body).utf8) + [UInt8(ascii: " ")] + body + [end]
    }

    /// The JSON of a line without its line feed; `nil` if it is not what was written.
    static func body(_ line: ArraySlice<UInt8>) -> Data? {
        guard line.count > checksumLength + 1 else { return nil }
        let start = line.startIndex + checksumLength
        let body = Array(line[(start + 1)...])
        guard line[start] == UInt8(ascii: " "), let checksum = try? checksum(body),
            checksum.utf8.elementsEqual(line[..<start])
        else { return nil }
        return Data(body)
    }

    private static func checksum(_ body: [UInt8]) throws -> String {
        String(try body.span.sha256Text().prefix(checksumLength))
    }
}
