public import Dispatch
public import Foundation
public import FoundationNetworking
public import OperationNetworking
internal import OperationNetworkingImagesSystem

/// Fetches and decodes images, each once however many ask for it: AFNetworking 3's `AFImageDownloader`.
///
/// Requests with the same URL, method, header fields and cache policy, that ``manager`` sends as the same
/// user, share one transfer as long as it lasts: not those of a manager with request adapters or a closure
/// for challenges, which may name any user. At most ``maximumActiveDownloads`` run; the others wait, by
/// priority and in the order of ``prioritization``. An image that ``imageCache`` has comes without a transfer
/// and without a response, for the cache policies that allow it; it is kept there in the size of the
/// serializer: see ``ImageDecoder/cacheIdentifier``. Images of a serializer of your own are kept under the
/// name of its type, so two of one type that make different images need two caches. What a user's credential,
/// token, certificate or cookies opened comes from the cache for that user only.
///
/// ```swift
/// let image = try await ImageDownloader.shared.image(from: url)
/// ```
public final class ImageDownloader: Sendable {
    /// The order of those that wait with the same priority.
    public enum Prioritization: Sendable {
        /// The first one asked for starts first.
        case fifo
        /// The last one asked for starts first: for lists that are scrolled.
        case lifo
    }

    /// Called with the request of this handler, the response, and the image. From the cache, the response is
    /// `nil`.
    public typealias SuccessHandler =
        @isolated(any) @Sendable (URLRequest, HTTPURLResponse?, DecodedImage) -> Void

    /// Called with the request of this handler, the response if one came, and the error.
    public typealias FailureHandler =
        @isolated(any) @Sendable (URLRequest, HTTPURLResponse?, any Error) -> Void

    private struct Handler: Sendable {
        let request: URLRequest
        /// Called with the result on any thread; takes no time.
        let call: @Sendable (HTTPURLResponse?, Result<DecodedImage, any Error>) -> Void
    }

    /// Requests that share a transfer. Not by the URL alone: what one user's token opens is not another's,
    /// and what one policy lets in another one has to refuse.
    private struct Key: Hashable, Sendable {
        let url: String
        let method: String
        let fields: [String: String]
        let handlesCookies: Bool
        /// A cache of responses may answer the one, and not the other.
        let cachePolicy: URLRequest.CachePolicy
        /// A redirect may lead to where other cookies are sent than those that ``context`` knows of.
        let cookieVersion: Int?
        /// `nil`: it is not known as whom the manager sends it.
        let context: ImageContext?
        /// A transfer of its own, for a method that is not GET, and where the context is not known.
        let own: UUID?
    }

    private typealias Start = DownloadTable<Key, Handler>.Start

    private struct State {
        var table: DownloadTable<Key, Handler>
        var operations: [Int: HTTPRequestOperation] = [:]
    }

    /// A downloader for the whole program, with a cache of its own.
    public static let shared = ImageDownloader()

    /// Makes the operations: its settings, and its serializer, count for all downloads.
    public let manager: OperationManager
    /// The order of those that wait.
    public let prioritization: Prioritization
    /// The number of transfers at the same time. 4 unless set.
    public let maximumActiveDownloads: Int
    /// The images that are kept; `nil`: none.
    public let imageCache: (any ImageRequestCache)?
    private let state: Guarded<State>
    /// Where transfers end and answers are told: the downloader's own, so handlers wait for no main queue.
    private let queue = DispatchQueue(label: "OperationNetworking.ImageDownloader")

    /// A downloader.
    ///
    /// - Parameters:
    ///   - manager: `nil`: one of its own, with an ``ImageResponseSerializer``. Another one needs a
    ///     serializer whose objects are ``DecodedImage``s.
    ///   - prioritization: the order of those that wait.
    ///   - maximumActiveDownloads: transfers at the same time; at least 1.
    ///   - imageCache: the images that are kept; `nil`: none.
    public init(
        manager: OperationManager? = nil,
        prioritization: Prioritization = .fifo,
        maximumActiveDownloads: Int = 4,
        imageCache: (any ImageRequestCache)? = AutoPurgingImageCache()
    ) {
        self.manager = manager ?? Self.defaultManager()
        self.prioritization = prioritization
        self.maximumActiveDownloads = max(1, maximumActiveDownloads)
        self.imageCache = imageCache
        state = Guarded(
            State(
                table: DownloadTable(
                    limit: max(1, maximumActiveDownloads),
                    isLastFirst: prioritization == .lifo
                )
            )
        )
    }

    /// The number of transfers now, those that were stopped and have not ended included.
    public var activeDownloadCount: Int { state.withLock { $0.table.activeCount } }

    // MARK: - Asking

