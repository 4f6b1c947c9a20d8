internal import Foundation

/// What to keep of a manager for a later process: the base URL, both serializers, whose certificates are trusted, when to
/// try again, and how many operations run at once.
///
/// Not kept: queues, groups, closures, limits, credentials, operations. Those of the queue are kept one by one, by their own archives.
public struct OperationManagerArchive: Codable, Sendable {
    let baseURL: URL?
    let requestSerializer: RequestSerializerArchive
    let responseSerializer: ResponseSerializerArchive
    let trustAnchors: TrustAnchors
    let maxConcurrentOperationCount: Int
    /// Absent from archives of managers without one.
    let retryPolicy: RetryPolicy?
}

extension OperationManager {
    /// What to keep of it.
    ///
    /// - Throws: `EncodingError` when a serializer is of a kind of your own, or decodes values of a type: set it again in
    ///   the later process. One with a closure throws when the archive is encoded.
    public var archive: OperationManagerArchive {
        get throws {
            OperationManagerArchive(
                baseURL: baseURL,
                requestSerializer: try RequestSerializerArchive(requestSerializer),
                responseSerializer: try ResponseSerializerArchive(responseSerializer),
                trustAnchors: trustAnchors,
                maxConcurrentOperationCount: operationQueue.maxConcurrentOperationCount,
                retryPolicy: retryPolicy
            )
        }
    }

    /// A manager from an earlier process, with an empty queue of its own.
    public convenience init(archive: OperationManagerArchive) {
        self.init(baseURL: archive.baseURL)
        requestSerializer = archive.requestSerializer.serializer
        responseSerializer = archive.responseSerializer.serializer
        trustAnchors = archive.trustAnchors
        retryPolicy = archive.retryPolicy
        operationQueue.maxConcurrentOperationCount = archive.maxConcurrentOperationCount
    }
}
