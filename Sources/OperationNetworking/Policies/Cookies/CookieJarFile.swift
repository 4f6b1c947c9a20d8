import Dispatch
package import Foundation
internal import OperationNetworkingSystem

/// A jar and its file, to which other processes may save their cookies at the same time.
///
/// A save reads the file, changes in it what the jar changed since the save before, and replaces it, all under
/// a lock. So cookies of others stay, and of several changes of one cookie the one that was saved last counts.
/// Callable from any thread.
package final class CookieJarFile: Sendable {
    /// What the file has of this jar.
    private struct Saved: Sendable {
        /// The jar's version then.
        var version: Int
        var cookies: [Cookie]
        /// Whether a save is on its way, or none is begun any more because one failed.
        var isBusy = false
    }

    package let jar: CookieJar
    private let file: URL
    private let patience: Int32
    private let saved: Locked<Saved>
    private let queue = DispatchQueue(label: "OperationNetworking.cookie-file", qos: .utility)

    /// Reads the file, if there is one.
    ///
    /// - Parameters:
    ///   - file: a file URL; not of a symbolic link.
    ///   - patience: the time in milliseconds that another process may hold the lock during a save.
    ///   - didSkip: called for each line that is not a cookie.
    /// - Throws: as `CookieJar(contentsOf:didSkip:)`.
    package init(
        _ file: URL,
        patience: Int32 = 5000,
        didSkip: (CookieFileError) -> Void = { _ in }
    ) throws {
        self.file = file
        self.patience = patience
        let isThere = FileManager.default.fileExists(atPath: file.path)
        jar = isThere ? try CookieJar(contentsOf: file, didSkip: didSkip) : CookieJar()
        saved = Locked(Saved(version: jar.version, cookies: jar.all(now: .secondsSince1970)))
    }

    /// Begins to save what changed, on a queue of its own; returns at once. After a failure it does nothing:
    /// ``save()`` tries again, and throws.
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

    /// Saves what changed, and makes the file if there is none. Waits for saves that were begun.
    ///
    /// - Throws: `CookieFileError` for a file that is none of cookies any more; a `CocoaError` for one that
    ///   cannot be read or written, or that another process holds longer than the patience. It stays as it is then.
    package func save() throws {
        try queue.sync { try merge() }
    }

    private func merge() throws {
        // Before the cookies: a change that comes in between is saved again.
        let version = jar.version
        let now = Int64.secondsSince1970
        let (before, after) = (saved.withLock { $0.cookies }, jar.all(now: now))
        do {
            try PrivateFile.update(path: file.path, patience: patience) { bytes in
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
    /// The cookies of a file, with the changes of a jar.
    ///
    /// | Before        | After          | In the file | The result |
    /// |---------------|----------------|-------------|------------|
    /// | any, or none  | another, new   | any         | the new one |
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
