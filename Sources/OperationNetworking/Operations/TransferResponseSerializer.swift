public import Foundation
public import FoundationNetworking

/// All that is known of a response when a serializer is asked about it.
public struct ReceivedTransfer: Sendable {
    /// The request of the operation; `nil` outside one.
    public let request: URLRequest?
    /// The head of the response; `nil` when the body did not come over HTTP.
    public let response: HTTPURLResponse?
    /// The whole body; `nil` when it went elsewhere.
    public let data: Data?
    /// The `outputFile` that the body went to, if it did. A ``DownloadOperation`` has a file of its own, and
    /// asks no serializer when it succeeds.
    public let file: URL?
    /// The cost of the exchange until now; `nil` outside an operation.
    public let metrics: TransferMetrics?

    /// A transfer, for tests of a serializer.
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
    /// Operations call this instead of ``ResponseSerializer/responseObject(for:data:)``.
    ///
    /// - Parameter transfer: received to its end.
    /// - Returns: what becomes the operation's `responseObject`.
    /// - Throws: anything; it becomes the operation's error.
    func responseObject(for transfer: ReceivedTransfer) throws -> (any Sendable)?
}

extension TransferResponseSerializer {
    /// That of a transfer of which no more is known.
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
