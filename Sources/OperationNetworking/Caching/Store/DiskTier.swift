import Foundation
internal import OperationNetworkingSystem

/// The files of a cache: for each URL one with the heads of its responses, and one for each body.
///
/// | Name in the folder of the cache       | What it is                                            |
/// |---------------------------------------|-------------------------------------------------------|
/// | `format`                              | the mark of the folder, with the number of its format |
/// | `<SHA-256 of the URL>.head`           | a ``HeadFile``                                        |
/// | `<16 hexadecimal digits>.body`        | the body of an entry, by its number                   |
/// | `<16 hexadecimal digits>.new`         | one of them that is being written                     |
///
/// Each file is written aside, waited for (fdatasync(2)), and renamed, a head after its body: so neither a
/// process that is killed nor a loss of power leaves a name over other bytes. Bodies never change. A head
/// file is changed by writing another one; if another process has done so meanwhile, its version is changed
/// instead.
///
/// Used on the queues of a store; every call may wait for the disk.
final class DiskTier: Sendable {
    /// The folder of ours in the directory of the caller.
    static let folderName = "OperationNetworking.cache"
    static let formatName = "format"
    static let format = Data("OperationNetworking cache \(HeadFile.format)\n".utf8)
    /// The microseconds after which a use is noted again.
    private static let useInterval: Int64 = 60 * 1_000_000
    /// The microseconds after which a file that is not written any more is abandoned.
    private static let abandonment: Int64 = 3600 * 1_000_000
    /// What a file takes on the disk, in bytes, is a multiple of this.
    static let blockLength: Int64 = 4096
    /// The longest head file, in bytes. A longer one is not ours.
    private static let maximumHeadLength: Int64 = 64 << 20
    /// The bytes that are written between two requests to the kernel to pass them on to the disk.
    private static let writebackLength: Int64 = 8 << 20

    private let path: String
    private let watch: (@Sendable (FileChange) throws -> Void)?
    private let folder = Locked<CacheFolder?>(nil)
    private let limit: Locked<Int64>

    /// - Parameters:
    ///   - path: of the caller's directory.
    ///   - capacity: in bytes.
    ///   - watch: called before each change of a file.
    init(path: String, capacity: Int64, watch: (@Sendable (FileChange) throws -> Void)? = nil) {
        self.path = path
        self.watch = watch
        limit = Locked(max(capacity, 0))
    }

    var capacity: Int64 {
        get { limit.withLock { $0 } }
        set { limit.withLock { $0 = max(newValue, 0) } }
    }

    /// The length of the longest body.
    var maximumLength: Int64 { capacity / 2 }

    // MARK: - The folder

    /// Opens the folder. One of another format, or without its mark, is emptied.
    private func opened() throws -> CacheFolder {
        try folder.withLock { folder in
            if let folder { return folder }
            let opened = try CacheFolder(Self.folderName, in: CacheFolder(path: path), watch: watch)
            try opened.whileLocked {
                let mark = try? opened.open(Self.formatName)?.read(Self.format.count + 1, at: 0)
                guard mark != Self.format else { return }
                try Self.empty(opened)
                try Self.write(Self.format, as: Self.formatName, in: opened)
            }
            folder = opened
            return opened
        }
    }

    /// Opens the folder anew if somebody has removed it, with its directory perhaps.
    private func whileOpen<Result>(_ work: (CacheFolder) throws -> Result) throws -> Result {
        do {
            return try work(opened())
        } catch let error as SystemError where error.code == SystemError.missing {
            folder.withLock { $0 = nil }
            return try work(opened())
        }
    }

    private static func empty(_ folder: CacheFolder) throws {
        try folder.forEachName { name in
            if CacheFileName(name) != nil { try folder.remove(name) }
        }
        try folder.synchronize()
    }

    private static func write(_ bytes: Data, as name: String, in folder: CacheFolder) throws {
        let new = CacheFileName.new
        do {
            let file = try folder.create(new)
            try file.write(bytes.span, at: 0)
            try file.synchronize()
            try folder.rename(new, to: name)
        } catch {
            try? folder.remove(new)
            throw error
        }
    }

    // MARK: - Heads

    /// What a look at a head file found.
    enum Look {
        /// The version that is known.
        case same
        /// Another one; `nil`: there is none, or it is of no use.
        case other(HeadFile?)
    }

    /// Looks for the responses of a URL.
    ///
    /// - Parameters:
    ///   - url: of the responses.
    ///   - generation: the version that is known.
    ///   - partition: the one that is asked for: its bodies are used.
    /// - Returns: the version that was found.
    func look(at url: String, known generation: UInt64?, using partition: String) -> Look {
        guard let folder = try? opened(), let name = CacheFileName.head(url),
            let file = try? folder.open(name), let octets = try? Self.octets(of: file),
            let found = HeadFile.generation(octets)
        else { return generation == nil ? .same : .other(nil) }
        let isUsed = noteUse(of: file)
        if found == generation, !isUsed { return .same }
        guard let heads = HeadFile(encoded: octets, for: url) else { return .other(nil) }
        if isUsed {
            for variant in heads.variants where variant.partition == partition {
                (try? folder.open(CacheFileName.body(variant.entry.id)))?.noteUse()
            }
        }
        return .other(heads)
    }

