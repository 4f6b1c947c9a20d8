import Foundation
public import FoundationNetworking
public import Logging
internal import OperationNetworkingSystem

/// Logs a line for each life-cycle event of an operation, at level debug:
///
///     debug transfers : method=GET operation=7 url=https://example.com/file started
///     debug transfers : operation=7 status=200 response
///     debug transfers : bytes=1024 operation=7 seconds=0.031 status=200 finished
///
/// | Line                       | Metadata in addition to `operation`, the operation's number                    |
/// |----------------------------|--------------------------------------------------------------------------------|
/// | `started`                  | `method`, `url`                                                                |
/// | `paused`, `resumed`        |                                                                                |
/// | `redirected`               | `status`, `url` of the next request                                            |
/// | `response`                 | `status`                                                                       |
/// | `resuming`                 | `offset` of the first missing byte                                             |
/// | `starting over`            | `reason`                                                                       |
/// | `retrying`                 | `delay` in seconds, `cause`                                                    |
/// | `finished`                 | `status`, `bytes` received, `seconds` since the start                          |
/// | `failed`, `cancelled`      | the same, as far as known, and `error`                                         |
///
/// User and password of a URL, its fragment, and query values whose names indicate a secret (`token`,
/// `signature`, `password` and the like) are replaced by `REDACTED`. Header fields and bodies are not logged.
///
/// One observer can log every operation, as ``OperationManager/logger`` does.
public final class LoggingObserver: OperationObserver {
    private struct Entry {
        weak var operation: ConnectionOperation?
        let number: Int
        let start: MonotonicTime
    }

    /// The operations that have started and not finished. Those released before are removed when there are
    /// twice as many as after the last removal.
    private struct Entries {
        private static let minimumLimit = 64

        private var entries: [ObjectIdentifier: Entry] = [:]
        private var limit = minimumLimit

        /// - Returns: `nil` for an unknown operation; an earlier one may have had the same address.
        subscript(operation: ConnectionOperation) -> Entry? {
            entries[ObjectIdentifier(operation)].flatMap { $0.operation === operation ? $0 : nil }
        }

        mutating func add(_ operation: ConnectionOperation, _ number: Int) {
            if entries.count >= limit {
                entries = entries.filter { $0.value.operation != nil }
                limit = max(Self.minimumLimit, 2 * entries.count)
            }
            entries[ObjectIdentifier(operation)] = Entry(operation: operation, number: number, start: .now)
        }

        mutating func remove(_ operation: ConnectionOperation) {
            entries[ObjectIdentifier(operation)] = nil
        }

        var count: Int { entries.count }
    }

    /// The number of known operations.
    var entryCount: Int { entries.withLock { $0.count } }

    /// The logger that writes the lines.
    public let logger: Logger
    private let entries = Locked(Entries())

    private static let last = Locked(0)

    /// - Parameter logger: the logger. Its level decides whether anything is written.
    public init(_ logger: Logger) {
        self.logger = logger
    }

    // MARK: - OperationObserver

    /// Writes `started`.
    public func operationDidStart(_ operation: ConnectionOperation) {
        let request = operation.request
        write(
            "started",
            operation,
            ["method": "\(request.httpMethod ?? "GET")", "url": Self.url(request.url)]
        )
    }

    /// Writes `paused`.
    public func operationDidPause(_ operation: ConnectionOperation) {
        write("paused", operation)
    }

    /// Writes `resumed`.
    public func operationDidResume(_ operation: ConnectionOperation) {
        write("resumed", operation)
    }

    /// Writes `response`.
    public func operation(_ operation: ConnectionOperation, didReceive response: HTTPURLResponse) {
        write("response", operation, ["status": "\(response.statusCode)"])
    }

    /// Writes `redirected`.
    public func operation(
        _ operation: ConnectionOperation,
        didFollow redirect: HTTPURLResponse,
        to request: URLRequest
    ) {
        write(
            "redirected",
            operation,
            ["status": "\(redirect.statusCode)", "url": Self.url(request.url)]
        )
    }

    /// Writes `resuming`.
    public func operation(_ operation: ConnectionOperation, didResumeAt offset: Int64) {
        write("resuming", operation, ["offset": "\(offset)"])
    }

    /// Writes `starting over`.
    public func operation(_ operation: ConnectionOperation, willStartOverBecause reason: RestartReason) {
        write("starting over", operation, ["reason": "\(reason)"])
    }

    /// Writes `retrying`.
    public func operation(_ operation: ConnectionOperation, willRetry retry: Retry) {
        let cause =
            switch retry.cause {
            case .response(let response): "status \(response.statusCode)"
            case .error(let error): Redaction.text(of: error, in: operation.request)
            case .busyServer(let url): "busy server \(url.host ?? "")"
            }
        write("retrying", operation, ["delay": "\(Self.seconds(retry.delay))", "cause": "\(cause)"])
    }

    /// Writes `finished`, `failed` or `cancelled`.
    public func operationDidFinish(_ operation: ConnectionOperation, wasRunning: Bool) {
        var metadata: Logger.Metadata = [:]
        if let response = operation.response { metadata["status"] = "\(response.statusCode)" }
        if let metrics = operation.metrics { metadata["bytes"] = "\(metrics.bytesReceived)" }
        if let start = entries.withLock({ $0[operation]?.start }) {
            metadata["seconds"] = "\(Self.seconds(MonotonicTime.now - start))"
        }
        if let error = operation.error {
            metadata["error"] = "\(Redaction.text(of: error, in: operation.request))"
            write(operation.isCancelled ? "cancelled" : "failed", operation, metadata)
        } else {
            write("finished", operation, metadata)
        }
        entries.withLock { $0.remove(operation) }
    }

    // MARK: - Writing

    private func write(
        _ event: Logger.Message,
        _ operation: ConnectionOperation,
        _ metadata: Logger.Metadata = [:]
    ) {
        let number = number(of: operation)
        logger.debug(
            event,
            metadata: metadata.mapValues { "\(Redaction.singleLine("\($0)"))" }
                .merging(["operation": "\(number)"]) { $1 },
            source: "OperationNetworking"
        )
    }

    /// Returns the number of an operation: the same for all its events and, unlike its address, never reused.
    private func number(of operation: ConnectionOperation) -> Int {
        entries.withLock { entries in
            if let entry = entries[operation] { return entry.number }
            let number = Self.last.withLock { last in
                last += 1
                return last
            }
            entries.add(operation, number)
            return number
        }
    }

    private static func url(_ url: URL?) -> Logger.MetadataValue {
        "\(url.map { Redaction.text(of: $0) } ?? "none")"
    }

    private static func seconds(_ seconds: Double) -> String {
        String(format: "%.3f", seconds)
    }
}
