import Foundation
import FoundationNetworking
internal import OperationNetworkingSystem

/// Sees what is about to be stored, and answers, on any thread and at any time, with what is: `nil` is
/// nothing.
typealias CacheResponseHandler =
    @Sendable (CachedURLResponse, _ answer: @escaping @Sendable (CachedURLResponse?) -> Void) -> Void

/// One cache, as all of its users share it: the store, the rules, and the requests that are under way.
final class CachePlace: Sendable {
    /// The cache that was set.
    let cache: any ResponseStoring
    let store: any CacheStore
    let policy: CachePolicy
    let flights = CacheFlights()
    let watch: CacheWatch
    /// The time, in seconds since 1970.
    let now: @Sendable () -> Double

    init(
        _ cache: any ResponseStoring,
        store: any CacheStore,
        policy: CachePolicy = CachePolicy(),
        watch: CacheWatch = CacheWatch(),
        now: @escaping @Sendable () -> Double = { Date().timeIntervalSince1970 }
    ) {
        self.cache = cache
        self.store = store
        self.policy = policy
        self.watch = watch
        self.now = now
    }

    /// Of a caller who set no cache: nothing is stored.
    static let empty = CachePlace.of(ResponseCache(memoryCapacity: 0, diskCapacity: 0, directory: nil))

    private struct Known {
        weak var place: CachePlace?
    }

    private static let places = Locked<[ObjectIdentifier: Known]>([:])

    /// The one place of a cache: requests of two managers with the same cache are joined, too.
    static func of(_ cache: any ResponseStoring) -> CachePlace {
        places.withLock { places in
            let key = ObjectIdentifier(cache)
            if let place = places[key]?.place { return place }
            let place = CachePlace(cache, store: cache.cacheStore)
            places = places.filter { $0.value.place != nil }
            places[key] = Known(place: place)
            return place
        }
    }
}

extension CacheUse {
    /// The name that the caller hears.
    var source: ResponseSource {
        switch self {
        case .fresh: .cache
        case .validated: .validated
        case .stale: .stale
        }
    }
}

extension ResponseHead {
    /// `1.1` of `HTTP/1.1`.
    var versionNumber: String? {
        version.hasPrefix("HTTP/") ? String(version.dropFirst(5)) : nil
    }
}
