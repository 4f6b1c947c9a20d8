public import Foundation
public import FoundationNetworking
internal import OperationNetworkingSystem

/// Answers requests without a socket, for an app's tests: the `stubs` of a manager or of an operation.
///
/// ```swift
/// let stubs = RequestStubs([RequestStub("GET", "https://api.example.com/users/1", .json(["name": "Ann"]))])
/// manager.stubs = stubs
/// ```
///
/// Requests are answered in place of the network: what stands above it works as ever. Redirects, cookies,
/// credentials, retries, resuming, progress, serializers and batches see a stub's response as they would see
/// a server's. What belongs to connections does not happen: limits of connections and of bandwidth, proxies,
/// TLS and its trust, NTLM and Negotiate.
///
/// One object may serve several managers and operations, and be changed at any time, from any thread.
public final class RequestStubs: Sendable {
    /// The fate of a request that no stub answers.
    public enum Unmatched: Hashable, Sendable {
        /// The request fails with ``StubError/unmatched(method:url:)``.
        case fail
        /// The request goes to the network.
        case passThrough
    }

    private struct State {
        var stubs: [RequestStub]
        /// For each stub, how many requests it has answered.
        var counts: [Int]
        var requests: [URLRequest] = []
    }

    /// Servers of its own, also for the requests that go on to the network.
    let servers: ServerSet? = ServerSet()
    private let unmatched: Unmatched
    private let state: Locked<State>

    /// - Parameters:
    ///   - stubs: asked in this order; the first one that matches answers.
    ///   - unmatched: the fate of a request that none of them answers.
    public init(_ stubs: [RequestStub] = [], unmatched: Unmatched = .fail) {
        self.unmatched = unmatched
        state = Locked(State(stubs: stubs, counts: stubs.map { _ in 0 }))
    }

    // MARK: - Results

    /// The requests that came, in order, each redirect and each try one of them: as they would have gone to
    /// the server, with their cookies and credentials, and with the whole body in `httpBody`. Those that went
    /// to the network are missing.
    public var requests: [URLRequest] { state.withLock { $0.requests } }

    // MARK: - Commands

    /// Adds a stub, which is asked after the others.
    public func add(_ stub: RequestStub) {
        state.withLock { state in
            state.stubs.append(stub)
            state.counts.append(0)
        }
    }

    /// Replaces all stubs; requests that have begun keep their answers. ``requests`` stay.
    public func replaceAll(with stubs: [RequestStub]) {
        state.withLock { state in
            state.stubs = stubs
            state.counts = stubs.map { _ in 0 }
        }
    }

    /// Forgets the ``requests`` that came.
    public func removeRequests() {
        state.withLock { $0.requests = [] }
    }

    // MARK: - For the transfers

    /// The stub that answers a request, which is without its body if that is a stream; `nil`: the request is
    /// for the network. Calls the conditions of stubs, outside of any lock. Throws
    /// ``StubError/unmatched(method:url:)``.
    func stub(for request: URLRequest) throws -> RequestStub? {
        if let stub = state.withLock({ $0.stubs }).first(where: { $0.matches(request) }) { return stub }
        guard unmatched == .fail else { return nil }
        state.withLock { $0.requests.append(request) }
        throw StubError.unmatched(method: request.httpMethod ?? "GET", url: request.url)
    }

    /// The stub's response to a request, with its body. Calls the stub's closure, outside of any lock.
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

/// The error of a request that ``RequestStubs`` should have answered.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum StubError: Error, Hashable, Sendable {
    /// No stub matches.
    case unmatched(method: String, url: URL?)
}

extension StubError: LocalizedError, CustomStringConvertible {
    /// One sentence, with the request; secrets of its URL are replaced by `REDACTED`.
    public var description: String {
        switch self {
        case .unmatched(let method, let url):
            "No stub answers \(method) \(url.map(Redaction.text(of:)) ?? "without a URL")."
        }
    }

    /// The sentence of ``description``.
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
    /// The answers of a test, in place of the network. `nil` (the default) sends requests to the network.
    public var stubs: RequestStubs? {
        get { readTransferSettings { $0.stubs } }
        set { changeTransferSettings(named: #function) { $0.stubs = newValue } }
    }
}
