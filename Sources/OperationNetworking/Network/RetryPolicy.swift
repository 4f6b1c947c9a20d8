public import Foundation

/// Whether a request that failed is sent again, and when. A value; an operation without one never tries again.
///
/// | What happened                                           | Again?                                                   |
/// |---------------------------------------------------------|----------------------------------------------------------|
/// | a status in ``statuses``                                | after a delay, or when `Retry-After` says, if that is later |
/// | the same, with a `Retry-After` beyond ``longestWait``   | no: the response is the result                           |
/// | a transport error with a code in ``errorCodes``         | after a delay                                            |
/// | anything else, and `cancel()`                           | no                                                       |
/// | a method that is not in ``methods``                     | no: the server may have done it already                  |
/// | as often as ``maximumRetries`` says                     | no more                                                  |
/// | a wait that would end after ``timeBudget``              | no                                                       |
///
/// Delays double from ``initialDelay`` on, up to ``longestDelay``, and each is chosen at random between 0 and that
/// (full jitter), so that many clients of a server that failed do not come back all at once.
public struct RetryPolicy: Hashable, Sendable {
    /// How often a request is sent after the first time.
    public var maximumRetries: Int

    /// Seconds since the first attempt began after which no other one begins; `nil`: no limit.
    public var timeBudget: TimeInterval?

    /// Seconds that the first wait takes at most.
    public var initialDelay: TimeInterval = 0.5

    /// Seconds that a wait takes at most when the server says nothing.
    public var longestDelay: TimeInterval = 30

    /// Seconds that `Retry-After` may ask for.
    public var longestWait: TimeInterval = 600

    /// The methods that may be sent again, in upper case: those that are idempotent
    /// ([RFC 9110 §9.2.2](https://www.rfc-editor.org/rfc/rfc9110#section-9.2.2)) unless set.
    public var methods: Set<String> = ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE"]

    /// The statuses that may be better the next time.
    public var statuses: Set<Int> = [408, 425, 429, 500, 502, 503, 504]

    /// The codes of transport errors that may be better the next time.
    public var errorCodes: Set<URLError.Code> = [
        .timedOut, .cannotFindHost, .cannotConnectToHost, .networkConnectionLost, .dnsLookupFailed,
        .notConnectedToInternet,
    ]

    /// - Parameters:
    ///   - maximumRetries: how often a request is sent after the first time.
    ///   - timeBudget: in seconds; `nil`: no limit.
    public init(maximumRetries: Int = 3, timeBudget: TimeInterval? = nil) {
        self.maximumRetries = maximumRetries
        self.timeBudget = timeBudget
    }

    // MARK: - Deciding

    /// How an attempt ended.
    enum Outcome: Hashable, Sendable {
        /// A response came. `retryAfter`: seconds from now that the server asks for.
        case status(Int, retryAfter: TimeInterval?)
        case error(URLError.Code)
        /// It cannot be repeated, or nobody wants it any more.
        case final
    }

    /// Decides whether there is another attempt.
    /// - Parameters:
    ///   - outcome: of the last attempt.
    ///   - method: in upper case.
    ///   - retries: how often it was sent again already.
    ///   - elapsed: seconds since the first attempt began.
    ///   - chance: 0 to 1, at random.
    /// - Returns: seconds to wait before it; `nil`: there is none.
    func delay(
        after outcome: Outcome,
        method: String,
        retries: Int,
        elapsed: TimeInterval,
        chance: Double
    ) -> TimeInterval? {
        guard retries < maximumRetries, methods.contains(method) else { return nil }
        let backoff = chance * min(longestDelay, initialDelay * pow(2, Double(retries)))
        let wait: TimeInterval
        switch outcome {
        case .final:
            return nil
        case .error(let code):
            guard errorCodes.contains(code) else { return nil }
            wait = backoff
        case .status(let status, let retryAfter):
            guard statuses.contains(status), (retryAfter ?? 0) <= longestWait else { return nil }
            wait = max(backoff, retryAfter ?? 0)
        }
        if let timeBudget, elapsed + wait > timeBudget { return nil }
        return wait
    }
}

extension HeaderFields {
    /// Seconds from now until the time that `Retry-After` names, as a number or as a date; 0 for a time that has passed,
    /// `nil` for what is neither ([RFC 9110 §10.2.3](https://www.rfc-editor.org/rfc/rfc9110#section-10.2.3)).
    ///
    /// A date is measured against the response's own `Date`: the clocks need not agree.
    func retryAfter(now: Date) -> TimeInterval? {
        guard let text = self["Retry-After"] else { return nil }
        if let seconds = Int64(digits: text.trimmingCharacters(in: .whitespaces)) {
            return TimeInterval(seconds)
        }
        guard let date = HTTPDate(fieldValue: text, now: now) else { return nil }
        let reference = self["Date"].flatMap { HTTPDate(fieldValue: $0, now: now) }?.secondsSince1970
        let start = reference.map { TimeInterval($0) } ?? now.timeIntervalSince1970
        return max(0, TimeInterval(date.secondsSince1970) - start)
    }
}
