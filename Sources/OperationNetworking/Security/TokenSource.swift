public import Foundation
internal import OperationNetworkingSystem

/// The bearer token of a manager's requests, and its refresh: once for all operations that wait, when it
/// expires or a server refuses it.
///
/// ```swift
/// manager.tokenSource = TokenSource(TokenSource.Token(saved)) { last in
///     let answer = try await login.post("token", as: Answer.self)    // with another manager
///     return TokenSource.Token(answer.token, expiry: answer.expiry)
/// }
/// ```
///
/// Each operation sends the token to the origin of its own request, and to no other one. After a 401 it waits
/// for a token other than the one it sent, and sends its request once more; if that is refused as well, the
/// 401 is the response. An operation whose body can be read only once has nothing to send again, and fails;
/// the next operation waits for another token. When the closure throws, all that wait fail with what it
/// threw, and the next operation calls it again.
///
/// An operation that a manager makes while the closure runs, in its task, has no token of this source: it
/// would wait for itself. One that was made elsewhere must not be waited for there. Those that wait for the
/// token do not count for the limit of their queue, so the closure may send requests in it: see
/// ``TransferQueue``.
///
/// Cancelling an operation does not cancel what the others wait for. Callable from any thread.
public final class TokenSource: Sendable {
    /// A bearer token for the `Authorization` field, and its expiry.
    public struct Token: Hashable, Sendable {
        /// The token, as it is sent.
        public var value: String
        /// The time from which on it is not sent any more, also by an operation that has waited for a
        /// connection until then; `nil`: it is sent until a server refuses it. A token that has expired when
        /// it comes from the closure is sent once: the clock of this machine may be wrong.
        public var expiry: Date?

        /// A token, good until `expiry`.
        public init(_ value: String, expiry: Date? = nil) {
            self.value = value
            self.expiry = expiry
        }

        func isGood(at now: Date) -> Bool { expiry.map { $0 > now } ?? true }
    }

    /// Gets a token; `last` is the one before, which has expired or was refused.
    public typealias Refresh = @Sendable (_ last: Token?) async throws -> Token
    typealias Waiter = @Sendable (Result<Token, any Error>) -> Void

    private struct State {
        var token: Token? {
            didSet { isRefused = false }
        }
        /// Whether a server has refused `token`, and no operation could wait for another one.
        var isRefused = false
        var waiters: [Waiter] = []
        var isRefreshing = false
        /// Counts how often ``TokenSource/token`` was set.
        var generation = 0

        /// The token, if it may be sent.
        func goodToken(at now: Date) -> Token? {
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

    /// The call that the present task, or one that began it, is in.
    @TaskLocal private static var call: Call?

    private let refresh: Refresh
    private let state: Locked<State>

    /// Whether the present task is in its closure. A task that the closure began may outlive it.
    var isRefreshingHere: Bool {
        guard let call = TokenSource.call, call.source === self else { return false }
        return !call.isOver.withLock { $0 }
    }

    /// - Parameters:
    ///   - token: the first one; `nil`: the first operation waits for one.
    ///   - refresh: gets another one. Never called again before it has returned; those that wait for it have
    ///     no timeout of their own.
    public init(_ token: Token? = nil, @_inheritActorContext refresh: @escaping Refresh) {
        state = Locked(State(token: token))
        self.refresh = refresh
    }

    /// The token that is sent now. If you set `nil`, the next operation waits for a refreshed one. A token
    /// that is set while a refresh runs stays: the refreshed one is only for the operations that already wait
    /// for it.
    public var token: Token? {
        get { state.withLock { $0.token } }
        set {
            state.withLock { state in
                state.token = newValue
                state.generation += 1
            }
        }
    }

    /// The token, if it has not expired and was not refused; `nil`: the operation has to wait for one.
    var goodToken: Token? {
        let now = Date()
        return state.withLock { $0.goodToken(at: now) }
    }

    /// A server refused the token, and the operation that sent it cannot send its request again: the next one
    /// waits for another token.
    func noteRefusal(of refused: Token) {
        state.withLock { state in
            if state.token?.value == refused.value { state.isRefused = true }
        }
    }

    /// Calls `then` once, on any thread, at once perhaps, with a token that is another one than `refused`.
    func token(otherThan refused: Token?, then: @escaping Waiter) {
        let now = Date()
        let (ready, last, generation) = state.withLock { state -> (Token?, Token??, Int) in
            if let token = state.goodToken(at: now), token.value != refused?.value { return (token, nil, 0) }
            state.waiters.append(then)
            guard !state.isRefreshing else { return (nil, nil, 0) }
            state.isRefreshing = true
            return (nil, .some(state.token), state.generation)
        }
        if let ready { then(.success(ready)) }
        guard let last else { return }
        // A task of its own: no operation's cancellation reaches it.
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
            // The one that was refused would only be refused again. With NaN in its expiry it does not equal
            // itself.
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
    /// The expiry, and nothing of the token.
    public var description: String {
        guard let expiry else { return "token, hidden" }
        // Foundation traps where it describes a date that is not a number.
        guard !expiry.timeIntervalSinceReferenceDate.isNaN else {
            return "token, hidden, with an expiry that is not a number"
        }
        return "token, hidden, good until \(expiry)"
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// The same as ``description``: nothing to look into.
    public var customMirror: Mirror { Mirror(self, children: ["token": description]) }
}
