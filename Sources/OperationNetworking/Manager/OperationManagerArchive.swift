internal import Foundation
internal import OperationNetworkingSystem

/// The settings of a manager, for a later process: the base URL, both serializers, security policy and proxy,
/// redirects, authentication schemes, retries and their time limits, and the limits of concurrent operations
/// and connections.
///
/// Not archived: credentials, a ``ClientIdentity``, cookies (a private jar is restored empty), queues, groups,
/// closures, observers, the cache, bandwidth limits, operations. The operations in the queue can be
/// archived separately.
///
/// The base URL and the serializers are archived unchanged, including a password in the URL and an
/// `Authorization` field of a serializer.
public struct OperationManagerArchive: Codable, Sendable {
    var format = ArchiveFormat()
    let baseURL: URL?
    let requestSerializer: RequestSerializerArchive
    let responseSerializer: ResponseSerializerArchive
    let settings: TransferSettings
    let maxConcurrentOperationCount: Int
    let secretHeaderScope: OperationManager.SecretHeaderScope
    /// `nil` means the default.
    let maximumConnectionsPerHost: Int?
}

extension OperationManager {
    /// An archive of the settings, for a later process. Unlike ``ConnectionOperation/archive`` this throws:
    /// without one of its serializers, a restored manager would make different requests.
    ///
    /// - Throws: `EncodingError` if a custom serializer is not an ``ArchivableResponseSerializer``, or a
    ///   serializer decodes values of a type: set it again in the later process. A serializer with a closure
    ///   throws when the archive is encoded.
    public var archive: OperationManagerArchive {
        get throws {
            let settings = state.withLock { $0.settings }
            return OperationManagerArchive(
                baseURL: baseURL,
                requestSerializer: try RequestSerializerArchive(requestSerializer),
                responseSerializer: try ResponseSerializerArchive(responseSerializer),
                settings: settings.encoded,
                maxConcurrentOperationCount: operationQueue.maxConcurrentOperationCount,
                secretHeaderScope: secretHeaderScope,
                maximumConnectionsPerHost: settings.connectionLimit.own
            )
        }
    }

    /// Restores a manager from an earlier process, with an empty queue.
    public convenience init(archive: OperationManagerArchive) {
        self.init(baseURL: archive.baseURL)
        requestSerializer = archive.requestSerializer.serializer
        responseSerializer = archive.responseSerializer.serializer
        state.change { $0.settings.takeEncoded(of: archive.settings) }
        secretHeaderScope = archive.secretHeaderScope
        state.withLock { $0.settings.connectionLimit }.own = archive.maximumConnectionsPerHost
        // Foundation terminates the process for a limit below the default, -1.
        operationQueue.maxConcurrentOperationCount = max(-1, archive.maxConcurrentOperationCount)
    }
}
