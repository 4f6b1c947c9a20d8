public import Foundation

/// Whether and when a failed request is retried. For an operation without a policy, see
/// ``TransferConfigurable/retryPolicy``.
///
/// ```swift
/// var policy = RetryPolicy(maximumRetries: 5, timeBudget: 60)
/// policy.initialDelay = 0.2
/// let patient = HTTPRequestOperation(request: URLRequest(url: url))
/// patient.retryPolicy = policy
/// queue.addOperation(patient)
/// let object = try await patient.value
/// ```
///
/// | What happened                                   | Retried?                                          |
/// |-------------------------------------------------|---------------------------------------------------|
/// | a status in ``statusCodes``                     | after a delay, or shortly after the time in `Retry-After` if that is later |
/// | the same, with a `Retry-After` beyond ``maximumWait`` | no: the response is the result                    |
/// | a transport error with a code in ``errorCodes`` | after a delay, or, if ``network`` is unavailable, when it is back |
/// | kept bytes turn out to be useless (a 416, a different overlap) | after a delay; without retries, once, immediately |
/// | a status, if only a stored response is allowed  | no: no request would be sent                      |
/// | anything else, and `cancel()`                   | no                                                |
/// | a method that is not in ``methods``             | no: the server may already have acted on it       |
/// | ``maximumRetries`` is reached                   | no                                                |
/// | a wait that would end after ``timeBudget``      | no                                                |
///
/// A `Retry-After` with a status in ``statusCodes`` applies to the whole server (scheme, host and port): the
/// next attempt of every operation with a policy waits for it, including first attempts, and the operations
/// then start within ``initialDelay`` of each other. An operation that would have to wait longer than its
/// ``maximumWait``, or beyond its ``timeBudget``, does not wait and receives the server's answer. `pause()`
/// and `resume()` end such a wait.
///
/// The upper bound of a delay doubles from ``initialDelay`` to ``maximumDelay``. Each delay is random between
/// 0 and that bound (full jitter), so that the clients of a failed server do not all return at once.
public struct RetryPolicy: Hashable, Sendable {
    private var format = ArchiveFormat()

    /// The maximum number of retries. The count starts over when attempts have added enough bytes that are
    /// kept, as in a download: 16 KiB, or a 64th of a file that is smaller than 1 MiB, in one or several
    /// attempts.
    public var maximumRetries: Int

    /// The time, in seconds since the operation began, after which there are no further attempts. `nil` means
    /// no limit.
    public var timeBudget: TimeInterval? {
        get { budget?.value }
        set { budget = newValue.map { CodedDouble($0) } }
    }
    private var budget: CodedDouble?

    /// The maximum delay of the first retry, in seconds. Defaults to 0.5.
    public var initialDelay: TimeInterval {
        get { firstDelay.value }
        set { firstDelay.value = newValue }
    }
    private var firstDelay = CodedDouble(0.5)

    /// The maximum delay, in seconds, without a `Retry-After`. Defaults to 30.
    public var maximumDelay: TimeInterval {
        get { longestDelay.value }
        set { longestDelay.value = newValue }
    }
    private var longestDelay = CodedDouble(30)

    /// The maximum wait, in seconds, for a `Retry-After`, whether in the operation's own response or in
    /// another operation's response from the same server. Defaults to 600.
    public var maximumWait: TimeInterval {
        get { longestWait.value }
        set { longestWait.value = newValue }
    }
    private var longestWait = CodedDouble(600)

    /// The methods that may be retried, in upper case. Defaults to the idempotent ones ([RFC 9110
    /// §9.2.2](https://www.rfc-editor.org/rfc/rfc9110#section-9.2.2)).
    public var methods: Set<String> = Self.idempotentMethods

    /// The statuses that are retried. Defaults to those of ``RequestFailure/isTemporary``. A 202 (the server is
    /// still processing) can be added; a 206 is always accepted.
    public var statusCodes: Set<Int> = FailureTraits.temporaryStatuses

    /// The codes of transport errors that are retried. Defaults to those of ``RequestFailure/isTemporary``.
    public var errorCodes: Set<URLError.Code> {
        get { Set(codes.map(\.value)) }
        set { codes = Set(newValue.map { RawCoded($0) }) }
    }
    private var codes = Self.temporaryCodes

    /// The network to wait for, instead of a delay, if it is unavailable after a transport error:
    /// `NetworkReachabilityManager.shared`, or the manager of a host. Defaults to `nil`.
    ///
    /// The retry begins within ``initialDelay`` after the network is back. The wait counts as one retry,
    /// however long it takes; ``timeBudget``, `pause()`, `cancel()` and ``Timeouts/total`` end it. The
    /// network is not encoded.
    public var network: (any NetworkWaiting)? {
        get { awaited?.network }
        set { awaited = newValue.map { AwaitedNetwork(network: $0) } }
    }

    private var awaited: AwaitedNetwork?

    /// - Parameters:
    ///   - maximumRetries: the maximum number of retries.
    ///   - timeBudget: in seconds; `nil` means no limit.
    public init(maximumRetries: Int = 3, timeBudget: TimeInterval? = nil) {
        self.maximumRetries = maximumRetries
        self.timeBudget = timeBudget
    }

    /// Created once, because each operation may have a policy.
    private static let temporaryCodes = Set(FailureTraits.temporaryCodes.map { RawCoded($0) })

