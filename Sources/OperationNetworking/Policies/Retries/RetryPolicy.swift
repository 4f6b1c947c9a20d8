public import Foundation

/// Whether a request that failed is sent again, and when. A value; see ``TransferConfigurable/retryPolicy`` for
/// an operation without one.
///
/// | What happened                                           | Again?                                                   |
/// |---------------------------------------------------------|----------------------------------------------------------|
/// | a status in ``statusCodes``                             | after a delay, or just after the time that `Retry-After` names, if that is later |
/// | the same, with a `Retry-After` beyond ``maximumWait``   | no: the response is the result                           |
/// | a transport error with a code in ``errorCodes``         | after a delay; while ``network`` is gone, when it is back |
/// | bytes that are kept turn out to be of no use (a 416, another overlap) | after a delay; without retries, once, at once |
/// | a status, where only what is stored is wanted           | no: no server would be asked                             |
/// | anything else, and `cancel()`                           | no                                                       |
/// | a method that is not in ``methods``                     | no: the server may have done it already                  |
/// | as often as ``maximumRetries`` says                     | no more                                                  |
/// | a wait that would end after ``timeBudget``              | no                                                       |
///
/// A `Retry-After` that came with a status in ``statusCodes`` counts for its whole server (scheme, host and
/// port): the next attempt of every operation with a policy waits there, first attempts included, and the
/// operations come back within ``initialDelay`` of each other. An operation that would wait longer than its
/// ``maximumWait``, or beyond its ``timeBudget``, does not wait, and gets the server's answer. `pause()` and
/// `resume()` end such a wait: a resumed operation is wanted now.
///
/// Delays double from ``initialDelay`` on, up to ``maximumDelay``, and each is chosen at random between 0 and
/// that (full jitter), so that many clients of a server that failed do not come back all at once.
public struct RetryPolicy: Hashable, Sendable {
    private var format = ArchiveFormat()

    /// The number of times that a request is sent after the first time. The count starts again when an
    /// attempt has brought bytes that are kept, as a download's are: 16 KiB, or a 64th of a file that is
    /// smaller than 1 MiB, in one attempt or in several.
    public var maximumRetries: Int

    /// The time limit, in seconds since the operation began, of further attempts; `nil`: no limit.
    public var timeBudget: TimeInterval? {
        get { budget?.value }
        set { budget = newValue.map { CodedDouble($0) } }
    }
    private var budget: CodedDouble?

    /// The longest first wait, in seconds.
    public var initialDelay: TimeInterval {
        get { firstDelay.value }
        set { firstDelay.value = newValue }
    }
    private var firstDelay = CodedDouble(0.5)

    /// The longest wait, in seconds, when the server says nothing.
    public var maximumDelay: TimeInterval {
        get { longestDelay.value }
        set { longestDelay.value = newValue }
    }
    private var longestDelay = CodedDouble(30)

    /// The longest wait, in seconds, because of a `Retry-After`: of the operation's own response, or of
    /// another operation's response from the same server.
    public var maximumWait: TimeInterval {
        get { longestWait.value }
        set { longestWait.value = newValue }
    }
    private var longestWait = CodedDouble(600)

    /// The methods that may be sent again, in upper case: those that are idempotent
    /// ([RFC 9110 §9.2.2](https://www.rfc-editor.org/rfc/rfc9110#section-9.2.2)) unless set.
    public var methods: Set<String> = Self.idempotentMethods

    /// The statuses that may be better the next time: those of ``RequestFailure/mayPass`` unless set. A 202
    /// (the server is still at it) can be added; a 206 is always taken.
    public var statusCodes: Set<Int> = FailureTraits.passingStatuses

    /// The codes of transport errors that may be better the next time: those of ``RequestFailure/mayPass``
    /// unless set.
    public var errorCodes: Set<URLError.Code> {
        get { Set(codes.map(\.value)) }
        set { codes = Set(newValue.map { RawCoded($0) }) }
    }
    private var codes = Self.passingCodes

    /// The network that an attempt after a transport error waits for while it is gone, instead of a delay:
    /// `NetworkReachabilityManager.shared`, or one of a host. `nil` unless set.
    ///
    /// The attempt begins within ``initialDelay`` after it is back. The wait counts as one retry however long
    /// it is; ``timeBudget`` ends it, and so do `pause()`, `cancel()` and ``Timeouts/total``. It is no part of an
    /// archive.
    public var network: (any NetworkWaiting)? {
        get { awaited?.network }
        set { awaited = newValue.map { AwaitedNetwork(network: $0) } }
    }

