public import Foundation
public import FoundationNetworking
internal import OperationNetworkingSystem

/// Answers requests without a network, for an app's tests. Set as the `stubs` of a manager or an operation.
///
/// ```swift
/// let stubs = RequestStubs([RequestStub("GET", "https://api.example.com/users/1", .json(["name": "Ann"]))])
/// manager.stubs = stubs
/// ```
///
/// Stubs replace only the network. Redirects, cookies, credentials, retries, resuming, progress, serializers
/// and batches handle a stub's response like a server's. Features of connections do not apply: connection and
/// bandwidth limits, proxies, TLS and its trust evaluation, NTLM and Negotiate.
///
/// What a stubbed server says (`Retry-After`, accepted credentials) is remembered for the same stubs only.
/// Jars, caches and `URLCredentialStorage` are settings, and are not kept apart.
///
/// One object may serve several managers and operations, and be changed at any time, from any thread.
public final class RequestStubs: Sendable {
    /// The handling of requests that no stub matches.
    public enum Unmatched: Hashable, Sendable {
        /// The request fails with ``StubError/unmatched(method:url:)``.
        case fail
        /// The request goes to the network.
        case passThrough
    }

    private struct State {
        var stubs: [RequestStub]
        /// The number of requests that each stub has answered.
        var counts: [Int]
        var requests: [URLRequest] = []
    }

    /// A separate set of servers, also for requests that pass through to the network.
    let servers: ServerSet? = ServerSet()
    private let unmatched: Unmatched
    private let state: Locked<State>

    /// - Parameters:
    ///   - stubs: the stubs; the first one that matches answers.
    ///   - unmatched: the handling of requests that no stub matches.
    public init(_ stubs: [RequestStub] = [], unmatched: Unmatched = .fail) {
        self.unmatched = unmatched
        state = Locked(State(stubs: stubs, counts: stubs.map { _ in 0 }))
    }

    // MARK: - Results

    /// The requests that were received, in order, including redirects and retries. Each is as a server would
    /// have received it, with its cookies and credentials, and with the whole body in `httpBody`. Requests
    /// that passed through to the network are not included.
    public var requests: [URLRequest] { state.withLock { $0.requests } }

    // MARK: - Commands

    /// Adds a stub after the others.
    public func add(_ stub: RequestStub) {
        state.withLock { state in
            state.stubs.append(stub)
            state.counts.append(0)
        }
    }

    /// Replaces all stubs. Requests that have begun keep their answers, and ``requests`` is unchanged.
    public func replaceAll(with stubs: [RequestStub]) {
        state.withLock { state in
            state.stubs = stubs
            state.counts = stubs.map { _ in 0 }
        }
    }

    /// Removes all ``requests``.
    public func removeRequests() {
        state.withLock { $0.requests = [] }
    }

    // MARK: - For the transfers

    /// Returns the stub that matches a request, which lacks its body if that is a stream; `nil` if the
    /// request passes through. Calls the stubs' conditions outside of any lock. Throws
    /// ``StubError/unmatched(method:url:)``.
    func stub(for request: URLRequest) throws -> RequestStub? {
        if let stub = state.withLock({ $0.stubs }).first(where: { $0.matches(request) }) { return stub }
        guard unmatched == .fail else { return nil }
        state.withLock { $0.requests.append(request) }
        throw StubError.unmatched(method: request.httpMethod ?? "GET", url: request.url)
    }

    /// Returns the stub's response to a request, which has its body. Calls the stub's closure outside of any
    /// lock.
    func response(of stub: RequestStub, to request: URLRequest) throws -> StubResponse {
        let count = state.withLock { state in
            state.requests.append(request)
            guard let index = state.stubs.firstIndex(where: { $0.id == stub.id }) else { return 0 }
            defer { state.counts[index] += 1 }
            return state.counts[index]
        }
        return try stub.response(to: request, number: count)
    }
}

/// The error of a request that ``RequestStubs`` could not answer.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum StubError: Error, Hashable, Sendable {
    /// No stub matches.
    case unmatched(method: String, url: URL?)
}

extension StubError: LocalizedError, CustomStringConvertible {
    /// One sentence, with the request; secrets in its URL are replaced by `REDACTED`.
    public var description: String {
        switch self {
        case .unmatched(let method, let url):
            "No stub matches \(method) \(url.map(Redaction.text(of:)) ?? "without a URL")."
        }
    }

    /// The same as ``description``.
    public var errorDescription: String? { description }
}

// MARK: - ClassifiedError

extension StubError: ClassifiedError {
    package var traits: FailureTraits {
        .mistake
    }
}

extension TransferSettings {
    /// See ``TransferConfigurable/stubs``.
    public var stubs: RequestStubs? {
        get { layers[.stubs] as? RequestStubs }
        set { layers[.stubs] = newValue }
    }
}

extension TransferConfigurable {
    /// The stubs that replace the network in a test. `nil` (the default) sends requests to the network.
    public var stubs: RequestStubs? {
        get { readTransferSettings { $0.stubs } }
        set { changeTransferSettings(named: #function) { $0.stubs = newValue } }
    }
}
