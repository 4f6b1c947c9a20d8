import Foundation
import FoundationNetworking
import OperationNetworkingSystem
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

/// The count of retries, and the waits before them. Times are said, not measured; delays are 0, or just as
/// long as the server asks for, so that none is random.
@Suite struct AttemptsTests {
    private let request = URLRequest(url: URL(fileURLWithPath: "/"))

    private func policy(_ maximumRetries: Int = 1, timeBudget: TimeInterval? = nil) -> RetryPolicy {
        var policy = RetryPolicy(maximumRetries: maximumRetries, timeBudget: timeBudget)
        policy.initialDelay = 0
        return policy
    }

    private func time(_ seconds: Double) -> MonotonicTime { MonotonicTime(seconds: seconds) }

    private func head(_ status: Int, _ fields: HeaderFields = [:]) -> ResponseHead {
        ResponseHead(version: "HTTP/1.1", status: status, fields: fields)
    }

    /// The wait after a connection that was lost; `nil`: the error is the result.
    private func waitAfterLoss(_ attempts: inout Attempts) -> TimeInterval? {
        attempts.wait(after: URLError(.networkConnectionLost), to: request, now: time(0))
    }

    /// The wait after 503 with this `Retry-After`.
    private func wait(_ attempts: inout Attempts, retryAfter: Int, at now: Double) -> TimeInterval? {
        attempts.wait(after: head(503, ["Retry-After": "\(retryAfter)"]), to: request, now: time(now))
    }

    private func wait(_ attempts: inout Attempts, whileHostRests seconds: Double, at now: Double = 0)
        -> TimeInterval?
    {
        attempts.wait(whileHostRests: seconds, now: time(now))
    }

    // MARK: - Which ends are retried

    private static let errors: [(any Error, Bool)] = [
        (URLError(.networkConnectionLost), true),
        (URLError(.timedOut), true),
        (URLError(.cancelled), false),
        (URLError(.badServerResponse), false),
        (ProxyError.unreachable(proxy: "p", reason: "r"), true),
        (ProxyError.refused(proxy: "p", status: 503), true),
        (ProxyError.refused(proxy: "p", status: 403), false),
        (ProxyError.failed(proxy: "p", reason: "r", isTemporary: true), true),
        (ProxyError.failed(proxy: "p", reason: "r", isTemporary: false), false),
        (ProxyError.authenticationRequired(proxy: "p"), false),
        (ProxyError.malformed(reason: "r"), false),
        (CredentialError.invalidToken, false),
        (CancellationError(), false),
    ]

    @Test(arguments: errors) func onlyErrorsThatMayPassAreRetried(error: any Error, isRetried: Bool) {
        var attempts = Attempts(policy: policy())
        let wait = attempts.wait(after: error, to: request, now: time(0))
        #expect(wait == (isRetried ? 0 : nil))
        #expect((waitAfterLoss(&attempts) == nil) == isRetried, "only a retry is counted")
    }

    private static let date = "Sun, 06 Nov 1994 08:49:30 GMT"
    private static let heads: [(Int, HeaderFields, TimeInterval?)] = [
        (503, [:], 0),
        (503, ["Retry-After": "7"], 7),
        (503, ["Retry-After": "soon"], 0),
        (503, ["Retry-After": "Sun, 06 Nov 1994 08:49:37 GMT", "Date": date], 7),
        (429, ["Retry-After": "600"], 600),
        (429, ["Retry-After": "601"], nil),
        (404, ["Retry-After": "7"], nil),
        (200, [:], nil),
    ]

    @Test(arguments: heads)
    func theStatusAndItsRetryAfterDecide(status: Int, fields: HeaderFields, expected: TimeInterval?) {
        var attempts = Attempts(policy: policy())
        #expect(attempts.wait(after: head(status, fields), to: request, now: time(0)) == expected)
    }

    private static let methods: [(String?, Bool)] = [
        (nil, true), ("GET", true), ("get", true), ("delete", true), ("POST", false), ("post", false),
        ("PURGE", false),
    ]

