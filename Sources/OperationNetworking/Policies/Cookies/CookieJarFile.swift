import Dispatch
package import Foundation
internal import OperationNetworkingSystem

/// A jar and its file, which other processes may write at the same time.
///
/// A save reads the file, applies the jar's changes since the previous save, and replaces the file, all under
/// a lock. The cookies of other processes are kept; if several change the same cookie, the last save wins.
/// Callable from any thread.
package final class CookieJarFile: Sendable {
    /// The state of the jar that was last saved.
    private struct Saved: Sendable {
        /// The jar's version at that save.
        var version: Int
        var cookies: [Cookie]
        /// Whether a save is running, or saving has stopped after a failure.
        var isBusy = false
    }

    package let jar: CookieJar
    private let file: URL
    private let lockTimeout: Int32
    private let saved: Locked<Saved>
    private let queue = DispatchQueue(label: "OperationNetworking.cookie-file", qos: .utility)

    /// Reads the file, if there is one.
    ///
    /// - Parameters:
    ///   - file: a file URL; must not be a symbolic link.
    ///   - lockTimeout: the time in milliseconds that another process may hold the lock during a save.
    ///   - didSkip: called for each line that is not a cookie.
    /// - Throws: as `CookieJar(contentsOf:didSkip:)`.
    package init(
        _ file: URL,
        lockTimeout: Int32 = 5000,
        didSkip: (CookieFileError) -> Void = { _ in }
    ) throws {
        self.file = file
        self.lockTimeout = lockTimeout
        let isThere = FileManager.default.fileExists(atPath: file.path)
        jar = isThere ? try CookieJar(contentsOf: file, didSkip: didSkip) : CookieJar()
        saved = Locked(Saved(version: jar.version, cookies: jar.all(now: .secondsSince1970)))
    }

    /// Starts saving changes on a private queue; returns at once. After a failure it does nothing; ``save()``
    /// tries again and throws.
    package func saveSoon() {
        let begins = saved.withLock { saved in
            guard !saved.isBusy, saved.version != jar.version else { return false }
            saved.isBusy = true
            return true
        }
        guard begins else { return }
        queue.async { [self] in
            guard (try? merge()) != nil else { return }
            saved.withLock { $0.isBusy = false }
        }
    }

    /// Saves changes; creates the file if it does not exist. Waits for saves that are running.
    ///
    /// - Throws: `CookieFileError` if the file is no longer a cookie file; a `CocoaError` if it cannot be
    ///   read or written, or if another process holds the lock longer than `lockTimeout`. The file is then
    ///   unchanged.
    package func save() throws {
        try queue.sync { try merge() }
    }

    private func merge() throws {
        // Read before the cookies, so that a change in between is saved again.
        let version = jar.version
        let now = Int64.secondsSince1970
        let (before, after) = (saved.withLock { $0.cookies }, jar.all(now: now))
        do {
            try PrivateFile.update(path: file.path, lockTimeout: lockTimeout) { bytes in
                let held = try CookieJar.cookies(of: Data(bytes))
                let merged = CookieTable(held, changedFrom: before, to: after, now: now).cookies(now: now)
                return Array(CookieJar.text(merged).utf8)
            }
        } catch let error as SystemError {
            throw CocoaError.file(error, file)
        }
        saved.withLock { ($0.version, $0.cookies) = (version, after) }
    }
}

extension CookieTable {
    /// Merges the changes of a jar into the cookies of its file.
    ///
    /// | Before        | After          | In the file | The result |
    /// |---------------|----------------|-------------|------------|
    /// | any, or none  | changed or new | any         | the jar's  |
    /// | equal         | equal          | any         | the file's |
    /// | valid         | none           | any         | none       |
    /// | expired since | none           | any         | the file's |
    init(_ held: [Cookie], changedFrom before: [Cookie], to after: [Cookie], now: Int64) {
        self.init()
        let old = Dictionary(before.map { ($0.identity, $0) }, uniquingKeysWith: { $1 })
        let left = Set(after.map(\.identity))
        for cookie in held { set(cookie, now: now) }
        for cookie in before where !left.contains(cookie.identity) && !cookie.hasExpired(by: now) {
            remove(cookie.identity)
        }
        for cookie in after where old[cookie.identity] != cookie { set(cookie, now: now) }
    }
}