    /// The octets of a head file; `nil` if there is none, or one that is not ours, which is replaced. One that
    /// cannot be opened or read now may well be ours: then this fails, so that its responses are not taken for
    /// removed.
    private static func octets(of name: String, in folder: CacheFolder) throws -> Data? {
        do {
            return try folder.open(name).map { try octets(of: $0) }
        } catch is CacheFolder.Distrust {
            return nil
        } catch let error as SystemError where error.code == SystemError.tooLarge {
            return nil
        }
    }

    private static func octets(of file: CacheFile) throws -> Data {
        guard file.usage.length <= maximumHeadLength else { throw SystemError(SystemError.tooLarge, "read") }
        return try file.read(Int(file.usage.length), at: 0)
    }

    /// Notes that a file is used, if that was not noted for long.
    ///
    /// - Returns: whether it was noted now.
    @discardableResult
    private func noteUse(of file: CacheFile) -> Bool {
        let age = Self.now - file.usage.time
        guard age > Self.useInterval || age < -Self.useInterval else { return false }
        file.noteUse()
        return true
    }

    /// Changes the head file of a URL, and removes the bodies that it does not name any more.
    ///
    /// - Returns: the file after the change; `nil`: there is none.
    func change(_ url: String, by change: StoreChange) throws -> HeadFile? {
        try whileOpen { folder in
            guard let name = CacheFileName.head(url) else {
                throw SystemError(SystemError.busy, "hash \(url)")
            }
            for _ in 0..<8 {
                let octets = try Self.octets(of: name, in: folder)
                let old = octets.flatMap { HeadFile(encoded: $0, for: url) }
                var variants = old?.variants ?? []
                change.apply(to: &variants)
                if variants == old?.variants || old == nil && variants.isEmpty { return old }
                let generation = octets.flatMap { HeadFile.generation($0) }
                guard let new = try replace(name, generation, by: variants, in: folder) else { continue }
                let kept = Set(variants.map(\.entry.id))
                for variant in old?.variants ?? [] where !kept.contains(variant.entry.id) {
                    try? folder.remove(CacheFileName.body(variant.entry.id))
                }
                return new.variants.isEmpty ? nil : new
            }
            throw SystemError(SystemError.busy, "change \(name)")
        }
    }

    /// Puts a head file in place of a version of it.
    ///
    /// - Returns: `nil` if there is another version by now.
    private func replace(
        _ name: String,
        _ generation: UInt64?,
        by variants: [StoredVariant],
        in folder: CacheFolder
    ) throws -> HeadFile? {
        let file = HeadFile(variants)
        let new = CacheFileName.new
        do {
            if !variants.isEmpty {
                let written = try folder.create(new)
                try written.write(file.encoded.span, at: 0)
                try written.synchronize()
            }
            let isReplaced = try folder.whileLocked { () throws -> Bool in
                let present = try? folder.open(name)?.read(HeadFile.generationEnd, at: 0)
                guard present.flatMap({ HeadFile.generation($0) }) == generation else { return false }
                if variants.isEmpty { try folder.remove(name) } else { try folder.rename(new, to: name) }
                return true
            }
            if isReplaced { return file }
            try folder.remove(new)
            return nil
        } catch {
            try? folder.remove(new)
            throw error
        }
    }

    /// Removes the head file of a URL: its responses are not found any more. Needs no room on the disk.
    func remove(_ url: String) throws {
        guard let name = CacheFileName.head(url) else { return }
        try opened().remove(name)
    }

    func removeAll() throws {
        try Self.empty(opened())
    }

    /// Waits until what was removed stays so after a loss of power.
    func synchronizeNames() {
        try? opened().synchronize()
    }

    // MARK: - Bodies

    /// A body on its way to the disk. Used on the writing queue; a failure is kept, and makes the entry be
    /// dropped.
    final class Body: @unchecked Sendable {
        // @unchecked: used on the writing queue of a store only.

        private let tier: DiskTier
        private let name = CacheFileName.new
        private var file: CacheFile?
        private var length: Int64 = 0
        /// The bytes that the kernel was asked to pass on to the disk.
        private var passedOn: Int64 = 0
        private(set) var hasFailed = false

        init(_ tier: DiskTier) {
            self.tier = tier
        }

        /// Writes the next bytes.
        func write(_ bytes: Data) {
            attempt {
                let file = try open()
                let end = length + Int64(bytes.count)
                guard end <= tier.maximumLength else { throw SystemError(SystemError.tooLarge, "write") }
                try file.write(bytes.span, at: length)
                length = end
                guard end - passedOn >= DiskTier.writebackLength else { return }
                file.beginWriteback(passedOn..<end)
                passedOn = end
            }
        }

