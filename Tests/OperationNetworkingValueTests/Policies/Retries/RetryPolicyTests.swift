import Foundation
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite struct RetryPolicyTests {
    typealias Outcome = RetryPolicy.Outcome

    private func delay(
        _ policy: RetryPolicy = RetryPolicy(),
        after outcome: Outcome,
        method: String = "GET",
        retries: Int = 0,
        elapsed: TimeInterval = 0,
        chance: Double = 1
    ) -> TimeInterval? {
        policy.delay(after: outcome, method: method, retries: retries, elapsed: elapsed, chance: chance)
    }

    @Test(arguments: [408, 425, 429, 500, 502, 503, 504])
    func retryableStatuses(status: Int) {
        #expect(delay(after: .status(status, retryAfter: nil)) == 0.5)
    }

    @Test(arguments: [200, 206, 301, 304, 400, 401, 403, 404, 410, 416, 501, 505])
    func otherStatusesAreTheResult(status: Int) {
        #expect(delay(after: .status(status, retryAfter: nil)) == nil)
    }

    @Test(arguments: [
        URLError.Code.timedOut, .networkConnectionLost, .cannotConnectToHost, .cannotFindHost,
    ])
    func retryableErrors(code: URLError.Code) {
        #expect(delay(after: .error(code)) == 0.5)
    }

    @Test(arguments: [
        URLError.Code.cancelled, .badURL, .unsupportedURL, .badServerResponse, .serverCertificateUntrusted,
        .secureConnectionFailed,
        .dataLengthExceedsMaximum, .requestBodyStreamExhausted, .httpTooManyRedirects,
    ])
    func otherErrorsAreTheResult(code: URLError.Code) {
        #expect(delay(after: .error(code)) == nil)
    }

    @Test func whatCannotBeRepeatedIsTheResult() {
        #expect(delay(after: .final) == nil)
    }

    @Test(arguments: [
        ("GET", true), ("HEAD", true), ("PUT", true), ("DELETE", true), ("POST", false), ("PATCH", false),
    ])
    func onlyIdempotentMethodsAreSentAgain(method: String, isSent: Bool) {
        #expect((delay(after: .error(.timedOut), method: method) != nil) == isSent)
        var policy = RetryPolicy()
        policy.methods = ["POST"]
        #expect((delay(policy, after: .error(.timedOut), method: method) != nil) == (method == "POST"))
    }

    @Test func delaysDoubleUpToTheLongest() {
        let policy = RetryPolicy(maximumRetries: 100)
        let delays = [0, 1, 2, 3, 5, 6, 99].map { delay(policy, after: .error(.timedOut), retries: $0) }
        #expect(delays == [0.5, 1, 2, 4, 16, 30, 30])
    }

    @Test(arguments: [0, 0.25, 1])
    func theJitterLiesBetweenZeroAndTheWholeDelay(chance: Double) {
        #expect(delay(after: .error(.timedOut), retries: 2, chance: chance) == 2 * chance)
    }

    @Test(arguments: [
        (0.5, Double.nan, 16.0), (Double.nan, 30.0, 30.0), (Double.nan, Double.nan, 0.0),
    ])
    func aNaNDelayIsZero(initial: TimeInterval, maximum: TimeInterval, expected: TimeInterval) {
        var policy = RetryPolicy(maximumRetries: 10)
        (policy.initialDelay, policy.maximumDelay) = (initial, maximum)
        #expect(delay(policy, after: .error(.timedOut), retries: 5) == expected)
        #expect(delay(policy, after: .status(503, retryAfter: nil), retries: 5) == expected)
    }

    @Test func itIsRetriedAsOftenAsConfigured() {
        #expect(delay(RetryPolicy(maximumRetries: 2), after: .error(.timedOut), retries: 1) != nil)
        #expect(delay(RetryPolicy(maximumRetries: 2), after: .error(.timedOut), retries: 2) == nil)
        #expect(delay(RetryPolicy(maximumRetries: 0), after: .error(.timedOut)) == nil)
        #expect(delay(RetryPolicy(maximumRetries: -1), after: .error(.timedOut)) == nil)
    }

    @Test func noAttemptBeginsAfterTheBudget() {
        let policy = RetryPolicy(maximumRetries: 10, timeBudget: 10)
        #expect(delay(policy, after: .error(.timedOut), elapsed: 9.5) == 0.5)
        #expect(delay(policy, after: .error(.timedOut), elapsed: 9.6) == nil)
        #expect(delay(policy, after: .status(503, retryAfter: 5), elapsed: 4) == 5.5)
        #expect(delay(policy, after: .status(503, retryAfter: 5), elapsed: 6) == nil)
    }

    @Test func retryAfterCounts() {
        #expect(delay(after: .status(503, retryAfter: 7), chance: 0) == 7)
        #expect(delay(after: .status(503, retryAfter: 0.1), retries: 1) == 1)
        #expect(delay(after: .status(503, retryAfter: 600), chance: 0) == 600)
        #expect(delay(after: .status(503, retryAfter: 601)) == nil)
    }

    @Test func thoseThatGotTheSameTimeReturnOneAfterTheOther() {
        var policy = RetryPolicy()
        policy.initialDelay = 2
        let delays = [0, 0.5, 1].map { delay(policy, after: .status(503, retryAfter: 7), chance: $0) }
        #expect(delays == [7, 8, 9])
        policy.maximumDelay = 1
        #expect(delay(policy, after: .status(503, retryAfter: 7), chance: 1) == 8)
    }

    // MARK: - When another operation has to wait

    private func wait(
        _ policy: RetryPolicy = RetryPolicy(),
        for asked: TimeInterval,
        waited: TimeInterval = 0,
        elapsed: TimeInterval = 0,
        chance: Double = 0
    ) -> TimeInterval? {
        policy.delay(whileHostRests: asked, waited: waited, elapsed: elapsed, chance: chance)
    }

    @Test func anAttemptWaitsForItsServerAndALittleLonger() {
        #expect(wait(for: 7) == 7)
        #expect(wait(for: 7, chance: 1) == 7.5)
    }

    @Test func anAttemptThatMayNotWaitThatLongDoesNotWait() {
        #expect(wait(for: 600) == 600)
        #expect(wait(for: 601) == nil)
        #expect(wait(for: 200, waited: 400) == 200)
        #expect(wait(for: 200, waited: 401) == nil)
        let policy = RetryPolicy(timeBudget: 10)
        #expect(wait(policy, for: 6, elapsed: 4) == 6)
        #expect(wait(policy, for: 6, elapsed: 4, chance: 1) == nil)
        #expect(wait(policy, for: 6, elapsed: 5) == nil)
    }

    // MARK: - Sending twice

    @Test(arguments: [
        ("GET", true), ("HEAD", true), ("PUT", true), ("DELETE", true), ("OPTIONS", true), ("TRACE", true),
        ("POST", false), ("PATCH", false), ("CONNECT", false), ("get", false), ("LOCK", false),
    ])
    func onlyWhatIsKnownToBeIdempotentMayBeSentTwice(method: String, may: Bool) {
        #expect(RetryPolicy.maySendAgain(method, policy: nil) == may)
        #expect(RetryPolicy.maySendAgain(method, policy: RetryPolicy()) == may)
        var policy = RetryPolicy()
        policy.methods = ["POST"]
        #expect(RetryPolicy.maySendAgain(method, policy: policy) == (may || method == "POST"))
    }

    // MARK: - Archives

    @Test func itIsRestoredFromItsArchive() throws {
        var policy = RetryPolicy(maximumRetries: 7, timeBudget: 90)
        policy.initialDelay = 0.25
        policy.maximumDelay = 4
        policy.maximumWait = 8
        policy.methods = ["POST"]
        policy.statusCodes = [503]
        policy.errorCodes = [.timedOut, .cannotFindHost]
        for policy in [policy, RetryPolicy()] {
            let data = try JSONEncoder().encode(policy)
            #expect(try JSONDecoder().decode(RetryPolicy.self, from: data) == policy)
        }
    }

    // MARK: - Retry-After

    @Test(
        arguments: [
            ("120", nil, 120), (" 5 ", nil, 5), ("0", nil, 0), ("-1", nil, nil), ("1.5", nil, nil),
            ("soon", nil, nil),
            ("", nil, nil), ("99999999999999999999", nil, TimeInterval(Int64.max)),
            ("Fri, 31 Dec 1999 23:59:59 GMT", "Fri, 31 Dec 1999 23:59:09 GMT", 50),
            ("Fri, 31 Dec 1999 23:59:59 GMT", nil, 9),
            ("Fri, 31 Dec 1999 23:59:00 GMT", "Fri, 31 Dec 1999 23:59:09 GMT", 0),
        ] as [(String, String?, TimeInterval?)]
    )
    func readsRetryAfter(text: String, date: String?, seconds: TimeInterval?) {
        var fields: HeaderFields = ["Retry-After": text]
        if let date { fields["Date"] = date }
        // Nine seconds before the last one of 1999.
        #expect(fields.retryAfter(now: Date(timeIntervalSince1970: 946_684_790)) == seconds)
    }

    @Test(
        arguments: [
            ("60", "50", 10), ("60", "3000", 0), ("60", "20, 50", 40), ("60", "soon", 60), ("60", "-1", 60),
            ("60", "99999999999999999999", 0), ("Fri, 31 Dec 1999 23:59:59 GMT", "20", 30),
            ("Fri, 31 Dec 1999 23:59:59 GMT", "70", 0),
        ] as [(String, String, TimeInterval)]
    )
    func retryAfterIsReducedByTheAge(text: String, age: String, seconds: TimeInterval) {
        let date = "Fri, 31 Dec 1999 23:59:09 GMT"
        let fields: HeaderFields = ["Retry-After": text, "Date": date, "Age": age]
        #expect(fields.retryAfter(now: Date(timeIntervalSince1970: 946_684_790)) == seconds)
    }
}
