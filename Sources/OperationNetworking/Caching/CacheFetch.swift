import Foundation
import FoundationNetworking
internal import OperationNetworkingSystem

/// One request that a cached transfer sends to the server: the inquiry that decides what its response is used
/// for, and the body that is stored while it arrives.
///
/// Used on the network thread.
final class CacheFetch: @unchecked Sendable {
    // @unchecked: used on the network thread only.

    /// Where the received bytes go.
    private enum StorageState {
        case nothing
        case writing(StoredBodyWriter, CachedHead)
        /// The caller's closure sees the response before it is stored.
        case showing(CachedHead, Data)
    }

    let id: TransferID
    let inquiry: CacheInquiry
    var use: CacheInquiry.Use?
    private let willStore: CacheResponseHandler?
    /// When the request was sent, for the store.
    private(set) var start: StoreMoments.Moment
    /// Whether the request itself has invalidated stored responses.
    private var hasInvalidated = false
    private var storage = StorageState.nothing
    /// The number of bytes received for the store.
    private var length: Int64 = 0
    /// The longest body that is passed to the caller's closure.
    private var limit = 0
    /// The number of bytes from the server that were passed to the client.
    var passed: Int64 = 0
    /// The limit of the time for which the store may be full.
    var fullLimit: StoreTimeouts.Wait?
    /// Whether the body is received for neither the client nor the store.
    var isUnused = false
    /// The value of `Authentication-Info`. It concerns this exchange only, so it is not stored.
    var authenticationInfo: String?

    init(
        _ id: TransferID,
        _ inquiry: CacheInquiry,
        since start: StoreMoments.Moment,
        willStore: CacheResponseHandler?
    ) {
        self.start = start
        self.id = id
        self.inquiry = inquiry
        self.willStore = willStore
    }

    // MARK: - Storing

    /// Records that the request itself has invalidated stored responses: its own response is newer than that.
    func didChange(_ store: ResponseStore) {
        start = store.moment
        hasInvalidated = true
    }

    /// Starts storing the body, with `head`.
    func keep(_ head: CachedHead, in cache: ResponseCache, _ entries: [CacheEntry]) {
        limit = cache.maximumBodyLength
        if willStore != nil {
            if head.length <= limit { storage = .showing(head, Data()) }
        } else if let writer = cache.store.write(head, at: target(of: head, entries)) {
            storage = .writing(writer, head)
        }
    }

    /// What a response with this head replaces, of the entries stored under the key.
    private func target(of head: CachedHead, _ entries: [CacheEntry]) -> StoredBodyWriter.Target {
        let replaced = CachePolicy.replaced(entries.map(\.head), by: head, for: inquiry.request)
        let invalidated = entries.lazy.filter(\.head.isInvalidated).map(\.id)
        return StoredBodyWriter.Target(
            key: inquiry.request.key,
            replacing: Set(replaced.map { entries[$0].id }),
            invalidated: hasInvalidated ? nil : Set(invalidated),
            start: start
        )
    }

    var isKeeping: Bool {
        if case .nothing = storage { false } else { true }
    }

    /// Whether the response will not be stored, because it is too long or the disk has failed.
    var isLost: Bool {
        switch storage {
        case .nothing: true
        case .writing(let writer, _): writer.isLost
        case .showing: false
        }
    }

    /// Whether enough bytes wait for the store. `whenReady` is called on any thread once they no longer do.
    func isFull(_ whenReady: @escaping @Sendable () -> Void) -> Bool {
        guard case .writing(let writer, _) = storage else { return false }
        if writer.whenReady == nil { writer.whenReady = whenReady }
        return writer.isFull
    }

    /// Whether enough bytes still wait for the store.
    var isFull: Bool {
        guard case .writing(let writer, _) = storage else { return false }
        return writer.isFull
    }

    func take(_ bytes: Span<UInt8>) {
        switch storage {
        case .nothing:
            return
        case .writing(let writer, _):
            writer.append(bytes)
        case .showing(let head, var data):
            storage = .nothing
            guard data.count + bytes.count <= limit else { return }
            data.append(bytes)
            storage = .showing(head, data)
        }
        length += Int64(bytes.count)
    }

