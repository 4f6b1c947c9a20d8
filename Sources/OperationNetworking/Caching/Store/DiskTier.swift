import Foundation
internal import OperationNetworkingSystem

/// The files of a cache: one per URL with the heads of its responses, and one per body.
///
/// | Name in the folder of the cache       | Content                                               |
/// |---------------------------------------|-------------------------------------------------------|
/// | `format`                              | the mark of the folder, with its format number        |
/// | `<SHA-256 of the URL>.head`           | a ``HeadFile``                                        |
/// | `<16 hexadecimal digits>.body`        | the body of the entry with that number                |
/// | `<16 hexadecimal digits>.new`         | a file that is being written                          |
///
/// Every file is written under a temporary name, synchronized (fdatasync(2)), and renamed; a head after its
/// body. So neither a killed process nor a loss of power leaves a name on incomplete bytes. Bodies never
/// change. A head file is changed by replacing it; if another process has replaced it in the meantime, the
/// change is made to that version.
///
/// Used on the queues of a store. Every call may block on the disk.
final class DiskTier: Sendable {
    /// The name of the cache's folder in the caller's directory.
    static let folderName = "OperationNetworking.cache"
    static let formatName = "format"
    static let format = Data("OperationNetworking cache \(HeadFile.format)\n".utf8)
    /// How old, in microseconds, the last recorded use must be before a new one is recorded.
    private static let useInterval: Int64 = 60 * 1_000_000
    /// How old, in microseconds, the last count must be before a process counts before it writes.
    private static let countInterval: Int64 = 24 * 3600 * 1_000_000
    /// How old, in microseconds, an unfinished file must be before it counts as abandoned.
    private static let abandonment: Int64 = 3600 * 1_000_000
    /// The block size, in bytes: the space for a file is a multiple of it.
    static let blockLength: Int64 = 4096
    /// The longest head file, in bytes. A longer file was not written by the cache.
    private static let maximumHeadLength: Int64 = 64 << 20
    /// The number of bytes written between two requests to the kernel to start writing them to the disk.
    private static let writebackLength: Int64 = 8 << 20

    private let path: String
    private let watch: (@Sendable (FileChange) throws -> Void)?
    private let folder = Locked<CacheFolder?>(nil)
    private let limit: Locked<Int64>
    /// The bytes of the bodies that are being written.
    private let unfinished = Locked<Int64>(0)

    /// - Parameters:
    ///   - path: the path of the caller's directory.
    ///   - capacity: the capacity, in bytes.
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

    /// Opens the folder. It is emptied if it has another format or no mark; not if its mark cannot be read now.
    private func opened() throws -> CacheFolder {
        try folder.withLock { folder in
            if let folder { return folder }
            let opened = try CacheFolder(Self.folderName, in: CacheFolder(path: path), watch: watch)
            try opened.whileLocked {
                var mark: Data?
                do {
                    mark = try opened.open(Self.formatName)?.read(Self.format.count + 1, at: 0)
                } catch is CacheFolder.Untrusted {
                    // Not written by the cache.
                }
                guard mark != Self.format else { return }
                try Self.empty(opened)
                try Self.write(Self.format, as: Self.formatName, in: opened)
            }
            folder = opened
            return opened
        }
    }

    /// Opens the folder again if it was removed, perhaps with its directory.
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

    /// The result of a lookup of a head file.
    enum Look {
        /// The file is the version that the caller knows.
        case same
        /// The file is another version; `nil` if it is missing or invalid.
        case other(HeadFile?)
    }

    /// Looks up the responses of a URL.
    ///
    /// - Parameters:
    ///   - url: the URL.
    ///   - generation: the version that the caller knows.
    ///   - partition: the requested partition. A use of its bodies is recorded.
    /// - Returns: the version of the file.
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

    /// The octets of a head file; `nil` if it is missing, or was not written by the cache and may be
    /// replaced. Throws if the file cannot be opened or read now: it may be valid, and its responses must not
    /// be taken for removed.
    private static func octets(of name: String, in folder: CacheFolder) throws -> [UInt8]? {
        do {
            return try folder.open(name).map { try octets(of: $0) }
        } catch is CacheFolder.Untrusted {
            return nil
        } catch let error as SystemError where error.code == SystemError.tooLarge {
            return nil
        }
    }