    @Test(arguments: methods) func theMethodCountsInAnyCase(method: String?, isRetried: Bool) {
        var request = request
        request.httpMethod = method
        var attempts = Attempts(policy: policy())
        #expect((attempts.wait(after: URLError(.timedOut), to: request, now: time(0)) != nil) == isRetried)
        var own = policy()
        own.methods = ["POST"]
        attempts = Attempts(policy: own)
        let isPost = method?.uppercased() == "POST"
        #expect((attempts.wait(after: URLError(.timedOut), to: request, now: time(0)) != nil) == isPost)
    }

    // MARK: - The count

    @Test(arguments: [nil, 0, 1, 3]) func theRequestIsSentAgainAsOftenAsThePolicySays(maximum: Int?) {
        var attempts = Attempts(policy: maximum.map { policy($0) })
        var count = 0
        while count < 10, waitAfterLoss(&attempts) != nil { count += 1 }
        #expect(count == maximum ?? 0)
    }

    /// The bytes held after each attempt, the bytes that count as progress, and whether the retries that went
    /// before are forgotten.
    private static let progresses: [([Int64], Int64, Bool)] = [
        ([], 1, false),
        ([0], 1, false),
        ([1], 1, true),
        ([16_383], 16_384, false),
        ([16_384], 16_384, true),
        ([8192, 8192], 16_384, false),
        ([8192, 16_384], 16_384, true),
        ([16_384, 0], 16_384, true),
    ]

    @Test(arguments: progresses)
    func enoughNewBytesBeginTheCountAgain(held: [Int64], progress: Int64, isAnew: Bool) {
        var attempts = Attempts(policy: policy())
        #expect(waitAfterLoss(&attempts) == 0)
        for held in held { attempts.note(held: held, progress: progress) }
        #expect(waitAfterLoss(&attempts) == (isAnew ? 0 : nil))
    }

    @Test func bytesThatWereHeldBeforeAreNoProgress() {
        var attempts = Attempts(policy: policy())
        attempts.note(held: 100)
        #expect(waitAfterLoss(&attempts) == 0)
        for held: Int64 in [100, 50, 100] {
            attempts.note(held: held)
            #expect(waitAfterLoss(&attempts) == nil, "\(held)")
        }
        attempts.note(held: 101)
        #expect(waitAfterLoss(&attempts) == 0)
    }

    /// A server with another file each time is not asked for ever: bytes that begin anew are no progress.
    @Test func bytesThatStartOverAreNoProgress() {
        var attempts = Attempts(policy: policy())
        attempts.note(held: 100)
        #expect(waitAfterLoss(&attempts) == 0)
        attempts.noteRestart()
        attempts.note(held: 100)
        #expect(waitAfterLoss(&attempts) == nil)
        attempts.note(held: 101)
        #expect(waitAfterLoss(&attempts) == 0)
    }

    /// A file that has changed comes in pieces, as the one before did.
    @Test func bytesThatStartedOverAndAreContinuedAreProgressTenTimes() {
        var attempts = Attempts(policy: policy())
        attempts.note(held: 100)
        #expect(waitAfterLoss(&attempts) == 0)
        for restart in 1...11 {
            attempts.noteRestart()
            attempts.noteContinuation(of: 10)
            attempts.note(held: 100)
            #expect((waitAfterLoss(&attempts) == 0) == (restart <= 10), "\(restart)")
        }
    }

    // MARK: - The time budget

    /// Seconds since the beginning, `Retry-After`, and the wait with a budget of ten seconds.
    private static let waits: [(Double, Int, TimeInterval?)] = [
        (0, 10, 10), (0, 11, nil), (5, 5, 5), (5, 6, nil), (10, 0, 0), (10.5, 0, nil),
    ]