    private var awaited: AwaitedNetwork?

    /// - Parameters:
    ///   - maximumRetries: how often a request is sent after the first time.
    ///   - timeBudget: in seconds; `nil`: no limit.
    public init(maximumRetries: Int = 3, timeBudget: TimeInterval? = nil) {
        self.maximumRetries = maximumRetries
        self.timeBudget = timeBudget
    }

    /// Made once: each operation may have a policy.
    private static let passingCodes = Set(FailureTraits.passingCodes.map { RawCoded($0) })

    /// The methods of RFC 9110, and of those registered elsewhere only what is of use without WebDAV.
    static let idempotentMethods: Set<String> = ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE"]

    // MARK: - Deciding

    /// The end of an attempt.
    enum Outcome: Hashable, Sendable {
        /// A response came. `retryAfter`: seconds from now that the server asks for.
        case status(Int, retryAfter: TimeInterval?)
        case error(URLError.Code)
        /// What is kept is of no use, and the whole has to come.
        case startOver
        /// The request cannot be repeated, or its owner does not want it any more.
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
        let longest = TimeInterval.minimum(maximumDelay, initialDelay * pow(2, Double(min(retries, 1000))))
        // A wait of NaN seconds would never end.
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
            // A little later than the server says: others were told the same.
            wait = max(backoff, retryAfter.map { $0 + chance * spread } ?? 0)
        }
        return isWithinBudget(elapsed + wait) ? wait : nil
    }

    /// Decides whether an attempt waits for a server that told another operation, by `Retry-After`, to come
    /// back later.
    /// - Parameters:
    ///   - asked: seconds from now that the server asked for.
    ///   - waited: seconds for which the same attempt waited already.
    ///   - elapsed: seconds since the operation began.
    ///   - chance: 0 to 1, at random.
    /// - Returns: seconds to wait; `nil`: it begins at once, as if there were no `Retry-After`.
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

    /// Whether a request may be sent twice when the fate of the first one is unknown.
    static func maySendAgain(_ method: String, policy: RetryPolicy?) -> Bool {
        idempotentMethods.contains(method) || policy?.methods.contains(method) == true
    }

    /// The seconds over which operations come back that were told to come back at the same moment.
    var spread: TimeInterval {
        let spread = min(initialDelay, maximumDelay)
        return spread.isFinite ? max(0, spread) : 0
    }

    private func isWithinBudget(_ seconds: TimeInterval) -> Bool {
        timeBudget.map { seconds <= $0 } ?? true
    }
}

extension HeaderFields {
    /// Seconds from now until the time that `Retry-After` names, as a number or as a date; 0 for a time that
    /// has passed, `nil` for what is neither ([RFC 9110
    /// §10.2.3](https://www.rfc-editor.org/rfc/rfc9110#section-10.2.3)).
    ///
    /// A date is measured against the response's own `Date`: the clocks need not agree. The seconds since
    /// then that its `Age` tells, of a response from a cache, are over already ([RFC 9111
    /// §5.1](https://www.rfc-editor.org/rfc/rfc9111#section-5.1)).
    func retryAfter(now: Date) -> TimeInterval? {
        guard let text = self["Retry-After"] else { return nil }
        let digits = text.trimmingCharacters(in: .whitespaces)
        if !digits.isEmpty, digits.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }) {
            // A number that is too large for its type is a long time all the same.
            return max(0, TimeInterval(Int64(digits: digits) ?? .max) - age)
        }
        guard let date = HTTPDate(fieldValue: text, now: now) else { return nil }
        let reference = self["Date"].flatMap { HTTPDate(fieldValue: $0, now: now) }?.secondsSince1970
        let start = reference.map { TimeInterval($0) + age } ?? now.timeIntervalSince1970
        return max(0, TimeInterval(date.secondsSince1970) - start)
    }

    /// The seconds that the first `Age` tells; 0 for none, and for what is no number.
    private var age: TimeInterval {
        guard let text = self["Age"]?.split(separator: ",").first?.trimmingCharacters(in: .whitespaces),
            !text.isEmpty, text.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 })
        else { return 0 }
        return TimeInterval(Int64(digits: text) ?? .max)
    }
}

// MARK: - Codable

extension RetryPolicy: Codable {
    // Without the network, which is an object.
    private enum CodingKeys: CodingKey {
        case format, maximumRetries, budget, firstDelay, longestDelay, longestWait, methods, statusCodes, codes
    }
}
