import Foundation
internal import OperationNetworkingSystem

/// The file of an entry that is written, or the bytes of one that is too short for a file. Used on the queue
/// of bodies; failures are kept, and make the entry be dropped.
final class EntryFile: @unchecked Sendable {
    // @unchecked: used on the queue of bodies, and on that of the index by work that it queued after
    // finish(_:as:) and waits for nothing of it meanwhile.

    private let disk: DiskTier
    private var file: PartFile?
    private var name = ""
    /// The checksums of the bytes that are written.
    private var checksums = BodyChecksums()
    private var failure: (any Error)?
    var hasFailed: Bool { failure != nil }
    /// `nil`: it is nowhere, or not yet.
    private(set) var content: EntryContent?

    /// - Parameter disk: the tier that has the file.
    init(_ disk: DiskTier) {
        self.disk = disk
    }

    /// Writes the next bytes.
    func write(_ bytes: Data) {
        attempt {
            let file = try open()
            let end = checksums.count
            guard end + Int64(bytes.count) <= disk.maximumLength else {
                throw SystemError(SystemError.tooLarge, "write")
            }
            // Another program may have cut the file: what is written behind its end would have zeros before
            // it.
            guard try file.status.size >= end else { throw BodyError.missing }
            try file.write(bytes.span, at: end)
            checksums.append(bytes.span)
        }
    }

    /// Writes the last bytes and gives the file its last name.
    func finish(_ rest: Data, as id: Int64) {
        attempt {
            if file == nil, rest.count <= EntryTarget.inlineLength {
                content = .inline(rest)
                return
            }
            write(rest)
            guard failure == nil else { return }
            let last = DiskTier.bodyName(id)
            try disk.rename(name, to: last)
            name = last
            content = .file(checksums)
        }
    }

    /// Removes what was written.
    func abandon() {
        content = nil
        guard file != nil else { return }
        file = nil
        disk.removeFiles([name])
    }

    func close() {
        file = nil
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
        let (name, opened) = try disk.createFile()
        self.name = name
        file = opened
        return opened
    }
}