    @Test(arguments: waits)
    func noWaitEndsAfterTheBudget(elapsed: Double, retryAfter: Int, expected: TimeInterval?) {
        var attempts = Attempts(policy: policy(timeBudget: 10))
        attempts.begin(now: time(100))
        #expect(wait(&attempts, retryAfter: retryAfter, at: 100 + elapsed) == expected)
        var resting = Attempts(policy: policy(timeBudget: 10))
        resting.begin(now: time(100))
        #expect(wait(&resting, whileHostRests: Double(retryAfter), at: 100 + elapsed) == expected)
    }

    @Test func aResumptionDoesNotBeginTheBudgetAgain() {
        var attempts = Attempts(policy: policy(timeBudget: 10))
        attempts.begin(now: time(100))
        attempts.begin(now: time(108))
        #expect(wait(&attempts, retryAfter: 2, at: 109) == nil)
        #expect(wait(&attempts, retryAfter: 1, at: 109) == 1)
    }

    // MARK: - A server that rests

    @Test func theWaitsOfOneAttemptForItsServerAreAddedUp() {
        var policy = policy()
        policy.maximumWait = 10
        var attempts = Attempts(policy: policy)
        #expect(wait(&attempts, whileHostRests: 6) == 6)
        #expect(wait(&attempts, whileHostRests: 5) == nil)
        #expect(wait(&attempts, whileHostRests: 4) == 4)
        #expect(wait(&attempts, whileHostRests: 1) == nil)
        #expect(waitAfterLoss(&attempts) == 0)
        #expect(wait(&attempts, whileHostRests: 10) == 10, "the next attempt has waited for nothing")
    }

    @Test func waitsForTheServerAreNoRetries() {
        var attempts = Attempts(policy: policy())
        for _ in 1...5 { #expect(wait(&attempts, whileHostRests: 1) == 1) }
        #expect(waitAfterLoss(&attempts) == 0)
        #expect(waitAfterLoss(&attempts) == nil)
    }

    @Test func aResumedAttemptWaitsForNothingAndTheNextOneDoes() {
        var attempts = Attempts(policy: policy())
        attempts.begin(now: time(0))
        #expect(attempts.mayWait)
        attempts.begin(now: time(1))
        #expect(!attempts.mayWait)
        #expect(wait(&attempts, whileHostRests: 5) == nil)
        #expect(waitAfterLoss(&attempts) == 0)
        #expect(attempts.mayWait)
        #expect(wait(&attempts, whileHostRests: 5) == 5)
    }

    @Test func withoutAPolicyThereIsNoWait() {
        var attempts = Attempts(policy: nil)
        #expect(!attempts.mayWait)
        #expect(wait(&attempts, whileHostRests: 5) == nil)
        #expect(attempts.rest(after: head(503, ["Retry-After": "7"])) == nil)
    }

    /// Other operations may wait longer than this one.
    private static let rests: [(Int, HeaderFields, TimeInterval?)] = [
        (503, ["Retry-After": "7"], 7),
        (429, ["Retry-After": "6000"], 6000),
        (503, [:], nil),
        (503, ["Retry-After": "soon"], nil),
        (404, ["Retry-After": "7"], nil),
        (200, ["Retry-After": "7"], nil),
    ]

    @Test(arguments: rests)
    func aRetryAfterIsReportedEvenIfNobodyWaits(status: Int, fields: HeaderFields, expected: TimeInterval?) {
        #expect(Attempts(policy: policy(0)).rest(after: head(status, fields)) == expected)
    }

    @Test(arguments: [-1, -Double.infinity, .nan, .infinity])
    func anInvalidDelayDoesNotTrap(delay: Double) throws {
        final class NoNetwork: NetworkWaiting {
            func waitForNetwork() async -> Bool { false }
        }
        var policy = RetryPolicy(maximumRetries: 1)
        policy.network = NoNetwork()
        (policy.initialDelay, policy.maximumDelay) = (delay, .infinity)
        #expect(try #require(Attempts(policy: policy).networkWait(now: .now)).delay == 0)
        (policy.initialDelay, policy.maximumDelay) = (.infinity, delay)
        #expect(try #require(Attempts(policy: policy).networkWait(now: .now)).delay == 0)
    }
}
