public import Foundation
public import FoundationNetworking

/// Everything known about a response when its serializer is called.
public struct ReceivedTransfer: Sendable {
    /// The request of the operation; `nil` outside an operation.
    public let request: URLRequest?
    /// The head of the response; `nil` when the body did not come over HTTP.
    public let response: HTTPURLResponse?
    /// The whole body; `nil` when it went elsewhere.
    public let data: Data?
    /// The `outputFile`, if the body went there. A successful ``DownloadOperation`` does not call its
    /// serializer.
    public let file: URL?
    /// The cost of the exchange so far; `nil` outside an operation.
    public let metrics: TransferMetrics?

    /// Creates a transfer, for tests of a serializer.
    public init(
        request: URLRequest? = nil,
        response: HTTPURLResponse?,
        data: Data?,
        file: URL? = nil,
        metrics: TransferMetrics? = nil
    ) {
        self.request = request
        self.response = response
        self.data = data
        self.file = file
        self.metrics = metrics
    }
}

/// A serializer that needs more than the response: the request, the file, or the cost.
///
/// ```swift
/// nonisolated struct TimedSerializer: TransferResponseSerializer {
///     func responseObject(for transfer: ReceivedTransfer) throws -> (any Sendable)? {
///         print(transfer.request?.url ?? "", transfer.metrics?.transferTime ?? 0)
///         return transfer.data
///     }
/// }
/// ```
public protocol TransferResponseSerializer: ResponseSerializer {
    /// Makes the response object. Operations call this instead of
    /// ``ResponseSerializer/responseObject(for:data:)``.
    ///
    /// - Parameter transfer: the complete transfer.
    /// - Returns: the operation's `responseObject`.
    /// - Throws: anything; it becomes the operation's error.
    func responseObject(for transfer: ReceivedTransfer) throws -> (any Sendable)?
}

extension TransferResponseSerializer {
    /// Makes the response object of a transfer of which only the response and body are known.
    ///
    /// - Parameters:
    ///   - response: the head.
    ///   - data: the whole body.
    /// - Returns: the object.
    /// - Throws: what ``responseObject(for:)`` throws.
    public func responseObject(for response: HTTPURLResponse?, data: Data?) throws -> (any Sendable)? {
        try responseObject(for: ReceivedTransfer(response: response, data: data))
    }
}
