import Foundation
import FoundationNetworking
internal import OperationNetworkingSystem

/// The attempts of an exchange, and the decisions of its policy about the next one. A value.
struct Attempts {
    /// The number of restarts after which only bytes beyond the previous maximum count as progress.
    private static let maximumRestarts = 10

    @Rare private var policy: RetryPolicy?
    /// The retries since the last progress.
    private var retries = 0
    private var mostBytes: Int64 = 0
    /// The number of times that the received bytes were replaced, and the new ones continued.
    private var restarts = 0
    /// Whether the body has started over and has not been continued yet.
    private var hasStartedOver = false
    private var began: MonotonicTime?
    /// The seconds that this attempt waited for its server.
    private var waited: TimeInterval = 0
    /// Whether the operation was resumed, so that this attempt does not wait.
    private var isUrgent = false
    /// Whether the whole body was requested in place of unusable bytes, without a policy that allows it.
    private var hasRequestedWhole = false
    /// The policy's statuses, once another attempt was made because of one: a stored response with one of
    /// them does not answer the next attempt. Empty before such an attempt.
    private(set) var retriedStatuses: Set<Int> = []

    init(policy: RetryPolicy?) {
        self.policy = policy
    }

    /// Whether this attempt may wait for its server.
    var mayWait: Bool { policy != nil && !isUrgent }

    /// Begins the first attempt or, after a pause, one that does not wait.
    mutating func begin(now: MonotonicTime) {
        if began == nil { began = now } else { (isUrgent, hasRequestedWhole) = (true, false) }
    }

    /// Records that the attempt has ended with `held` bytes to resume from. If at least `progress` of them
    /// are new, earlier retries are no longer counted: a file can arrive in a thousand pieces, but not byte
    /// by byte.
    mutating func note(held: Int64, progress: Int64 = 1) {
        guard held - mostBytes >= progress else { return }
        mostBytes = held
        retries = 0
        hasRequestedWhole = false
    }

    /// Records that the body starts over. That is not progress yet: otherwise a server with a different file
    /// each time would be retried without end.
    mutating func noteRestart() {
        hasStartedOver = true
    }

    /// Records that the `held` bytes are continued. If they had started over, further bytes count as progress
    /// again, up to a limit.
    mutating func noteContinuation(of held: Int64) {
        guard hasStartedOver else { return }
        hasStartedOver = false
        restarts += 1
        if restarts <= Self.maximumRestarts { mostBytes = min(mostBytes, held) }
    }

    /// Whether a request may be retried after this status.
    func mayRepeat(_ status: Int) -> Bool { policy?.statusCodes.contains(status) ?? false }

    /// The delay that a server requests with `Retry-After`, if other operations should respect it.
    /// - Returns: seconds from now.
    func rest(after head: ResponseHead) -> TimeInterval? {
        guard mayRepeat(head.status) else { return nil }
        return head.fields.retryAfter(now: Date())
    }

    /// Decides about a server that has requested a delay with `seconds` left.
    /// - Returns: seconds until the attempt; `nil` for now.
    mutating func wait(whileHostRests seconds: TimeInterval, now: MonotonicTime) -> TimeInterval? {
        guard !isUrgent else { return nil }
        let wait = policy?.delay(
            whileHostRests: seconds,
            waited: waited,
            elapsed: began.map { now - $0 } ?? 0,
            chance: .random(in: 0...1)
        )
        waited += wait ?? 0
        return wait
    }

    /// Decides about a response with this head.
    /// - Returns: seconds until the next attempt; `nil` if the response is the result.
    mutating func wait(after head: ResponseHead, to request: URLRequest, now: MonotonicTime) -> TimeInterval?
    {
        let wait = wait(
            after: .status(head.status, retryAfter: head.fields.retryAfter(now: Date())),
            to: request,
            now: now
        )
        if wait != nil { retriedStatuses = policy?.statusCodes ?? [] }
        return wait
    }

    /// Decides about an unusable response as about a 503. `fields` are those of its head, if there was one.
    /// - Returns: seconds until the next attempt; `nil` if there is none.
    mutating func wait(afterOutage fields: HeaderFields?, to request: URLRequest, now: MonotonicTime)
        -> TimeInterval?
    {
        let retryAfter = fields?.retryAfter(now: Date())
        return wait(after: .status(503, retryAfter: retryAfter), to: request, now: now)
    }

    /// Decides about bytes that turn out to be unusable, so that the whole body has to be requested.
    /// - Returns: seconds until the next attempt; `nil` if there is none.
    mutating func wait(beforeWholeOf request: URLRequest, now: MonotonicTime) -> TimeInterval? {
        wait(after: .startOver, to: request, now: now)
    }

    /// Whether the whole body may be requested although the policy allows no other attempt: once, without
    /// delay, if there were no retries, until there is progress or the operation is resumed.
    mutating func mayRequestWhole() -> Bool {
        defer { hasRequestedWhole = true }
        return !hasRequestedWhole && retries == 0
    }

    /// Decides about the error of a transfer.
    /// - Returns: seconds until the next attempt; `nil` if the error is the result.
    mutating func wait(after error: any Error, to request: URLRequest, now: MonotonicTime) -> TimeInterval? {
        wait(after: Self.outcome(error), to: request, now: now)
    }

    /// A wait for the network, which may delay an attempt beyond its policy's delay.
    struct NetworkWait {
        let network: any NetworkWaiting
        /// The seconds after which there is no further attempt; `nil` for no limit.
        let limit: TimeInterval?
        /// The seconds to wait after the network is back.
        let delay: TimeInterval
    }

    /// The wait for the network before the next attempt; `nil` if there is none.
    func networkWait(now: MonotonicTime) -> NetworkWait? {
        guard let policy, let network = policy.network else { return nil }
        let elapsed = began.map { now - $0 } ?? 0
        return NetworkWait(
            network: network,
            limit: policy.timeBudget.map { max(0, $0 - elapsed) },
            delay: .random(in: 0...policy.spread)
        )
    }

    private static func outcome(_ error: any Error) -> RetryPolicy.Outcome {
        switch error {
        case let error as URLError: .error(error.code)
        case let error as ProxyError where error.isTemporary: .error(error.code)
        default: .final
        }
    }

    private mutating func wait(
        after outcome: RetryPolicy.Outcome,
        to request: URLRequest,
        now: MonotonicTime
    ) -> TimeInterval? {
        let wait = policy?.delay(
            after: outcome,
            method: (request.httpMethod ?? "GET").uppercased(),
            retries: retries,
            elapsed: began.map { now - $0 } ?? 0,
            chance: .random(in: 0...1)
        )
        if wait != nil {
            retries += 1
            waited = 0
            isUrgent = false
        }
        return wait
    }
}