    private static func octets(of file: CacheFile) throws -> [UInt8] {
        guard file.usage.length <= maximumHeadLength else { throw SystemError(SystemError.tooLarge, "read") }
        return try file.octets(Int(file.usage.length))
    }

    /// Records a use of the file, unless one was recorded recently.
    ///
    /// - Returns: whether it was recorded.
    @discardableResult
    private func noteUse(of file: CacheFile) -> Bool {
        let age = Self.now - file.usage.time
        guard age > Self.useInterval || age < -Self.useInterval else { return false }
        file.noteUse()
        return true
    }

    /// Changes the head file of a URL, and removes the bodies that it no longer names.
    ///
    /// - Returns: the file after the change; `nil` if it was removed.
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

    /// Replaces one version of a head file.
    ///
    /// - Returns: `nil` if the file is another version by now.
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
                let present = try? folder.open(name)?.octets(HeadFile.generationEnd)
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

    /// Removes the head file of a URL, so that its responses are no longer found. Works on a full disk.
    func remove(_ url: String) throws {
        guard let name = CacheFileName.head(url) else { return }
        let folder = try opened()
        // Another process may be about to replace it by a version that does not know of the removal.
        try folder.whileLocked { try folder.remove(name) }
    }

    func removeAll() throws {
        let folder = try opened()
        try folder.whileLocked { try Self.empty(folder) }
    }

    /// Waits until removals have reached the disk, so that they survive a loss of power.
    func synchronizeNames() {
        try? opened().synchronize()
    }

    // MARK: - Bodies

    /// A body that is being written. Used on the writing queue. A failure is recorded, and the entry is
    /// discarded at the end.
    final class Body: @unchecked Sendable {
        // @unchecked: used on the writing queue of a store only.

        private let tier: DiskTier
        /// The declared length; 0 if unknown.
        private let declaredLength: Int64
        private let name = CacheFileName.new
        private var file: CacheFile?
        private var length: Int64 = 0 {
            didSet { tier.unfinished.withLock { $0 += length - oldValue } }
        }
        /// The number of bytes that the kernel was asked to write to the disk.
        private var passedOn: Int64 = 0
        private(set) var hasFailed = false

        init(_ tier: DiskTier, declaredLength: Int64) {
            self.tier = tier
            self.declaredLength = declaredLength
        }

        /// Writes the next bytes. Fails if the body would exceed half of the capacity, or all bodies that are being
        /// written would exceed it.
        func write(_ bytes: Data) {
            attempt {
                let file = try open()
                let end = length + Int64(bytes.count)
                guard end <= tier.maximumLength,
                    tier.unfinished.withLock({ $0 }) + Int64(bytes.count) <= tier.capacity
                else { throw SystemError(SystemError.tooLarge, "write") }
                try file.write(bytes.span, at: length)
                length = end
                guard end - passedOn >= DiskTier.writebackLength else { return }
                try tier.checkRoom(for: declaredLength > 0 ? declaredLength - end : end)
                file.beginWriteback(passedOn..<end)
                passedOn = end
            }
        }

        /// Renames the file to its final name once its bytes are on the disk.
        ///
        /// - Returns: whether that succeeded.
        func finish(as id: Int64) -> Bool {
            attempt {
                let file = try open()
                try file.synchronize()
                try tier.opened().rename(name, to: CacheFileName.body(id))
                self.file = nil
                length = 0
            }
            return !hasFailed
        }

        /// Removes the file.
        func abandon() {
            hasFailed = true
            length = 0
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
            try tier.checkRoom(for: declaredLength)
            let created = try tier.whileOpen { try $0.create(name) }
            file = created
            return created
        }
    }

    /// Fails if the rest of a body would leave no room for another copy of that rest: the response may be a
    /// download to the same disk, which must not fail because of the cache. The rest of a body of unknown length is
    /// taken to be as long as what has been received of it.
    private func checkRoom(for rest: Int64) throws {
        guard rest > 0, let room = try opened().room, room < 2 * rest else { return }
        throw SystemError(SystemError.noSpace, "write")
    }

