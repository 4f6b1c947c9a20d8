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
            guard let file = try folder.create(temporary, as: .journal), try file.lock() != .held else {
                throw DownloadBatchError.journalInUse(url)
            }
            do {
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
        switch try folder.status(of: name) {
        case .nothing: throw DownloadBatchError.journalMissing(url)
        case .file(let status) where try folder.mayBeOurs(status): break
        case .file, .directory, .symbolicLink, .other: throw DownloadBatchError.journalNotOurs(url)
        }
        guard let file = try folder.open(name) else { throw DownloadBatchError.journalMissing(url) }
        switch try folder.trust(file, as: .journal) {
        // Where no mark can be kept, the caller's word for the path has to do.
        case .full, .unmarked: return file
        case .none, .blank: throw DownloadBatchError.journalNotOurs(url)
        }
    }

    /// A name for a journal that is being made. Removes what a process left that died before its batch began:
    /// a file without a whole first line. One that has it may be another batch's journal, which its user
    /// called so.
    private static func freeName(for name: String, in folder: DownloadFolder, of url: URL) throws -> String {
        for number in 0..<100 {
            let candidate = number == 0 ? name + ".new" : name + ".\(number).new"
            switch try folder.trust(of: candidate, as: .journal) {
            case nil: return candidate
            case .blank?, .unmarked?, .full?: break
            case FileTrust.none?: continue
            }
            guard let leftover = try folder.open(candidate) else { return candidate }
            guard try leftover.lock() != .held else { continue }
            if try hasHeader(leftover) { continue }
            // Another process may have removed it, and made one of its own, before it was locked.
            guard try folder.remove(candidate, of: leftover) else { continue }
            return candidate
        }
        throw DownloadBatchError.journalInUse(url)
    }

    /// Whether the file begins with a line, and so may be the journal of a batch.
    private static func hasHeader(_ file: PartFile) throws -> Bool {
        var offset: Int64 = 0
        while true {
            let piece = try file.read(1 << 20, at: offset)
            if piece.contains(JournalLine.end) { return true }
            if piece.isEmpty { return false }
            offset += Int64(piece.count)
        }
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
