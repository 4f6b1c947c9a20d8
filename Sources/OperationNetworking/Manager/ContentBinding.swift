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
    private struct Weak: Sendable {
        weak let target: Target?
    }

    private let target: Weak
    private let manager: OperationManager
    private let show: @Sendable (Target, LoadedContent) -> Void
    private let current = Locked<HTTPRequestOperation?>(nil)

    /// Binds an object.
    ///
    /// - Parameters:
    ///   - target: not retained.
    ///   - manager: makes and runs the operations: its settings count, but for the response serializer.
    ///   - show: shows the content, on the manager's `completionQueue`.
    public init(
        to target: Target,
        manager: OperationManager,
        show: @escaping @Sendable (Target, LoadedContent) -> Void
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
    ///   - success: may change the content before it is shown.
    ///   - failure: hears the error.
    /// - Returns: the operation, which is running.
    @discardableResult
    public func load(
        _ request: URLRequest,
        @_inheritActorContext progress: ConnectionOperation.ProgressHandler? = nil,
        success: (@Sendable (HTTPURLResponse?, LoadedContent) -> LoadedContent)? = nil,
        failure: (@Sendable (any Error) -> Void)? = nil
    ) -> HTTPRequestOperation {
        let operation = manager.operation(
            for: request,
            success: { [weak self] operation, _ in
                guard let self, isCurrent(operation), let target = target.target else { return }
                let response = operation.response
                let content = LoadedContent(
                    data: operation.responseData ?? Data(),
                    mediaType: response?.mimeType,
                    textEncodingName: response?.textEncodingName,
                    baseURL: response?.url
                )
                show(target, success?(response, content) ?? content)
            },
            failure: { [weak self] operation, error in
                guard let self, isCurrent(operation) else { return }
                failure?(error)
            }
        )
        operation.responseSerializer = HTTPResponseSerializer()
        if let progress { operation.setDownloadProgress(progress) }
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

    private func isCurrent(_ operation: HTTPRequestOperation) -> Bool {
        current.withLock { $0 === operation }
    }
}
