import Foundation
internal import OperationNetworkingSystem

/// The cancelled and failed downloads of this process that still have their partial files open. Later downloads to
/// the same destinations wait for them.
///
/// An operation finishes before its file is closed, and the next one for the same name is often created at once.
struct ClosingDownloads {
    private struct Place {
        var count = 0
        var waiting: [@Sendable () -> Void] = []
    }

    private static let shared = Locked(ClosingDownloads())

    private var places: [String: Place] = [:]

    // MARK: - Of the process

    static func enter(_ destination: URL) {
        shared.change { $0.enter(destination) }
    }

    static func leave(_ destination: URL) {
        for body in shared.withLock({ $0.leave(destination) }) { body() }
    }

    /// Waits for a download that is closing its files.
    /// - Returns: whether `body` will be called, once, on any thread. If not, there is no such download.
    static func wait(for destination: URL, _ body: @escaping @Sendable () -> Void) -> Bool {
        shared.withLock { $0.wait(for: destination, body) }
    }

    // MARK: - The table

    mutating func enter(_ destination: URL) {
        places[Self.key(destination), default: Place()].count += 1
    }

    /// - Returns: the closures of the waiting downloads, to be called without a lock held.
    mutating func leave(_ destination: URL) -> [@Sendable () -> Void] {
        let key = Self.key(destination)
        guard let place = places.removeValue(forKey: key) else { return [] }
        // Even if others are still closing, because this one may have had the file.
        if place.count > 1 { places[key] = Place(count: place.count - 1) }
        return place.waiting
    }

    mutating func wait(for destination: URL, _ body: @escaping @Sendable () -> Void) -> Bool {
        let key = Self.key(destination)
        guard places[key] != nil else { return false }
        places[key]?.waiting.append(body)
        return true
    }

    private static func key(_ destination: URL) -> String { destination.standardizedFileURL.path }
}
