import Dispatch
import Foundation
internal import OperationNetworkingSystem

/// The journal of one batch, open and locked.
///
/// Lines that several threads add at the same time are written together: one thread writes all waiting lines, and the
/// others find theirs written. Every call may wait for the disk.
final class DownloadJournal: @unchecked Sendable {
    // @unchecked: `folder`, `file`, `length`, `written` and `isRemoved` are used on `queue` only; what others
    // touch is in `waiting`.

    private struct Waiting {
        var lines: [(number: Int, bytes: [UInt8])] = []
        var lastNumber = 0
    }

    /// The maximum length of a journal in bytes, because it is read into memory.
    static let maximumLength: Int64 = 1 << 30
    /// The maximum length of the first line in bytes, some 500,000 members, so that there is space for a line for
    /// each member.
    static let maximumHeaderLength = 1 << 28

    let url: URL
    private let name: String
    private let folder: DownloadFolder
    private let file: PartFile
    private let queue = DispatchQueue(label: "OperationNetworking.DownloadJournal")
    private let waiting = Locked(Waiting())
    /// The offset of the next line.
    private var length: Int64
    /// The number of the last line on disk.
    private var written = 0

    private init(_ url: URL, name: String, folder: DownloadFolder, file: PartFile, length: Int) {
        self.url = url
        self.name = name
        self.folder = folder
        self.file = file
        self.length = Int64(length)
    }

    // MARK: - Opening

    /// Creates the journal of a new batch. When this returns, it is on disk with its name.
    /// - Throws: ``DownloadBatchError``, or a `CocoaError`.
    static func make(_ url: URL, _ header: JournalHeader, watch: FileChange.Watcher? = nil) throws -> Self {
        try FileError.translating(url) {
            let (folder, name) = try place(url, watch)
            guard try folder.status(of: name) == .nothing else { throw DownloadBatchError.journalExists(url) }
            let temporary = try freeName(for: name, in: folder, of: url)
            guard let file = try folder.create(temporary), try file.lock() != .held else {
                throw DownloadBatchError.journalInUse(url)
            }
            do {
                var header = header
                header.file = file.lastingIdentity
                let line = try JournalLine.bytes(header)
                guard line.count <= Self.maximumHeaderLength else {
                    throw DownloadBatchError.journalTooLong(url, length: Int64(line.count))
                }
                try file.write(line.span, at: 0)
                try file.synchronizeData()
                try folder.renameExclusively(temporary, to: name, of: file)
                try folder.synchronize()
                return Self(url, name: name, folder: folder, file: file, length: line.count)
            } catch {
                // The first error is reported.
                try? folder.remove(temporary)
                if (error as? SystemError)?.code == SystemError.exists {
                    throw DownloadBatchError.journalExists(url)
                }
                throw error
            }
        }
    }

    /// Opens the journal of an incomplete batch.
    /// - Throws: ``DownloadBatchError``, or a `CocoaError`.
    static func open(_ url: URL) throws -> (journal: DownloadJournal, replay: JournalReplay) {
        try FileError.translating(url) {
            let (folder, name) = try place(url, nil)
            let file = try file(name, in: folder, url)
            guard try file.lock() != .held else { throw DownloadBatchError.journalInUse(url) }
            let status = try file.status
            // Its process may have removed it just before.
            guard try folder.isName(name, of: file) else { throw DownloadBatchError.journalMissing(url) }
            guard status.size <= Self.maximumLength else {
                throw DownloadBatchError.journalTooLong(url, length: status.size)
            }
            let bytes = try file.read(Int(status.size), at: 0)
            let replay: JournalReplay
            do throws(JournalReplay.Unreadable) {
                replay = try JournalReplay(bytes)
            } catch {
                switch error {
                case .noHeader: throw DownloadBatchError.journalUnreadable(url)
                case .otherSchema(let schema):
                    throw DownloadBatchError.journalOfOtherVersion(url, schema: schema)
                }
            }
            // Another file with these bytes is a copy, or a server's. If the file system does not record the time of
            // creation, the caller vouches for the path.
            guard replay.header.file == file.lastingIdentity else {
                throw DownloadBatchError.journalNotTrusted(url)
            }
            // An incomplete line would corrupt the next one.
            if status.size != Int64(replay.length) { try file.truncate(to: Int64(replay.length)) }
            let journal = Self(url, name: name, folder: folder, file: file, length: replay.length)
            return (journal, replay)
        }
    }

    private static func place(
        _ url: URL,
        _ watch: FileChange.Watcher?
    ) throws -> (folder: DownloadFolder, name: String) {
        let place = try DownloadPlace(url, watch: watch)
        return (place.folder, place.name)
    }

    /// Opens a journal of this user: any other may contain what another user, or a server, wants.
    private static func file(_ name: String, in folder: DownloadFolder, _ url: URL) throws -> PartFile {
        switch try folder.openOwn(name) {
        case .nothing: throw DownloadBatchError.journalMissing(url)
        case .notOurs: throw DownloadBatchError.journalNotTrusted(url)
        case .file(let file): return file
        }
    }

