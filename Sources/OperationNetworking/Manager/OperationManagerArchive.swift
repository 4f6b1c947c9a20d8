internal import Foundation
internal import OperationNetworkingSystem

/// The settings of a manager, to be kept for a later process: the base URL, both serializers, security policy
/// and proxy, redirects, authentication schemes, retries and their time limits, and the numbers of operations
/// and connections at once.
///
/// Not kept: secrets (credentials, a ``ClientIdentity``), cookies (a jar of its own comes back empty),
/// queues, groups, closures, observers, the cache, limits of bytes per second, operations. The operations in
/// the queue have archives of their own.
///
/// The base URL and the serializers are kept as they are: if the URL has a password, or a serializer has an
/// `Authorization` field, the archive has it, too.
public struct OperationManagerArchive: Codable, Sendable {
    var format = ArchiveFormat()
    let baseURL: URL?
    let requestSerializer: RequestSerializerArchive
    let responseSerializer: ResponseSerializerArchive
    let settings: TransferSettings
    let maxConcurrentOperationCount: Int
    let secretHeaderScope: OperationManager.SecretHeaderScope
    /// `nil`: the default.
    let maximumConnectionsPerHost: Int?
}

extension OperationManager {
    /// The settings to be kept for a later process. Throws, unlike ``ConnectionOperation/archive``: without
    /// one of its serializers, a manager would make other requests there.
    ///
    /// - Throws: `EncodingError` when a serializer is of a kind of your own that is no
    ///   ``ArchivableResponseSerializer``, or decodes values of a type: set it again in the later process.
    ///   One with a closure throws when the archive is encoded.
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

    /// A manager from an earlier process, with an empty queue of its own.
    public convenience init(archive: OperationManagerArchive) {
        self.init(baseURL: archive.baseURL)
        requestSerializer = archive.requestSerializer.serializer
        responseSerializer = archive.responseSerializer.serializer
        state.change { $0.settings.takeEncoded(of: archive.settings) }
        secretHeaderScope = archive.secretHeaderScope
        state.withLock { $0.settings.connectionLimit }.own = archive.maximumConnectionsPerHost
        // Foundation ends the process at one below the default, -1.
        operationQueue.maxConcurrentOperationCount = max(-1, archive.maxConcurrentOperationCount)
    }
}