    /// Asks for an image.
    ///
    /// - Parameters:
    ///   - request: a GET mostly. Without a URL it fails with `URLError.badURL`.
    ///   - receiptID: the number of the receipt; a new one unless given. Two calls with one number have two
    ///     receipts, and each cancels its own handler.
    ///   - priority: which images start first. Of several handlers of an image, the highest counts.
    ///   - completionQueue: the queue of the handlers; `nil`: the main queue. One that is written in
    ///     main-actor code is called on the main queue.
    ///   - success: called once, unless `failure` is.
    ///   - failure: called once, unless `success` is; with `URLError.cancelled` after ``cancel(_:)``.
    /// - Returns: what cancels this handler; `nil` when the result is known already: from the cache, or a
    ///   request without a URL.
    @discardableResult
    public func downloadImage(
        for request: URLRequest,
        receiptID: UUID = UUID(),
        priority: Operation.QueuePriority = .normal,
        completionQueue: DispatchQueue? = nil,
        @_inheritActorContext success: SuccessHandler? = nil,
        @_inheritActorContext failure: FailureHandler? = nil
    ) -> ImageDownloadReceipt? {
        let queue = completionQueue ?? .main
        let handler = Handler(request: request) { response, result in
            switch result {
            case .success(let image):
                success.map { Callback($0, request, response, image) }?.perform(on: queue)
            case .failure(let error):
                failure.map { Callback($0, request, response, error) }?.perform(on: queue)
            }
        }
        let ticket = UUID()
        guard ask(handler, ticket, priority), let url = request.url else { return nil }
        return ImageDownloadReceipt(receiptID: receiptID, url: url, ticket: ticket)
    }

