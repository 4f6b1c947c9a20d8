public import Dispatch
public import Foundation
public import FoundationNetworking
public import OperationNetworking
internal import OperationNetworkingImagesSystem

/// Downloads and decodes images, with one transfer for concurrent requests of the same image: AFNetworking
/// 3's `AFImageDownloader`.
///
/// Requests with the same URL, method, header fields and cache policy, which ``manager`` sends with the same
/// identity, share a transfer while it runs. Requests of a manager with request adapters or a closure for
/// challenges do not, because their identity is unknown. At most ``maximumActiveDownloads`` transfers run;
/// other requests wait, by priority and in the order of ``prioritization``.
///
/// If the cache policy allows it, an image in ``imageCache`` is returned without a transfer and without a
/// response. Images are stored in the size of the serializer: see ``ImageDecoder/cacheIdentifier``. Images of
/// a custom serializer are stored under its type name, so serializers of one type that produce different
/// images need separate caches. Images that were received with a user's credential, token, certificate or
/// cookies are returned only to that user.
///
/// ```swift
/// let image = try await ImageDownloader.shared.image(from: url)
/// ```
public final class ImageDownloader: Sendable {
    /// The order of waiting requests with the same priority.
    public enum Prioritization: Sendable {
        /// First in, first out.
        case fifo
        /// Last in, first out: for scrolling lists.
        case lifo
    }

    /// Called with the handler's request, the response, and the image. For an image from the cache, the
    /// response is `nil`.
    public typealias SuccessHandler =
        @isolated(any) @Sendable (URLRequest, HTTPURLResponse?, DecodedImage) -> Void

    /// Called with the handler's request, the response, if any, and the error.
    public typealias FailureHandler =
        @isolated(any) @Sendable (URLRequest, HTTPURLResponse?, any Error) -> Void

    private struct Handler: Sendable {
        let request: URLRequest
        /// Called with the result on any thread; does not block.
        let call: @Sendable (HTTPURLResponse?, Result<DecodedImage, any Error>) -> Void
    }

    /// Requests with equal keys share a transfer. The key includes the identity and the security policy,
    /// because one user's image must not be given to another.
    private struct Key: Hashable, Sendable {
        let url: String
        let method: String
        let fields: [String: String]
        let handlesCookies: Bool
        /// A response cache may answer one policy but not the other.
        let cachePolicy: URLRequest.CachePolicy
        /// A redirect may lead to a server that receives cookies that are not part of ``context``.
        let cookieVersion: Int?
        /// `nil` if the identity of the request is unknown.
        let context: ImageContext?
        /// Unique for a method other than GET, or if the context is unknown, so that the transfer is not
        /// shared.
        let own: UUID?
    }

    private typealias Start = DownloadTable<Key, Handler>.Start

    private struct State {
        var table: DownloadTable<Key, Handler>
        var operations: [Int: HTTPRequestOperation] = [:]
    }

    /// The shared downloader of the program, with its own cache.
    public static let shared = ImageDownloader()

    /// Creates the operations. Its settings and serializer apply to all downloads.
    public let manager: OperationManager
    /// The order of waiting requests.
    public let prioritization: Prioritization
    /// The maximum number of concurrent transfers. Defaults to 4.
    public let maximumActiveDownloads: Int
    /// The image cache, if any.
    public let imageCache: (any ImageRequestCache)?
    private let state: Guarded<State>
    /// The completion queue of transfers. Private, so that handlers do not depend on the main queue.
    private let queue = DispatchQueue(label: "OperationNetworking.ImageDownloader")

    /// Creates a downloader.
    ///
    /// - Parameters:
    ///   - manager: a manager whose serializer produces ``DecodedImage``s; `nil` (the default) creates one
    ///     with an ``ImageResponseSerializer``.
    ///   - prioritization: the order of waiting requests.
    ///   - maximumActiveDownloads: the maximum number of concurrent transfers; at least 1.
    ///   - imageCache: the cache; `nil` for none.
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

    /// The current number of transfers, including stopped ones that have not ended.
    public var activeDownloadCount: Int { state.withLock { $0.table.activeCount } }

    // MARK: - Requesting

    /// Requests an image.
    ///
    /// - Parameters:
    ///   - request: the request, usually a GET. Without a URL it fails with `URLError.badURL`.
    ///   - receiptID: the identifier of the receipt. Defaults to a new one. Two calls with the same
    ///     identifier have two receipts, each of which cancels its own handler.
    ///   - priority: determines which images start first. If an image has several handlers, the highest
    ///     counts.
    ///   - completionQueue: the queue of the handlers; `nil` means the main queue. Main-actor handlers are
    ///     always called on the main queue.
    ///   - success: called once, unless `failure` is.
    ///   - failure: called once, unless `success` is; with `URLError.cancelled` after ``cancel(_:)``.
    /// - Returns: a receipt to cancel this handler; `nil` if the result is already known: from the cache, or
    ///   for a request without a URL.
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

