import Foundation
internal import OperationNetworkingSystem

/// The cancelled and failed downloads of this process that still have their partial files open. Later downloads to
/// the same destinations wait for them.
///
/// An operation finishes before its file is closed, and the next one for the same name is often created at once.
enum ClosingDownloads {
    private struct Place {
        var count = 0
        var waiting: [@Sendable () -> Void] = []
    }

    private static let places = Locked<[String: Place]>([:])

    static func enter(_ destination: URL) {
        places.withLock { $0[key(destination), default: Place()].count += 1 }
    }

    static func leave(_ destination: URL) {
        let key = key(destination)
        let waiting = places.withLock { places -> [@Sendable () -> Void] in
            guard let place = places.removeValue(forKey: key) else { return [] }
            // Even if others are still closing, because this one may have had the file.
            if place.count > 1 { places[key] = Place(count: place.count - 1) }
            return place.waiting
        }
        for body in waiting { body() }
    }

    /// Waits for a download that is closing its files.
    /// - Returns: whether `body` will be called, once, on any thread. If not, there is no such download.
    static func wait(for destination: URL, _ body: @escaping @Sendable () -> Void) -> Bool {
        let key = key(destination)
        return places.withLock { places in
            guard places[key] != nil else { return false }
            places[key]?.waiting.append(body)
            return true
        }
    }

    private static func key(_ destination: URL) -> String { destination.standardizedFileURL.path }
}