    /// Discards what was received for the store.
    func abandon() {
        if case .writing(let writer, _) = storage { writer.abandon() }
        storage = .nothing
    }

    /// Stores the response if its body is complete.
    ///
    /// - Parameters:
    ///   - store: the store.
    ///   - entries: the entries that are stored under the key.
    ///   - isWhole: whether the framing of the message proves that the body is complete.
    ///   - didStore: called on any thread with whether the response was stored.
    func finish(
        in store: ResponseStore,
        _ entries: [CacheEntry],
        isWhole: Bool,
        didStore: (@Sendable (Bool) -> Void)? = nil
    ) {
        let storage = storage
        self.storage = .nothing
        switch storage {
        case .nothing:
            didStore?(false)
        case .writing(let writer, let head):
            guard let ended = head.ended(at: length, isWhole: isWhole) else {
                writer.abandon()
                didStore?(false)
                return
            }
            Self.commit(writer, ended, inquiry.request.key, in: store, didStore)
        case .showing(let head, let data):
            guard let willStore, let complete = head.ended(at: length, isWhole: isWhole),
                let response = complete.head.response(for: inquiry.request.url)
            else {
                didStore?(false)
                return
            }
            let target = target(of: head, entries)
            willStore(CachedURLResponse(response: response, data: data)) { answer in
                guard let answer, let changed = complete.changed(from: response, data, by: answer),
                    let writer = store.write(
                        changed,
                        at: target,
                        inMemoryOnly: answer.storagePolicy == .allowedInMemoryOnly
                    )
                else {
                    didStore?(false)
                    return
                }
                writer.append(answer.data.span)
                Self.commit(writer, changed, target.key, in: store, didStore)
            }
        }
    }

    /// Stores the response, and then removes those to equal requests that were stored in the meantime.
    private static func commit(
        _ writer: StoredBodyWriter,
        _ head: CachedHead,
        _ key: CacheKey,
        in store: ResponseStore,
        _ didStore: (@Sendable (Bool) -> Void)?
    ) {
        let others = store.known(key).filter { head.overtakes($0.head) }.map(\.id)
        writer.commit(head) { entry in
            if entry != nil { for id in others { store.remove(id, of: key) } }
            didStore?(entry != nil)
        }
    }
}

extension CachedHead {
    /// The response as the caller's closure wants it stored.
    ///
    /// - Parameters:
    ///   - response: the head that the closure received.
    ///   - data: the body that the closure received.
    ///   - answer: the response that the closure returned.
    /// - Returns: `nil` if the response must not be stored.
    fileprivate func changed(
        from response: HTTPURLResponse,
        _ data: Data,
        by answer: CachedURLResponse
    ) -> CachedHead? {
        guard answer.storagePolicy != .notAllowed, let changed = answer.response as? HTTPURLResponse,
            !ResponseStatus(changed.statusCode).isNeverStored
        else { return nil }
        var result = self
        if changed !== response {
            result.head.status = changed.statusCode
            let fields = changed.allHeaderFields.compactMap { name, value in
                (name as? String).map { ($0, "\(value)") }
            }
            result.head.fields = HeaderFields(Dictionary(fields, uniquingKeysWith: { first, _ in first }))
        }
        let length = Int64(answer.data.count)
        if !isDecoded { result.head.fields["Content-Length"] = "\(length)" }
        if answer.data != data { result.holdOtherBytes() }
        result.length = length
        return result
    }
}

/// The client of a background revalidation. It discards the body and stores cookies.
final class CacheDiscarder: TransferClient {
    private let jar: CookieJar?

    init(_ jar: CookieJar?) {
        self.jar = jar
    }

    func transferDidReceive(_ head: ResponseHead) -> HeadAnswer { .receive }
    func transferDidReceive(_ changes: CookieChanges) { jar?.store(changes) {} }
    var transferMustWait: Bool { false }
    func transferDidReceive(_ bytes: Span<UInt8>) {}
    func transferDidSend(_ count: Int) {}
    func transferDidSeek(to offset: Int64) {}
    func transferDidComplete(_ end: TransferEnd) {}
}