    /// Removes a body that no head file names.
    func removeBody(_ id: Int64) {
        try? opened().remove(CacheFileName.body(id))
    }

    /// Opens a body; `nil` if no file of this length exists.
    func openBody(_ entry: CacheEntry) -> CacheFile? {
        guard let file = try? opened().open(CacheFileName.body(entry.id)),
            file.usage.length == entry.head.length
        else { return nil }
        noteUse(of: file)
        return file
    }

    // MARK: - Room

    /// The size of all files, in bytes.
    func count() -> Int64 {
        var bytes: Int64 = 0
        try? forEachFile { _, _, usage in bytes += Self.size(of: usage) }
        return bytes
    }

    /// Whether the files were last counted more than a day ago, by any process.
    var isCountDue: Bool {
        guard let folder = try? opened(), let usage = folder.usage(of: Self.formatName) else { return false }
        let age = Self.now - usage.time
        return age > Self.countInterval || age < -Self.useInterval
    }

    /// Removes the least recently used files if all of them exceed the capacity, and files that other
    /// processes have abandoned.
    func shrink() {
        let now = Self.now
        let capacity = capacity
        var bytes: Int64 = 0
        // At the end: a process that ends before has not counted.
        defer { (try? opened().open(Self.formatName))?.noteUse() }
        try? forEachFile { folder, name, usage in
            if name.kind == .new, now - usage.time > Self.abandonment {
                try folder.remove(name.text)
            } else {
                bytes += Self.size(of: usage)
            }
        }
        guard bytes > capacity else { return }
        // Names are only collected if something has to be removed.
        var files: [(name: String, time: Int64, size: Int64)] = []
        try? forEachFile { _, name, usage in
            // A time in the future comes from a clock that was ahead. As the newest use, it would make every
            // new file be removed first.
            let time = usage.time > now + Self.useInterval ? 0 : usage.time
            files.append((name.text, time, Self.size(of: usage)))
        }
        files.sort { $0.time < $1.time }
        // Removes some more, so that not every new entry has to remove another.
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

    /// The time in microseconds since 1970, as in ``CacheFile/Usage/time``.
    private static var now: Int64 { Int64(Date().timeIntervalSince1970 * 1_000_000) }

    private static func size(of usage: CacheFile.Usage) -> Int64 {
        (usage.length + blockLength - 1) / blockLength * blockLength
    }

    // MARK: - Earlier builds

    /// Removes the files of earlier builds, which kept an SQLite index in the caller's directory. They are
    /// recognized by their names and by the mark in that index.
    func removeEarlierFiles() {
        let index = "index.sqlite"
        guard let directory = try? CacheFolder(path: path),
            let mark = try? directory.open(index)?.read(4, at: 68), mark == Data("OpNC".utf8)
        else { return }
        try? directory.forEachName { name in
            let parts = name.split(separator: ".", omittingEmptySubsequences: false)
            guard parts.count == 2, parts[1] == "body", Int64(parts[0]) != nil else { return }
            try directory.remove(name)
        }
        // The index is removed last: until then it identifies the other files.
        for suffix in ["-wal", "-shm", "-journal", ""] { try? directory.remove(index + suffix) }
    }
}

/// A name that the cache uses in its folder.
struct CacheFileName: Hashable, Sendable {
    enum Kind: String, Sendable {
        case head, body, new
    }

    let kind: Kind
    let text: String

    /// Fails for a name that the cache does not use.
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

    /// The name of the head file of a URL; `nil` if no digest can be computed.
    static func head(_ url: String) -> String? {
        (try? url.utf8Span.span.sha256Text()).map { $0 + ".head" }
    }

    static func body(_ id: Int64) -> String { hexadecimal(UInt64(bitPattern: id)) + ".body" }

    /// A random name for a new file.
    static var new: String { hexadecimal(.random(in: 0 ... .max)) + ".new" }

    private static func hexadecimal(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
