import Dispatch
import Foundation
internal import OperationNetworkingSystem

/// The journal of one batch, open and locked.
///
/// Lines that several threads add at the same time go to the disk together: the thread whose turn it is
/// writes all that wait, and the others find theirs written. Every call may wait for the disk.
final class DownloadJournal: @unchecked Sendable {
    // @unchecked: `folder`, `file`, `length`, `written` and `isRemoved` are used on `queue` only; what others
    // touch is in `waiting`.

    private struct Waiting {
        var lines: [(number: Int, bytes: [UInt8])] = []
        var lastNumber = 0
    }

    /// No journal is longer, in bytes: it is read into memory.
    static let maximumLength: Int64 = 1 << 30
    /// No first line is longer: there has to be room for one line for each member. That is some 500,000
    /// members.
    static let maximumHeaderLength = 1 << 28

    let url: URL
    private let name: String
    private let folder: DownloadFolder
    private let file: PartFile
    private let queue = DispatchQueue(label: "OperationNetworking.DownloadJournal")
    private let waiting = Locked(Waiting())
    /// The offset of the next line.
    private var length: Int64
    /// The number of the last line that is on the disk.
    private var written = 0

    private init(_ url: URL, name: String, folder: DownloadFolder, file: PartFile, length: Int) {
        self.url = url
        self.name = name
        self.folder = folder
        self.file = file
        self.length = Int64(length)
    }

    // MARK: - Opening

    /// Makes the journal of a new batch. It is on the disk, with its name, when this returns.
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
                header.file = JournalFile(inode: try file.status.identity.inode, birth: file.birth)
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
                // The first error is the one to tell.
                try? folder.remove(temporary)
                if (error as? SystemError)?.code == SystemError.exists {
                    throw DownloadBatchError.journalExists(url)
                }
                throw error
            }
        }
    }

    /// Opens the journal of a batch that did not complete.
    /// - Throws: ``DownloadBatchError``, or a `CocoaError`.
    static func open(_ url: URL) throws -> (journal: DownloadJournal, replay: JournalReplay) {
        try FileError.translating(url) {
            let (folder, name) = try place(url, nil)
            let file = try file(name, in: folder, url)
            guard try file.lock() != .held else { throw DownloadBatchError.journalInUse(url) }
            let status = try file.status
            // The process that had it may have removed it just before.
            guard case .file(let named) = try folder.status(of: name), named.identity == status.identity
            else {
                throw DownloadBatchError.journalMissing(url)
            }
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
            // Another file with these bytes is a server's, or a copy. Where the file system tells no time of
            // birth, the caller's word for the path has to do.
            guard replay.header.file == JournalFile(inode: status.identity.inode, birth: file.birth) else {
                throw DownloadBatchError.journalNotOurs(url)
            }
            // A line that was cut off would spoil the next one.
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

    /// Opens a journal that this user made: what is in another one may be another user's wish, or a server's.
    private static func file(_ name: String, in folder: DownloadFolder, _ url: URL) throws -> PartFile {
        switch try folder.openOwn(name) {
        case .nothing: throw DownloadBatchError.journalMissing(url)
        case .notOurs: throw DownloadBatchError.journalNotOurs(url)
        case .file(let file): return file
        }
    }

    /// A free name for a journal that is being made.
    private static func freeName(for name: String, in folder: DownloadFolder, of url: URL) throws -> String {
        for number in 0..<PartialName.candidateCount {
            let candidate = number == 0 ? name + ".new" : name + ".\(number).new"
            switch try folder.openOwn(candidate) {
            case .nothing: return candidate
            case .notOurs: continue
            // A process died as it made it.
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

    /// Adds a line. It is on the disk when this returns.
    /// - Throws: a `CocoaError`; nothing was added then.
    func append(_ entry: JournalEntry) throws {
        let number = try enqueue(entry)
        try FileError.translating(url) {
            try queue.sync { try write(number) }
        }
    }

    /// Adds a line, at some time: it may get lost.
    func note(_ entry: JournalEntry) {
        queue.async {
            // Nothing depends on it, so it leaves room for what must not be lost.
            guard self.length < Self.maximumLength / 2 else { return }
            try? self.write(self.enqueue(entry))
        }
    }

    /// Lets go of the journal, when everything is written.
    ///
    /// - Parameters:
    ///   - removing: whether the batch is complete, and does not need it any more.
    ///   - then: is called on another queue.
    func close(removing: Bool, then: @escaping @Sendable () -> Void) {
        queue.async {
            // One that stays is found to be complete by the next process that opens it.
            // Its name may be another file's by now: the journal of a later batch, or one that a user put
            // there.
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

    /// On the queue: writes all that wait, if the line with this number is among them.
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
            // The others that wait try theirs. What the disk has of these is unknown (B7): it is cut away,
            // and written anew with the next. If that fails, too, a line that was cut off is overwritten.
            waiting.withLock { waiting in waiting.lines.removeAll { $0.number == number } }
            try? file.truncate(to: length)
            throw error
        }
        written = lines.last?.number ?? written
        waiting.withLock { $0.lines.removeFirst(lines.count) }
    }
}

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
