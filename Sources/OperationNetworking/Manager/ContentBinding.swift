import Foundation
public import FoundationNetworking
internal import OperationNetworkingSystem

/// Loads pages into an object of yours, one after the other, as AFNetworking's category of the web view did.
///
/// ```swift
/// let binding = ContentBinding(to: view, manager: manager) { view, content in view.load(content) }
/// binding.load(URLRequest(url: url))
/// ```
///
/// A new request cancels the one before it, of which nothing is shown or told any more. It does not keep the
/// object: when that is released, nothing is shown.
public final class ContentBinding<Target: AnyObject & Sendable>: Sendable {
    /// Gets the response and its content; answers with the content that is to be shown.
    public typealias SuccessHandler =
        @isolated(any) @Sendable (HTTPURLResponse?, LoadedContent) -> LoadedContent

    private struct Weak: Sendable {
        weak let target: Target?
    }

    /// Tells the progress of an operation as long as that is the current one.
    private final class Ear: OperationObserver {
        private let handler: ConnectionOperation.ProgressHandler
        private let isCurrent: @Sendable (ConnectionOperation) -> Bool

        init(
            _ handler: @escaping ConnectionOperation.ProgressHandler,
            isCurrent: @escaping @Sendable (ConnectionOperation) -> Bool
        ) {
            (self.handler, self.isCurrent) = (handler, isCurrent)
        }

        func operation(
            _ operation: ConnectionOperation,
            didDownload bytes: Int,
            total: Int64,
            expected: Int64
        ) {
            let plain = IsolatedFunction.Ternary(handler).plain
            operation.make(
                Detour(ClosureHome(handler.isolation)) { [isCurrent] in
                    if isCurrent(operation) { plain(bytes, total, expected) }
                }
            )
        }
    }

    private let target: Weak
    private let manager: OperationManager
    private let show: @isolated(any) @Sendable (Target, LoadedContent) -> Void
    private let current = Locked<HTTPRequestOperation?>(nil)

    /// Binds an object.
    ///
    /// - Parameters:
    ///   - target: not retained.
    ///   - manager: makes and runs the operations: its settings count, but for the response serializer.
    ///   - show: shows the content, on the manager's `completionQueue`, or, if it is written in main-actor
    ///     code, on the main queue.
    public init(
        to target: Target,
        manager: OperationManager,
        @_inheritActorContext show: @escaping @isolated(any) @Sendable (Target, LoadedContent) -> Void
    ) {
        self.target = Weak(target: target)
        self.manager = manager
        self.show = show
    }

    deinit { current.withLock { $0 }?.cancel() }

    /// Loads the content of a request. A status that is no success is a failure.
    ///
    /// - Parameters:
    ///   - request: a GET mostly.
    ///   - progress: hears the bytes that came, as `setDownloadProgress(_:)` does.
    ///   - success: may change the content before it is shown. Called as the `success` of an operation is.
    ///   - failure: hears the error, as the `failure` of an operation does.
    /// - Returns: the operation, which is running.
    @discardableResult
    public func load(
        _ request: URLRequest,
        @_inheritActorContext progress: ConnectionOperation.ProgressHandler? = nil,
        @_inheritActorContext success: SuccessHandler? = nil,
        @_inheritActorContext failure: (@isolated(any) @Sendable (any Error) -> Void)? = nil
    ) -> HTTPRequestOperation {
        let operation = manager.operation(for: request)
        operation.setCompletion { [weak self] operation in
            guard let self else { return nil }
            return end(operation, success, failure)
        }
        operation.responseSerializer = HTTPResponseSerializer()
        if let progress {
            operation.addObserver(Ear(progress) { [weak self] in self?.isCurrent($0) == true })
        }
        begin(operation)
        manager.operationQueue.addOperation(operation)
        return operation
    }

    /// Cancels what is being loaded: nothing of it is shown or told.
    public func cancel() {
        begin(nil)
    }

    /// Whether a page is on its way.
    public var isLoading: Bool { current.withLock { $0 }.map { !$0.isFinished } ?? false }

    private func begin(_ operation: HTTPRequestOperation?) {
        let last = current.withLock { current in
            defer { current = operation }
            return current
        }
        last?.cancel()
    }

    /// - Returns: the call of the closure that hears of the end.
    private func end(
        _ operation: HTTPRequestOperation,
        _ success: SuccessHandler?,
        _ failure: (@isolated(any) @Sendable (any Error) -> Void)?
    ) -> Detour? {
        if let error = operation.error {
            guard let failure else { return nil }
            let plain = IsolatedFunction.Unary(failure).plain
            return Detour(ClosureHome(failure.isolation)) { [weak self] in
                if let self, isCurrent(operation) { plain(error) }
            }
        }
        let response = operation.response
        let mediaType = operation.receivedResponse?.mediaType
        let content = LoadedContent(
            data: operation.responseData ?? Data(),
            mimeType: mediaType?.essence,
            textEncodingName: mediaType?.charset?.lowercased(),
            baseURL: response?.url
        )
        let show = IsolatedFunction.Binary(show).plain
        let showing: @Sendable (LoadedContent) -> Detour = {
            [home = ClosureHome(self.show.isolation)] content in
            Detour(home) { [weak self] in
                guard let self, isCurrent(operation), let target = target.target else { return }
                show(target, content)
            }
        }
        guard let success else { return showing(content) }
        let change = IsolatedFunction.Binary(success).plain
        return Detour.leading(ClosureHome(success.isolation)) { [weak self] in
            guard let self, isCurrent(operation), target.target != nil else { return nil }
            return showing(change(response, content))
        }
    }

    private func isCurrent(_ operation: ConnectionOperation) -> Bool {
        current.withLock { $0 === operation }
    }
}