        /// Gives the file its name when its bytes are on the disk.
        ///
        /// - Returns: whether it has it.
        func finish(as id: Int64) -> Bool {
            attempt {
                let file = try open()
                try file.synchronize()
                try tier.opened().rename(name, to: CacheFileName.body(id))
                self.file = nil
            }
            return !hasFailed
        }

        /// Removes what was written.
        func abandon() {
            hasFailed = true
            guard file != nil else { return }
            file = nil
            try? tier.opened().remove(name)
        }

        private func attempt(_ work: () throws -> Void) {
            guard !hasFailed else { return }
            do {
                try work()
            } catch {
                abandon()
            }
        }

        private func open() throws -> CacheFile {
            if let file { return file }
            let created = try tier.whileOpen { try $0.create(name) }
            file = created
            return created
        }
    }

    /// Removes a body that no head file names.
    func removeBody(_ id: Int64) {
        try? opened().remove(CacheFileName.body(id))
    }

    /// Opens a body; `nil` if there is none of this length.
    func openBody(_ entry: CacheEntry) -> CacheFile? {
        guard let file = try? opened().open(CacheFileName.body(entry.id)),
            file.usage.length == entry.head.length
        else { return nil }
        noteUse(of: file)
        return file
    }

    // MARK: - Room

    /// The bytes of all files.
    func count() -> Int64 {
        var bytes: Int64 = 0
        try? forEachFile { _, _, usage in bytes += Self.size(of: usage) }
        return bytes
    }

    /// Removes the least recently used files if all exceed the capacity, and those that were left behind by
    /// processes that are gone.
    func shrink() {
        let now = Self.now
        let capacity = capacity
        var bytes: Int64 = 0
        try? forEachFile { folder, name, usage in
            if name.kind == .new, now - usage.time > Self.abandonment {
                try folder.remove(name.text)
            } else {
                bytes += Self.size(of: usage)
            }
        }
        guard bytes > capacity else { return }
        // Names are collected only if something has to go.
        var files: [(name: String, time: Int64, size: Int64)] = []
        try? forEachFile { _, name, usage in
            // A use in the future is of a clock that was ahead: as the newest, it would have each new file go
            // first.
            let time = usage.time > now + Self.useInterval ? 0 : usage.time
            files.append((name.text, time, Self.size(of: usage)))
        }
        files.sort { $0.time < $1.time }
        // Some more, so that not each new entry removes another.
        for file in files where bytes > capacity - capacity / 10 {
            guard let folder = try? opened(), (try? folder.remove(file.name)) != nil else { return }
            bytes -= file.size
        }
    }

    private func forEachFile(_ body: (CacheFolder, CacheFileName, CacheFile.Usage) throws -> Void) throws {
        let folder = try opened()
        try folder.forEachName { text in
            guard let name = CacheFileName(text), let usage = folder.usage(of: text) else { return }
            try body(folder, name, usage)
        }
    }

    /// Microseconds since 1970, as in ``CacheFile/Usage/time``.
    private static var now: Int64 { Int64(Date().timeIntervalSince1970 * 1_000_000) }

    private static func size(of usage: CacheFile.Usage) -> Int64 {
        (usage.length + blockLength - 1) / blockLength * blockLength
    }

    // MARK: - Earlier builds

    /// Removes the files of builds that had an SQLite index in the caller's directory, by their names, if
    /// that index has their mark.
    func removeEarlierFiles() {
        let index = "index.sqlite"
        guard let directory = try? CacheFolder(path: path),
            let mark = try? directory.open(index)?.read(4, at: 68), mark == Data("OpNC".utf8)
        else { return }
        try? directory.forEachName { name in
            let parts = name.split(separator: ".", omittingEmptySubsequences: false)
            guard parts.count == 2, ["body", "part"].contains(parts[1]), Int64(parts[0]) != nil else {
                return
            }
            try directory.remove(name)
        }
        // The index last: until then the rest is known to be of such a build.
        for suffix in ["-wal", "-shm", "-journal", ""] { try? directory.remove(index + suffix) }
    }
}

/// A name of ours in the folder of the cache.
struct CacheFileName: Hashable, Sendable {
    enum Kind: String, Sendable {
        case head, body, new
    }

    let kind: Kind
    let text: String

    /// `nil` for a name that the cache does not give.
    init?(_ text: String) {
        guard let dot = text.utf8.lastIndex(of: UInt8(ascii: ".")),
            let kind = Kind(rawValue: String(text[text.utf8.index(after: dot)...]))
        else { return nil }
        let digits = text.utf8[..<dot]
        guard digits.count == (kind == .head ? 64 : 16),
            digits.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) })
        else { return nil }
        self.kind = kind
        self.text = text
    }

    /// The head file of a URL; `nil` if no digest is computed here.
    static func head(_ url: String) -> String? {
        (try? url.utf8Span.span.sha256Text()).map { $0 + ".head" }
    }

    static func body(_ id: Int64) -> String { hexadecimal(UInt64(bitPattern: id)) + ".body" }

    /// A random one for a file that is about to be written.
    static var new: String { hexadecimal(.random(in: 0 ... .max)) + ".new" }

    private static func hexadecimal(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
