import Foundation
import FoundationNetworking
import OperationNetworking

/// The settings of transfers, from the command line.
struct Settings: Sendable {
    /// The maximum number of transfers at the same time.
    var concurrency: Int
    var replacesFiles = false
    /// The directory of `-d`. Files are saved only below it, even through links.
    var fence: FilePath?
    /// Whether existing files are fetched only if the server has another version.
    var fetchesOnlyChanges = false
    /// Whether files begun by another program are continued, if their checksum is given.
    var continuesFiles = false
    /// Whether the partial files of earlier runs are discarded.
    var startsOver = false
    /// Whether the run stops at the first failure.
    var failsEarly = false
    var fields: [HeaderOption] = []
    var access = Access()
    var retryPolicy = RetryPolicy(maximumRetries: 5)
    /// The bandwidth limit of all transfers together.
    var limit: BandwidthLimit?
    /// The longest time without received bytes, in seconds.
    var idleTimeout = 60.0
    /// The longest time until a connection is established, in seconds.
    var connectTimeout: Double?
    /// The longest time for one file, in seconds.
    var maximumTime: Double?

    /// Returns the request for an item.
    func request(for url: URL) -> URLRequest {
        var request = question(for: url)
        if sendsOwnUserAgent {
            request.setValue("opget/\(OpgetCommand.version)", forHTTPHeaderField: "User-Agent")
        }
        return request
    }

    /// Returns the request with only what the user chose, which identifies a saved file for every version of
    /// opget.
    func question(for url: URL) -> URLRequest {
        var request = URLRequest(url: url, timeoutInterval: idleTimeout)
        for field in fields { request.addValue(field.value, forHTTPHeaderField: field.name) }
        return request
    }

    /// Whether the user has not set `User-Agent`.
    private var sendsOwnUserAgent: Bool { !fields.contains { $0.name.lowercased() == "user-agent" } }

    /// Whether the user requests a range. Ranges are never resumed.
    var asksForRange: Bool { fields.contains { $0.name.lowercased() == "range" } }

    /// Returns the identity of the user of a request.
    func identity(of request: URLRequest) -> RequestIdentity {
        RequestIdentity(
            request,
            credential: access.credential(for: request.url),
            clientIdentity: access.clientIdentity,
            secretFields: access.redirects.ownSecretFields
        )
    }

    /// Returns how the server of a request is verified.
    func verification(of request: URLRequest) -> ServerVerification {
        ServerVerification(
            of: request.url,
            by: access.securityPolicy,
            trusting: access.trustAnchors,
            allowsDowngrade: access.redirects.allowsDowngrade
        )
    }

    // MARK: - Operations

    /// How a download treats an existing file.
    enum Saving: Sendable {
        /// Fetch the file. The value tells whether an existing file is replaced.
        case replacing(Bool)
        /// Replace the file if the server has another version.
        case ifChanged
        /// Continue the file.
        case continuing
    }

    /// Returns the operation that saves an item as a file.
    func download(_ item: Item, as path: FilePath, _ saving: Saving) -> DownloadOperation {
        let operation = DownloadOperation(request: request(for: item.url), to: path.url)
        switch saving {
        case .replacing(let replaces):
            operation.replacesFile = replaces
            // The file is only replaced by a newer one.
            operation.downloadsOnlyIfChanged = replaces && fetchesOnlyChanges
        case .ifChanged: operation.downloadsOnlyIfChanged = true
        case .continuing: operation.continuesFile = true
        }
        // Compares the last bytes if no validator proves them.
        if continuesFiles { operation.unprovenBytes = .compare(overlap: 64 * 1024) }
        operation.startsOver = startsOver
        operation.sendsOwnUserAgent = sendsOwnUserAgent
        operation.expectedDigests = item.digests
        configure(operation)
        return operation
    }

    /// Returns the operation that writes an item to a stream, which cannot start over.
    func plainOperation(_ item: Item) -> HTTPRequestOperation {
        let operation = HTTPRequestOperation(request: request(for: item.url))
        operation.requiresFile = true
        configure(operation)
        return operation
    }

    private func configure(_ operation: HTTPRequestOperation) {
        access.configure(operation)
        operation.retryPolicy = retryPolicy
        operation.timeouts.connect = connectTimeout
        operation.downloadLimits = [limit].compactMap { $0 }
    }
}