    /// The idempotent methods of RFC 9110. Those of WebDAV are left out.
    static let idempotentMethods: Set<String> = ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE"]

    // MARK: - Deciding

    /// The end of an attempt.
    enum Outcome: Hashable, Sendable {
        /// A response. `retryAfter`: the delay that the server requests, in seconds from now.
        case status(Int, retryAfter: TimeInterval?)
        case error(URLError.Code)
        /// The kept bytes are useless, and the whole body has to be requested.
        case startOver
        /// The request cannot be repeated, or was cancelled.
        case final
    }

    /// Decides whether there is another attempt.
    /// - Parameters:
    ///   - outcome: the outcome of the last attempt.
    ///   - method: the request's method, in upper case.
    ///   - retries: the number of retries so far.
    ///   - elapsed: seconds since the first attempt began.
    ///   - chance: 0 to 1, at random.
    /// - Returns: the delay in seconds; `nil` for no further attempt.
    func delay(
        after outcome: Outcome,
        method: String,
        retries: Int,
        elapsed: TimeInterval,
        chance: Double
    ) -> TimeInterval? {
        guard retries < maximumRetries, methods.contains(method) else { return nil }
        let longest = TimeInterval.minimum(maximumDelay, initialDelay * pow(2, Double(min(retries, 1000))))
        // A delay of NaN seconds would never end.
        let backoff = longest.isNaN ? 0 : chance * min(longest, .greatestFiniteMagnitude)
        let wait: TimeInterval
        switch outcome {
        case .final:
            return nil
        case .startOver:
            wait = backoff
        case .error(let code):
            guard codes.contains(RawCoded(code)) else { return nil }
            wait = backoff
        case .status(let status, let retryAfter):
            guard statusCodes.contains(status), (retryAfter ?? 0) <= maximumWait else { return nil }
            // Spread out, because the server sent the same value to other clients.
            wait = max(backoff, retryAfter.map { $0 + chance * spread } ?? 0)
        }
        return isWithinBudget(elapsed + wait) ? wait : nil
    }

    /// Decides whether an attempt waits for a server that sent `Retry-After` to another operation.
    /// - Parameters:
    ///   - asked: the delay that the server requested, in seconds from now.
    ///   - waited: the seconds for which this attempt has already waited.
    ///   - elapsed: seconds since the operation began.
    ///   - chance: 0 to 1, at random.
    /// - Returns: the delay in seconds; `nil` to begin at once, as if there were no `Retry-After`.
    func delay(
        whileHostRests asked: TimeInterval,
        waited: TimeInterval,
        elapsed: TimeInterval,
        chance: Double
    ) -> TimeInterval? {
        guard waited + asked <= maximumWait else { return nil }
        let wait = asked + chance * spread
        return isWithinBudget(elapsed + wait) ? wait : nil
    }

    /// Whether a request may be sent again if it is unknown whether the server processed it.
    static func maySendAgain(_ method: String, policy: RetryPolicy?) -> Bool {
        method == "GET" || idempotentMethods.contains(method) || policy?.methods.contains(method) == true
    }

    /// The seconds over which operations that wait for the same moment are spread.
    var spread: TimeInterval {
        let spread = min(initialDelay, maximumDelay)
        return spread.isFinite ? max(0, spread) : 0
    }

    private func isWithinBudget(_ seconds: TimeInterval) -> Bool {
        timeBudget.map { seconds <= $0 } ?? true
    }
}

extension HeaderFields {
    /// Seconds from now until the time in `Retry-After`, which is a number or a date; 0 for a time in the
    /// past, `nil` if the value is neither ([RFC 9110
    /// §10.2.3](https://www.rfc-editor.org/rfc/rfc9110#section-10.2.3)).
    ///
    /// A date is compared with the response's own `Date`, because the clocks may differ. The `Age` of a
    /// response from a cache is subtracted ([RFC 9111
    /// §5.1](https://www.rfc-editor.org/rfc/rfc9111#section-5.1)).
    func retryAfter(now: Date) -> TimeInterval? {
        guard let text = self["Retry-After"] else { return nil }
        let digits = text.trimmingCharacters(in: .whitespaces)
        if !digits.isEmpty, digits.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }) {
            // A number that overflows is a long time.
            return max(0, TimeInterval(Int64(digits: digits) ?? .max) - age)
        }
        guard let date = HTTPDate(fieldValue: text, now: now) else { return nil }
        let reference = self["Date"].flatMap { HTTPDate(fieldValue: $0, now: now) }?.secondsSince1970
        let start = reference.map { TimeInterval($0) + age } ?? now.timeIntervalSince1970
        return max(0, TimeInterval(date.secondsSince1970) - start)
    }

    /// The first `Age`, in seconds; 0 if it is missing or not a number.
    private var age: TimeInterval {
        guard let text = self["Age"]?.split(separator: ",").first?.trimmingCharacters(in: .whitespaces),
            !text.isEmpty, text.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 })
        else { return 0 }
        return TimeInterval(Int64(digits: text) ?? .max)
    }
}

// MARK: - Codable

extension RetryPolicy: Codable {
    // Without `awaited`, which is an object.
    private enum CodingKeys: CodingKey {
        case format, maximumRetries, budget, firstDelay, longestDelay, longestWait
        case methods, statusCodes, codes
    }
}
