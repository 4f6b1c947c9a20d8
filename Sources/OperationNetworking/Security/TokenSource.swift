public import Foundation
internal import OperationNetworkingSystem

/// Provides the bearer token of a manager's requests, and refreshes it when it expires or a server refuses
/// it, once for all operations that are waiting.
///
/// ```swift
/// manager.tokenSource = TokenSource(TokenSource.Token(saved)) { last in
///     let answer = try await login.post("token", as: Answer.self)    // with another manager
///     return TokenSource.Token(answer.token, expiry: answer.expiry)
/// }
/// ```
///
/// An operation sends the token only to the origin of its own request. After a 401 it waits for a different
/// token and sends its request once more; if that is refused as well, the 401 is the response. An operation
/// whose body can be read only once cannot be sent again and fails; the next operation waits for a different
/// token. If the closure throws, all waiting operations fail with that error, and the next operation calls it
/// again.
///
/// Operations that a manager creates in the closure's task send no token of this source, because they would
/// deadlock. The closure must not wait for operations that were created elsewhere. Operations that wait for
/// the token do not count toward their queue's limit, so the closure can use the same queue: see
/// ``TransferQueue``.
///
/// Cancelling an operation does not cancel a refresh that others wait for. Callable from any thread.
public final class TokenSource: Sendable {
    /// A bearer token for the `Authorization` field, and its expiry.
    public struct Token: Hashable, Sendable {
        /// The token as it is sent.
        public var value: String
        /// The time after which the token is no longer sent, even by an operation that was waiting for a
        /// connection. With `nil` it is sent until a server refuses it. A token from the closure that has
        /// already expired is sent once, because this machine's clock may be wrong.
        public var expiry: Date?

        /// Creates a token that is valid until `expiry`.
        public init(_ value: String, expiry: Date? = nil) {
            self.value = value
            self.expiry = expiry
        }

        func isGood(at now: Date) -> Bool { expiry.map { $0 > now } ?? true }
    }

    /// Fetches a token. `last` is the previous one, which has expired or was refused.
    public typealias Refresh = @Sendable (_ last: Token?) async throws -> Token
    typealias Waiter = @Sendable (Result<Token, any Error>) -> Void

    private struct State {
        var token: Token? {
            didSet { isRefused = false }
        }
        /// Whether a server refused `token`, and no operation could wait for a different one.
        var isRefused = false
        var waiters: [Waiter] = []
        var isRefreshing = false
        /// Incremented when ``TokenSource/token`` is set.
        var generation = 0

        /// The token, if it is valid.
        func validToken(at now: Date) -> Token? {
            isRefused ? nil : token.flatMap { $0.isGood(at: now) ? $0 : nil }
        }
    }

    /// A call of the closure.
    private final class Call: Sendable {
        let source: TokenSource
        let isOver = Locked(false)

        init(_ source: TokenSource) {
            self.source = source
        }
    }

    /// The call of the closure that the current task belongs to.
    @TaskLocal private static var call: Call?

    private let refresh: Refresh
    private let state: Locked<State>

    /// Whether the current task belongs to a running call of this source's closure. Tasks that the closure
    /// created may outlive it.
    var isRefreshingHere: Bool {
        guard let call = TokenSource.call, call.source === self else { return false }
        return !call.isOver.withLock { $0 }
    }

    /// - Parameters:
    ///   - token: the first token; with `nil`, the first operation waits for one.
    ///   - refresh: fetches another token. Calls never overlap. Operations that wait for it have no separate
    ///     timeout.
    public init(_ token: Token? = nil, @_inheritActorContext refresh: @escaping Refresh) {
        state = Locked(State(token: token))
        self.refresh = refresh
    }

    /// The current token. If you set `nil`, the next operation waits for a refresh. A token that is set
    /// during a refresh is kept; the refreshed one is used only by operations that are already waiting for
    /// it.
    public var token: Token? {
        get { state.withLock { $0.token } }
        set {
            state.withLock { state in
                state.token = newValue
                state.generation += 1
            }
        }
    }

    /// The token, if it has neither expired nor been refused; otherwise the operation has to wait for one.
    var validToken: Token? {
        let now = Date()
        return state.withLock { $0.validToken(at: now) }
    }

    /// Records that a server refused the token of an operation that cannot send its request again. The next
    /// operation waits for a different token.
    func noteRefusal(of refused: Token) {
        state.withLock { state in
            if state.token?.value == refused.value { state.isRefused = true }
        }
    }

    /// Calls `then` once, on any thread, possibly before returning, with a token other than `refused`.
    func token(otherThan refused: Token?, then: @escaping Waiter) {
        let now = Date()
        let (ready, last, generation) = state.withLock { state -> (Token?, Token??, Int) in
            if let token = state.validToken(at: now), token.value != refused?.value { return (token, nil, 0) }
            state.waiters.append(then)
            guard !state.isRefreshing else { return (nil, nil, 0) }
            state.isRefreshing = true
            return (nil, .some(state.token), state.generation)
        }
        if let ready { then(.success(ready)) }
        guard let last else { return }
        // An unstructured task, so that cancelling an operation does not cancel it.
        Task {
            do {
                let call = Call(self)
                defer { call.isOver.withLock { $0 = true } }
                let token = try await TokenSource.$call.withValue(call) { try await self.refresh(last) }
                self.end(last, generation, .success(token))
            } catch {
                self.end(last, generation, .failure(error))
            }
        }
    }

    private func end(_ last: Token?, _ generation: Int, _ result: Result<Token, any Error>) {
        let waiters = state.withLock { state in
            switch result {
            case .success(let token): if state.generation == generation { state.token = token }
            // A refused token would only be refused again. With NaN as its expiry it does not equal itself.
            case .failure: if state.generation == generation || state.token == last { state.token = nil }
            }
            state.isRefreshing = false
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter(result) }
    }
}

extension TokenSource.Token: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The expiry, without the token.
    public var description: String {
        guard let expiry else { return "token, hidden" }
        // Foundation traps when it describes a date that is NaN.
        guard !expiry.timeIntervalSinceReferenceDate.isNaN else {
            return "token, hidden, with an expiry that is not a number"
        }
        return "token, hidden, valid until \(expiry)"
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// The same as ``description``.
    public var customMirror: Mirror { Mirror(self, children: ["token": description]) }
}
