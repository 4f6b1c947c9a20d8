import Foundation
import FoundationNetworking
import OperationNetworking

/// How to fetch, as the command line has it.
struct Settings: Sendable {
    /// Transfers at once.
    var concurrency: Int
    var replacesFiles = false
    /// A file that is there already is replaced if the server has another one.
    var fetchesOnlyChanges = false
    /// What earlier runs have left is thrown away.
    var startsOver = false
    /// The first failure is the last one.
    var failsEarly = false
    var fields: [HeaderOption] = []
    var trustAnchors = TrustAnchors.system
    var retryPolicy = RetryPolicy(maximumRetries: 5)
    /// One run's: nothing is left for the next one.
    var cookieJar: CookieJar? = CookieJar()
    /// Of all transfers together.
    var limit: BandwidthLimit?
    /// Seconds without a byte.
    var idleTimeout = 60.0
    /// Seconds until a connection has to stand.
    var connectTimeout: Double?
    /// Seconds for one file.
    var maximumTime: Double?

    /// `--cacert`, else curl's `CURL_CA_BUNDLE`; else what the library takes, `SSL_CERT_FILE` and `SSL_CERT_DIR` included.
    static func trustAnchors(option: String?, environment: [String: String]) -> TrustAnchors {
        let named = [option, environment["CURL_CA_BUNDLE"]]
        guard let path = named.compactMap({ $0 }).first(where: { !$0.isEmpty }) else { return .system }
        return .file(URL(fileURLWithPath: path))
    }

    /// The request for an item.
    func request(for url: URL) -> URLRequest {
        var request = URLRequest(url: url, timeoutInterval: idleTimeout)
        if !fields.contains(where: { $0.name.lowercased() == "user-agent" }) {
            request.setValue("opget/\(OpgetCommand.version)", forHTTPHeaderField: "User-Agent")
        }
        for field in fields { request.addValue(field.value, forHTTPHeaderField: field.name) }
        return request
    }

    // MARK: - Operations

    /// What saves an item as a file.
    func download(_ item: Item, as path: FilePath) -> DownloadOperation {
        let operation = DownloadOperation(
            request: request(for: item.url),
            to: URL(fileURLWithPath: path.text, isDirectory: false)
        )
        operation.replacesFile = replacesFiles || fetchesOnlyChanges
        operation.onlyIfChanged = fetchesOnlyChanges
        operation.startsOver = startsOver
        operation.expectedDigests = item.digests
        configure(operation)
        return operation
    }

    /// What writes an item to somewhere that takes nothing back.
    func plainOperation(_ item: Item) -> HTTPRequestOperation {
        let operation = HTTPRequestOperation(request: request(for: item.url))
        configure(operation)
        return operation
    }

    private func configure(_ operation: HTTPRequestOperation) {
        operation.trustAnchors = trustAnchors
        operation.cookieJar = cookieJar
        operation.retryPolicy = retryPolicy
        operation.connectTimeout = connectTimeout
        operation.downloadLimits = [limit].compactMap { $0 }
    }
}
