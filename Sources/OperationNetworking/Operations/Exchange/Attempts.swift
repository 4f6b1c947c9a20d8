import Foundation
import FoundationNetworking
internal import OperationNetworkingSystem

/// Counts the attempts of an exchange, and asks its policy for the next one. A value.
struct Attempts {
    /// The number of restarts after which bytes count as progress only beyond the most that were there before.
    private static let maximumRestarts = 10

    private let policy: RetryPolicy?
    /// Since bytes last came that were not there before.
    private var retries = 0
    private var mostBytes: Int64 = 0
    /// The number of times that other bytes took the place of those that were there, and were continued.
    private var restarts = 0
    /// Whether bytes began anew, and have not been continued yet.
    private var hasStartedOver = false
    private var began: MonotonicTime?
    /// Seconds for which this attempt waited for its server.
    private var waited: TimeInterval = 0
    /// The operation was resumed, and wants this attempt now.
    private var isUrgent = false
    /// Whether the whole was asked for in the place of bytes of no use, without a policy that allows it.
    private var hasAskedForWhole = false
    /// The statuses for which another attempt was made, and those like them: a stored response with one of
    /// them does not answer the next attempt. Empty before such an attempt.
    private(set) var retriedStatuses: Set<Int> = []

    init(policy: RetryPolicy?) {
        self.policy = policy
    }

    /// Whether this attempt may wait for its server at all.
    var mayWait: Bool { policy != nil && !isUrgent }

    /// An attempt is wanted: the first one, or, after a pause, one that waits for nothing.
    mutating func begin(now: MonotonicTime) {
        if began == nil { began = now } else { (isUrgent, hasAskedForWhole) = (true, false) }
    }

    /// The attempt has ended, and `held` bytes are kept to go on from. When `progress` of them have come,
    /// what was tried until then is not counted any more: a file that comes in a thousand pieces comes, one
    /// that comes byte by byte does not.
    mutating func note(held: Int64, progress: Int64 = 1) {
        guard held - mostBytes >= progress else { return }
        mostBytes = held
        retries = 0
        hasAskedForWhole = false
    }

    /// Bytes begin anew in the place of others. They are no progress yet: a server that has another file each
    /// time would be asked without end.
    mutating func noteRestart() {
        hasStartedOver = true
    }

    /// The `held` bytes are continued. If they had begun anew, what follows is progress again, but not for ever.
    mutating func noteContinuation(of held: Int64) {
        guard hasStartedOver else { return }
        hasStartedOver = false
        restarts += 1
        if restarts <= Self.maximumRestarts { mostBytes = min(mostBytes, held) }
    }

    /// Whether a response with this status may be asked for again.
    func mayRepeat(_ status: Int) -> Bool { policy?.statusCodes.contains(status) ?? false }

    /// The seconds that a server asks to be left alone for, if other operations are to know of it.
    /// - Returns: seconds from now.
    func rest(after head: ResponseHead) -> TimeInterval? {
        guard mayRepeat(head.status) else { return nil }
        return head.fields.retryAfter(now: Date())
    }

    /// The outcome of a server that rests for some seconds more.
    /// - Returns: seconds until the attempt; `nil`: now.
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

    /// The outcome of a response with this head.
    /// - Returns: seconds until the next attempt; `nil`: the response is the result.
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

    /// The outcome of an answer that is none: the same as that of a 503. `fields`: of its head, if there was
    /// one.
    /// - Returns: seconds until the next attempt; `nil`: there is none.
    mutating func wait(afterOutage fields: HeaderFields?, to request: URLRequest, now: MonotonicTime)
        -> TimeInterval?
    {
        let retryAfter = fields?.retryAfter(now: Date())
        return wait(after: .status(503, retryAfter: retryAfter), to: request, now: now)
    }

    /// The outcome of bytes that turn out to be of no use, so that the whole has to come.
    /// - Returns: seconds until the next attempt; `nil`: there is none.
    mutating func wait(beforeWholeOf request: URLRequest, now: MonotonicTime) -> TimeInterval? {
        wait(after: .startOver, to: request, now: now)
    }

    /// Whether the whole may be requested although the policy allows no other attempt: once, at once, if it has
    /// allowed none, until there is progress or the operation is resumed.
    mutating func mayAskForWhole() -> Bool {
        defer { hasAskedForWhole = true }
        return !hasAskedForWhole && retries == 0
    }

    /// The outcome of the end of a transfer.
    /// - Returns: seconds until the next attempt; `nil`: the error is the result.
    mutating func wait(after error: any Error, to request: URLRequest, now: MonotonicTime) -> TimeInterval? {
        wait(after: Self.outcome(error), to: request, now: now)
    }

    /// The wait for a network, in which an attempt may begin later than its delay.
    struct NetworkWait {
        let network: any NetworkWaiting
        /// Seconds until there is no more attempt; `nil`: no limit.
        let limit: TimeInterval?
        /// Seconds after the network is back.
        let delay: TimeInterval
    }

    /// The network that the next attempt waits for; `nil`: none.
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
        case let error as ProxyError where error.mayPass: .error(error.code)
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
