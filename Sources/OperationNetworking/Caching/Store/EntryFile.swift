import Dispatch
import Foundation
internal import OperationNetworkingSystem

/// The file of an entry that is written, or the bytes of one that is too short for a file. Used on the queue
/// of bodies; failures are kept, and make the entry be dropped.
final class EntryFile: @unchecked Sendable {
    // @unchecked: used on the queue of bodies, and on that of the index by work that it queued after
    // finish(_:as:) and waits for nothing of it meanwhile.

    private let disk: DiskTier
    let target: EntryTarget
    private var file: PartFile?
    private var name = ""
    /// Bytes before the first one that is written, for which there is no file yet; `nil`: to be asked for.
    private var prefix: Data?
    /// The position of the next bytes.
    private var end: Int64 { checksums.count }
    /// The checksums of the bytes before the end.
    private var checksums = BodyChecksums()
    private var failure: (any Error)?
    var hasFailed: Bool { failure != nil }
    /// `nil`: it is nowhere, or not yet.
    private(set) var content: EntryContent?
    private let index: DispatchQueue

    /// - Parameters:
    ///   - disk: the tier that has the file.
    ///   - target: the entry.
    ///   - held: what memory has of a body that is lengthened.
    ///   - index: the queue to ask for a body in the index.
    init(_ disk: DiskTier, _ target: EntryTarget, _ held: CacheBody?, _ index: DispatchQueue) {
        self.disk = disk
        self.target = target
        self.index = index
        switch target {
        case .new: prefix = Data()
        case .existing(let entry, let offset):
            if offset == 0 {
                prefix = Data()
            } else if !Self.hasFile(entry) {
                prefix = held?.data
            }
        }
    }

    private static func hasFile(_ entry: CacheEntry) -> Bool {
        Int64(entry.head.body.range.count) > EntryTarget.inlineLength
    }

    /// The entry that gets the bytes, as it was found; `nil`: a new one.
    private var lengthened: CacheEntry? {
        if case .existing(let entry, _) = target { entry } else { nil }
    }

    /// Whether the file of an existing entry is lengthened.
    private var isInPlace: Bool {
        if case .existing(let entry, _) = target { Self.hasFile(entry) } else { false }
    }

    /// Writes the next bytes.
    func write(_ bytes: Data) {
        attempt {
            let file = try open()
            guard end + Int64(bytes.count) <= disk.maximumLength else {
                throw SystemError(SystemError.tooLarge, "write")
            }
            try expectWhole(file)
            try file.write(bytes.span, at: end)
            checksums.append(bytes.span)
        }
    }

    /// Writes the last bytes and gives the file its last name.
    func finish(_ rest: Data, as id: Int64) {
        attempt {
            if file == nil, !isInPlace {
                let all = try prefixBytes() + rest
                if all.count <= EntryTarget.inlineLength {
                    content = .inline(all)
                    return
                }
            }
            write(rest)
            guard failure == nil, let file else { return }
            if isInPlace {
                try expectWhole(file)
                try file.truncate(to: end)
            } else {
                // Another writer may have given it a file meanwhile.
                if let lengthened { try checkLength(of: lengthened) }
                let last = DiskTier.bodyName(id)
                try disk.rename(name, to: last)
                name = last
            }
            content = .file(checksums)
        }
    }

    /// Removes what was written; a body that was to be lengthened is as it was.
    func abandon() {
        content = nil
        guard let file else { return }
        self.file = nil
        guard isInPlace, case .existing(let entry, _) = target else {
            disk.removeFiles([name])
            return
        }
        // If it cannot be shortened, its row says how much of it counts. One that another program has cut is
        // not lengthened.
        let length = entry.head.body.count
        guard let size = try? file.status.size, size > length else { return }
        try? file.truncate(to: length)
    }

    func close() {
        file = nil
    }

    /// Another program may have cut the file: what is written behind its end would have zeros before it.
    private func expectWhole(_ file: PartFile) throws {
        guard try file.status.size >= end else { throw BodyError.missing }
    }

    private func attempt(_ work: () throws -> Void) {
        guard failure == nil else { return }
        do {
            try work()
        } catch {
            failure = error
            abandon()
        }
    }

    private func open() throws -> PartFile {
        if let file { return file }
        if isInPlace, case .existing(let entry, let offset) = target {
            // The writer before may hold the lock until its row is in the index. That queue never waits for
            // this one.
            index.sync {}
            guard let opened = try disk.openBody(entry.id, isWritten: true) else { throw BodyError.missing }
            checksums = try checksums(of: entry, in: opened, upTo: offset)
            file = opened
            return opened
        }
        let before = try prefixBytes()
        let (name, opened) = try disk.createFile()
        self.name = name
        file = opened
        if !before.isEmpty { try opened.write(before.span, at: 0) }
        checksums.append(before.span)
        prefix = nil
        return opened
    }

    /// The checksums of the first bytes of a body that is lengthened. A block that is written over from its
    /// middle on is read and compared first: its new checksum makes nothing right that was damaged.
    private func checksums(
        of entry: CacheEntry,
        in file: PartFile,
        upTo offset: Int64
    ) throws -> BodyChecksums {
        guard let all = try row(of: entry).checksums else { throw BodyError.missing }
        var checksums = all
        checksums.removeBlocks(from: offset)
        checksums.append(try all.read(checksums.count..<offset, of: file).span)
        return checksums
    }

    private func row(of entry: CacheEntry) throws -> DiskIndex.Row {
        guard case .found(let row) = index.sync(execute: { disk.row(entry.id) }),
            row.head.body.count == entry.head.body.count
        else { throw BodyError.missing }
        return row
    }

    /// Each writer that lengthens a body has its lock until the index says so: what has another length by now
    /// was lengthened by another writer, and is not written over.
    private func checkLength(of entry: CacheEntry) throws {
        let length = index.sync { disk.length(entry.id) }
        guard length == entry.head.body.count else { throw BodyError.missing }
    }

    private func prefixBytes() throws -> Data {
        if let prefix { return prefix }
        guard case .existing(let entry, let offset) = target else { return Data() }
        guard let bytes = try row(of: entry).body, bytes.count >= offset else { throw BodyError.missing }
        let before = bytes.prefix(Int(offset))
        prefix = before
        return before
    }
}