    /// Returns the image of a request. Cancelling the task cancels the request like ``cancel(_:)``.
    ///
    /// - Throws: the error of the transfer or its serializer, or `URLError.cancelled`.
    public func image(
        for request: URLRequest,
        priority: Operation.QueuePriority = .normal
    ) async throws -> DecodedImage {
        let ticket = UUID()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let handler = Handler(request: request) { continuation.resume(with: $1) }
                _ = ask(handler, ticket, priority)
                // The task may have been cancelled before the receipt existed.
                if Task.isCancelled { cancel(ticket) }
            }
        } onCancel: {
            cancel(ticket)
        }
    }

    /// Returns the image of a URL, requested with `Accept: image/*`.
    ///
    /// - Throws: the errors of ``image(for:priority:)``.
    public func image(from url: URL, priority: Operation.QueuePriority = .normal) async throws -> DecodedImage
    {
        var request = URLRequest(url: url)
        request.setValue("image/*", forHTTPHeaderField: "Accept")
        return try await image(for: request, priority: priority)
    }

    /// Cancels a handler: its `failure` is called with `URLError.cancelled`. The transfer is stopped if no
    /// other handler waits for it. Does nothing after completion.
    public func cancel(_ receipt: ImageDownloadReceipt) {
        cancel(receipt.ticket)
    }

    // MARK: - Private

    /// - Returns: whether the handler waits; otherwise it has been called.
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
            // The decoder supports any format, and `image(from:)` sends `image/*`.
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

    /// Incremented by each change of the manager's cookies.
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

    /// Stores an image that was received in `context`.
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
                        NSLocalizedFailureReasonErrorKey: "The image download was cancelled."
                    ]
                )
            )
        )
    }

    /// Starts transfers, outside of the lock, because manager and cache may be custom classes. They retain
    /// the downloader until the last handler is called.
    private func begin(_ starts: [Start]) {
        var starts = starts[...]
        while let start = starts.popFirst() {
            if let image = cachedImage(for: start) {
                // The transfer of an earlier handler stored it after this one had checked the cache.
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

    /// - Returns: the transfers that start instead of this one; `nil` if it is no longer needed.
    private func end(_ start: Start, with image: DecodedImage) -> [Start]? {
        let end = state.withLock { state -> (handlers: [Handler], starts: [Start])? in
            guard state.table.isWanted(start.transfer, of: start.key) else { return nil }
            return state.table.end(start.transfer, of: start.key)
        }
        guard let end else { return nil }
        for handler in end.handlers { handler.call(nil, .success(image)) }
        return end.starts
    }

    /// Creates the operation of a transfer, with the request of its first handler, and adds it to the queue.
    private func transfer(_ start: Start) {
        let (request, next) = state.withLock { state -> (URLRequest?, [Start]) in
            guard state.table.isWanted(start.transfer, of: start.key) else {
                // The last handler has been cancelled.
                return (nil, state.table.end(start.transfer, of: start.key).starts)
            }
            return (state.table.handlers(of: start.key).first?.request, [])
        }
        guard let request else { return begin(next) }
        let context = ImageContext(request, by: manager)
        let observer = ImageRedirectObserver(context: context, cookieVersion: cookieVersion)
        let operation = manager.operation(
            for: request,
            success: { operation, object in
                let result: Result<DecodedImage, any Error> =
                    if let image = object as? DecodedImage {
                        .success(image)
                    } else {
                        .failure(URLError(.cannotDecodeContentData))
                    }
                self.end(start, operation, result, observer)
            },
            failure: { operation, error in self.end(start, operation, .failure(error), observer) }
        )
        operation.addObserver(observer)
        operation.completionQueue = queue
        operation.postsNotifications = false
        let isWanted = state.withLock { state in
            state.operations[start.transfer] = operation
            return state.table.isWanted(start.transfer, of: start.key)
        }
        // If it has been cancelled, it ends at once and frees its slot.
        if !isWanted { operation.cancel() }
        manager.operationQueue.addOperation(operation)
    }

    private func end(
        _ start: Start,
        _ operation: HTTPRequestOperation,
        _ result: Result<DecodedImage, any Error>,
        _ observer: ImageRedirectObserver
    ) {
        // The identity of the request is known if nothing changed during the transfer: no token, and no
        // cookie of the response.
        if case .success(let image) = result, let context = observer.context, context == start.key.context,
            observer.identityIsUnchanged(context, operation.request, by: manager)
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
    /// Whether the cache may answer the request.
    fileprivate var takesCachedImage: Bool { cachePolicy.allowsCachedImages && isGet }

    fileprivate var isGet: Bool { (httpMethod ?? "GET") == "GET" }

    /// Whether a custom cache, whose keys may be URLs, may answer the request and store its image.
    fileprivate func isForEveryUser(_ context: ImageContext) -> Bool {
        !context.namesUser && choosingFields.isEmpty
    }
}
