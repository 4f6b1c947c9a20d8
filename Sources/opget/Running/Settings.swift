import Foundation
import FoundationNetworking
import OperationNetworking

/// The settings of transfers, from the command line.
struct Settings: Sendable {
    /// Transfers at once.
    var concurrency: Int
    var replacesFiles = false
    /// `-d`: what is saved is below it, links followed.
    var fence: FilePath?
    /// An existing file is replaced if the server has another one.
    var fetchesOnlyChanges = false
    /// A file that another program began is continued, under a checksum.
    var continuesFiles = false
    /// The partial files of earlier runs are thrown away.
    var startsOver = false
    /// The first failure is the last one.
    var failsEarly = false
    var fields: [HeaderOption] = []
    var access = Access()
    var retryPolicy = RetryPolicy(maximumRetries: 5)
    /// The limit of all transfers together.
    var limit: BandwidthLimit?
    /// Seconds without a byte.
    var idleTimeout = 60.0
    /// Seconds until a connection has to stand.
    var connectTimeout: Double?
    /// Seconds for one file.
    var maximumTime: Double?

    /// The request for an item.
    func request(for url: URL) -> URLRequest {
        var request = question(for: url)
        if sendsOwnUserAgent {
            request.setValue("opget/\(OpgetCommand.version)", forHTTPHeaderField: "User-Agent")
        }
        return request
    }

    /// The request as far as the user chose it: what a file is the answer to, whatever version fetched it.
    func question(for url: URL) -> URLRequest {
        var request = URLRequest(url: url, timeoutInterval: idleTimeout)
        for field in fields { request.addValue(field.value, forHTTPHeaderField: field.name) }
        return request
    }

    /// Whether the user has chosen no `User-Agent`.
    private var sendsOwnUserAgent: Bool { !fields.contains { $0.name.lowercased() == "user-agent" } }

    /// Whether the user asks for a part: nothing is continued then.
    var asksForRange: Bool { fields.contains { $0.name.lowercased() == "range" } }

    /// The user of a request.
    func identity(of request: URLRequest) -> RequestIdentity {
        RequestIdentity(
            request,
            credential: access.credential(for: request.url),
            clientIdentity: access.clientIdentity,
            secretFields: access.redirects.ownSecretFields
        )
    }

    /// The verification of the server of a request.
    func verification(of request: URLRequest) -> ServerVerification {
        ServerVerification(
            of: request.url,
            by: access.securityPolicy,
            trusting: access.trustAnchors,
            allowsDowngrade: access.redirects.allowsDowngrade
        )
    }

    // MARK: - Operations

    /// The treatment of an existing file by a download.
    enum Saving: Sendable {
        /// Whether it is replaced.
        case replacing(Bool)
        /// The file is replaced if the server has another one.
        case ifChanged
        /// The file is continued.
        case continuing
    }

    /// The operation that saves an item as a file.
    func download(_ item: Item, as path: FilePath, _ saving: Saving) -> DownloadOperation {
        let operation = DownloadOperation(request: request(for: item.url), to: path.url)
        switch saving {
        case .replacing(let replaces):
            operation.replacesFile = replaces
            // Only a newer one, which says so, takes its place.
            operation.downloadsOnlyIfChanged = replaces && fetchesOnlyChanges
        case .ifChanged: operation.downloadsOnlyIfChanged = true
        case .continuing: operation.continuesFile = true
        }
        // Where no validator proves them, the last bytes are compared.
        if continuesFiles { operation.unprovenBytes = .compare(overlap: 64 * 1024) }
        operation.startsOver = startsOver
        operation.sendsOwnUserAgent = sendsOwnUserAgent
        operation.expectedDigests = item.digests
        configure(operation)
        return operation
    }

    /// The operation that writes an item to a stream, which takes nothing back.
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
