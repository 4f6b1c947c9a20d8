import Foundation
import FoundationNetworking
internal import OperationNetworkingSystem

/// Counts the attempts of an exchange, and asks its policy for the next one. A value.
struct Attempts {
    private let policy: RetryPolicy?
    private var retries = 0
    private var began: MonotonicTime?

    init(policy: RetryPolicy?) {
        self.policy = policy
    }

    /// An attempt begins: the first one, or one more.
    mutating func begin(now: MonotonicTime) {
        if began == nil { began = now }
    }

    /// What a response with this head means.
    /// - Returns: seconds until the next attempt; `nil`: the response is the result.
    mutating func wait(after head: ResponseHead, to request: URLRequest, now: MonotonicTime) -> TimeInterval?
    {
        wait(
            after: .status(head.status, retryAfter: head.fields.retryAfter(now: Date())),
            to: request,
            now: now
        )
    }

    /// What the end of a transfer means.
    /// - Returns: seconds until the next attempt; `nil`: the error is the result.
    mutating func wait(after error: any Error, to request: URLRequest, now: MonotonicTime) -> TimeInterval? {
        wait(after: (error as? URLError).map { .error($0.code) } ?? .final, to: request, now: now)
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
        if wait != nil { retries += 1 }
        return wait
    }
}