    /// Returns a free name for a journal that is being created.
    private static func freeName(for name: String, in folder: DownloadFolder, of url: URL) throws -> String {
        for number in 0..<PartialName.candidateCount {
            let candidate = number == 0 ? name + ".new" : name + ".\(number).new"
            switch try folder.openOwn(candidate) {
            case .nothing: return candidate
            case .notOurs: continue
            // A process was killed while creating it.
            case .file(let leftover):
                guard try leftover.status.size == 0, try leftover.lock() != .held,
                    try folder.remove(candidate, of: leftover)
                else { continue }
                return candidate
            }
        }
        throw DownloadBatchError.journalInUse(url)
    }

    // MARK: - Writing

    /// Adds a line. When this returns, it is on disk.
    /// - Throws: a `CocoaError`; then nothing was added.
    func append(_ entry: JournalEntry) throws {
        let number = try enqueue(entry)
        try FileError.translating(url) {
            try queue.sync { try write(number) }
        }
    }

    /// Adds a line later. It may get lost.
    func note(_ entry: JournalEntry) {
        queue.async {
            // Nothing depends on this line, so it leaves space for those that must not be lost.
            guard self.length < Self.maximumLength / 2 else { return }
            try? self.write(self.enqueue(entry))
        }
    }

    /// Closes the journal when everything is written.
    ///
    /// - Parameters:
    ///   - removing: whether the batch is complete and no longer needs the journal.
    ///   - then: called on another queue.
    func close(removing: Bool, then: @escaping @Sendable () -> Void) {
        queue.async {
            // If it cannot be removed, the next process finds that the batch is complete. Its name may already belong
            // to another file, such as the journal of a later batch.
            if removing { _ = try? self.folder.remove(self.name, of: self.file) }
            self.file.close()
            then()
        }
    }

    /// - Returns: the number of the line.
    private func enqueue(_ entry: JournalEntry) throws -> Int {
        let bytes = try JournalLine.bytes(entry)
        return waiting.withLock { waiting in
            waiting.lastNumber += 1
            waiting.lines.append((waiting.lastNumber, bytes))
            return waiting.lastNumber
        }
    }

    /// Writes all waiting lines if the one with this number is among them. On the queue.
    private func write(_ number: Int) throws {
        guard number > written else { return }
        let lines = waiting.withLock { $0.lines }
        do {
            let bytes = lines.flatMap(\.bytes)
            guard Int64(bytes.count) <= Self.maximumLength - length else {
                throw DownloadBatchError.journalTooLong(url, length: length + Int64(bytes.count))
            }
            try file.write(bytes.span, at: length)
            try file.synchronizeData()
            length += Int64(bytes.count)
        } catch {
            // The others retry theirs. What is on disk is unknown (B7): it is truncated, and written again with the
            // next line. If that fails, too, an incomplete line is overwritten.
            waiting.withLock { waiting in waiting.lines.removeAll { $0.number == number } }
            try? file.truncate(to: length)
            throw error
        }
        written = lines.last?.number ?? written
        waiting.withLock { $0.lines.removeFirst(lines.count) }
    }
}

/// The state that the contents of a journal describe. A value that depends on nothing else.
///
/// A journal consists of lines, each with a checksum, a space, JSON and a line feed. The first line is the
/// ``JournalHeader``, which was on disk before the file had its name. Each other line is a ``JournalEntry``.
///
/// | What is found                             | Its cause                              | What it means     |
/// |-------------------------------------------|----------------------------------------|-------------------|
/// | an incomplete last line                   | the process was killed while writing   | nothing           |
/// | a line with a wrong checksum              | a loss of power; others may be right   | nothing           |
/// | an entry of an unknown member, or with a negative length | -                       | nothing           |
/// | several entries of one member             | it was retried                         | the last one      |
/// | no valid header                           | not a journal                          | an error          |
struct JournalReplay: Hashable, Sendable {
    enum Unreadable: Error, Hashable, Sendable {
        case noHeader
        case otherSchema(Int)
    }

    let header: JournalHeader
    /// The ends of members, by index.
    private(set) var entries: [Int: JournalEntry] = [:]
    /// The offset of the next line; bytes after it are an incomplete line.
    let length: Int

    init(_ bytes: [UInt8]) throws(Unreadable) {
        // One line at a time, because a journal may be long.
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

    /// Returns the ends of members that are still valid.
    ///
    /// - Parameters:
    ///   - items: the items of the header.
    ///   - retriesFailed: whether failed members are tried again.
    ///   - stamp: returns the stamp of the file at a URL; `nil` if there is none.
    ///   - record: returns the stamp in the record of that file; `nil` if it has none.
    ///   - accepts: whether bytes that were received under a verification of the servers of this URL are accepted
    ///     now.
    /// - Returns: the results of the members that need not be tried, by index.
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

    /// The part of a header that is the same in every format.
    private struct Version: Codable {
        let schema: Int
    }
}

/// A line of a journal.
enum JournalLine {
    static let end = UInt8(ascii: "\n")
    /// The length of the checksum, the beginning of a SHA-256, in hexadecimal digits.
    private static let checksumLength = 16

    /// Returns the line with its line feed.
    static func bytes(_ value: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let body = [UInt8](try encoder.encode(value))
        return Array(try checksum(body).utf8) + [UInt8(ascii: " ")] + body + [end]
    }

    /// Returns the JSON of a line without its line feed; `nil` if it is damaged.
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