    /// The image of a request. Cancelling the task cancels this handler as ``cancel(_:)`` does.
    ///
    /// - Throws: the error of the transfer, of its serializer, or `URLError.cancelled`.
    public func image(
        for request: URLRequest,
        priority: Operation.QueuePriority = .normal
    ) async throws -> DecodedImage {
        let ticket = UUID()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let handler = Handler(request: request) { continuation.resume(with: $1) }
                _ = ask(handler, ticket, priority)
                // The cancellation may have come before there was anything to cancel.
                if Task.isCancelled { cancel(ticket) }
            }
        } onCancel: {
            cancel(ticket)
        }
    }

    /// The image behind a URL, asked for with `Accept: image/*`.
    ///
    /// - Throws: as ``image(for:priority:)``.
    public func image(from url: URL, priority: Operation.QueuePriority = .normal) async throws -> DecodedImage
    {
        var request = URLRequest(url: url)
        request.setValue("image/*", forHTTPHeaderField: "Accept")
        return try await image(for: request, priority: priority)
    }

    /// Cancels a handler, whose `failure` gets `URLError.cancelled`. The transfer is stopped when no other
    /// handler waits for it. After the end it does nothing.
    public func cancel(_ receipt: ImageDownloadReceipt) {
        cancel(receipt.ticket)
    }

    // MARK: - Private

    /// - Returns: whether the handler waits; else it was answered.
    private func ask(
        _ handler: Handler,
        _ ticket: UUID,
        _ priority: Operation.QueuePriority
    ) -> Bool {
        let request = handler.request
        guard let url = request.url, url.scheme != nil else {
            handler.call(nil, .failure(URLError(.badURL)))
            return false
        }
        let cookieVersion = cookieVersion
        let context = ImageContext(request, by: manager)
        if let image = cachedImage(for: request, context) {
            handler.call(nil, .success(image))
            return false
        }
        guard request.cachePolicy != .returnCacheDataDontLoad else {
            handler.call(nil, .failure(URLError(.resourceUnavailable)))
            return false
        }
        let key = Key(
            url: url.absoluteString,
            method: request.httpMethod ?? "GET",
            // The decoder reads any format, and `image(from:)` asks for `image/*`.
            fields: (request.allHTTPHeaderFields ?? [:]).filter { name, _ in
                name.lowercased() != "accept" && !SecretFields.marksMessage(name)
            },
            handlesCookies: request.httpShouldHandleCookies,
            cachePolicy: request.cachePolicy,
            cookieVersion: request.httpShouldHandleCookies ? cookieVersion : nil,
            context: context,
            own: request.isGet && context != nil ? nil : ticket
        )
        begin(state.withLock { $0.table.ask(for: key, ticket, handler, priority: priority.rawValue) })
        return true
    }

    /// Rises with each change of the manager's cookies.
    private var cookieVersion: Int? { manager.cookieJar?.version }

    private func cachedImage(for request: URLRequest, _ context: ImageContext?) -> DecodedImage? {
        guard request.takesCachedImage, let context, let imageCache else { return nil }
        let identifier = manager.responseSerializer.imageIdentifier
        if let cache = imageCache as? any KeyedImageCache {
            return ImageKey(request, identifier, context: context).flatMap(cache.image)
        }
        guard request.isForEveryUser(context) else { return nil }
        return imageCache.image(for: request, identifier: identifier)
    }

    /// Keeps an image that came to `context`.
    private func keep(
        _ image: DecodedImage,
        for request: URLRequest,
        _ context: ImageContext,
        _ identifier: String?
    ) {
        guard request.isGet, let imageCache else { return }
        let cache = imageCache as? any KeyedImageCache
        guard cache != nil || request.isForEveryUser(context),
            imageCache.shouldCache(image, for: request, identifier: identifier)
        else { return }
        guard let cache else { return imageCache.add(image, for: request, identifier: identifier) }
        if let key = ImageKey(request, identifier, context: context) { cache.add(image, key) }
    }

    private func cancel(_ ticket: UUID) {
        let (cancellation, operation) = state.withLock { state in
            let cancellation = state.table.cancel(ticket)
            return (cancellation, cancellation?.stopped.flatMap { state.operations[$0] })
        }
        operation?.cancel()
        cancellation?.handler.call(
            nil,
            .failure(
                URLError(
                    .cancelled,
                    userInfo: [
                        NSLocalizedFailureReasonErrorKey: "The download of the image was cancelled."
                    ]
                )
            )
        )
    }

    /// Begins transfers, without the lock, since a manager and a cache may be of classes of the user's. They
    /// keep the downloader until the last handler was told.
    private func begin(_ starts: [Start]) {
        var starts = starts[...]
        while let start = starts.popFirst() {
            if let image = cachedImage(for: start) {
                // The transfer of an earlier handler has brought it, after this one had looked for it.
                if let next = end(start, with: image) {
                    starts.append(contentsOf: next)
                    continue
                }
            }
            transfer(start)
        }
    }

    private func cachedImage(for start: Start) -> DecodedImage? {
        let request = state.withLock { $0.table.handlers(of: start.key).first?.request }
        return request.flatMap { cachedImage(for: $0, start.key.context) }
    }

    /// - Returns: the transfers that begin in the place of this one; `nil`: it is not wanted any more.
    private func end(_ start: Start, with image: DecodedImage) -> [Start]? {
        let end = state.withLock { state -> (handlers: [Handler], starts: [Start])? in
            guard state.table.isWanted(start.transfer, of: start.key) else { return nil }
            return state.table.end(start.transfer, of: start.key)
        }
        guard let end else { return nil }
        for handler in end.handlers { handler.call(nil, .success(image)) }
        return end.starts
    }

    /// Makes the operation of a transfer, with the request of its first handler, and adds it to the queue.
    private func transfer(_ start: Start) {
        let (request, next) = state.withLock { state -> (URLRequest?, [Start]) in
            guard state.table.isWanted(start.transfer, of: start.key) else {
                // The last handler was cancelled in between.
                return (nil, state.table.end(start.transfer, of: start.key).starts)
            }
            return (state.table.handlers(of: start.key).first?.request, [])
        }
        guard let request else { return begin(next) }
        let way = ImageWay(context: ImageContext(request, by: manager), cookieVersion: cookieVersion)
        let operation = manager.operation(
            for: request,
            success: { operation, object in
                let result: Result<DecodedImage, any Error> =
                    if let image = object as? DecodedImage {
                        .success(image)
                    } else {
                        .failure(URLError(.cannotDecodeContentData))
                    }
                self.end(start, operation, result, way)
            },
            failure: { operation, error in self.end(start, operation, .failure(error), way) }
        )
        operation.addObserver(way)
        operation.completionQueue = queue
        operation.postsNotifications = false
        let isWanted = state.withLock { state in
            state.operations[start.transfer] = operation
            return state.table.isWanted(start.transfer, of: start.key)
        }
        // Cancelled in between: it ends at once, and frees its place.
        if !isWanted { operation.cancel() }
        manager.operationQueue.addOperation(operation)
    }

    private func end(
        _ start: Start,
        _ operation: HTTPRequestOperation,
        _ result: Result<DecodedImage, any Error>,
        _ way: ImageWay
    ) {
        // As whom it was sent is known if nothing changed from the question to the end: no token, and no
        // cookie of the response.
        if case .success(let image) = result, let context = way.context, context == start.key.context,
            way.namesOnly(context, operation.request, by: manager)
        {
            keep(image, for: operation.request, context, operation.responseSerializer.imageIdentifier)
        }
        let (handlers, starts) = state.withLock { state in
            state.operations[start.transfer] = nil
            return state.table.end(start.transfer, of: start.key)
        }
        begin(starts)
        for handler in handlers { handler.call(operation.response, result) }
    }

    private static func defaultManager() -> OperationManager {
        let manager = OperationManager()
        manager.responseSerializer = ImageResponseSerializer()
        return manager
    }
}

extension URLRequest {
    /// Whether the cache may answer it.
    fileprivate var takesCachedImage: Bool { cachePolicy.allowsCachedImages && isGet }

    fileprivate var isGet: Bool { (httpMethod ?? "GET") == "GET" }

    /// Whether a cache of the user's own, whose keys may be URLs, may answer it and keep its image.
    fileprivate func isForEveryUser(_ context: ImageContext) -> Bool {
        !context.namesUser && choosingFields.isEmpty
    }
}
