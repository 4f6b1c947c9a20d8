import Foundation
public import FoundationNetworking

/// A rule of ``RequestStubs``: the requests that it matches, and its responses.
public struct RequestStub: Sendable {
    /// Equal for copies.
    let id = UUID()
    private let condition: @Sendable (URLRequest) -> Bool
    private let respond: @Sendable (URLRequest, _ number: Int) throws -> StubResponse

    /// Creates a rule for a method and an address, with one response per request; the last one answers all
    /// further requests.
    ///
    /// - Parameters:
    ///   - method: the method, case-insensitive.
    ///   - url: a URL with a host, or a path that begins with `/` and matches any server; anything else
    ///     traps. A query must equal the request's octet for octet; without a query, any query matches.
    ///   - first: the response to the first request.
    ///   - later: the responses to further requests.
    public init(_ method: String, _ url: String, _ first: StubResponse, _ later: StubResponse...) {
        let responses = [first] + later
        let address = StubAddress(url)
        self.init(
            where: { address.matches($0, method: method) },
            respond: { _, number in responses[min(number, responses.count - 1)] }
        )
    }

    /// Creates a rule for a method and an address, with a response that depends on the request.
    ///
    /// - Parameters:
    ///   - method: the method, case-insensitive.
    ///   - url: see ``init(_:_:_:_:)``.
    ///   - respond: returns the response to a request, whose whole body is in `httpBody`. Called on a queue
    ///     of the library, possibly concurrently, so it cannot use actor-isolated state. An error that it
    ///     throws is the request's transport error.
    public init(
        _ method: String,
        _ url: String,
        respond: @escaping @Sendable (URLRequest) throws -> StubResponse
    ) {
        let address = StubAddress(url)
        self.init(where: { address.matches($0, method: method) }, respond: respond)
    }

    /// Creates a rule for requests that satisfy a condition.
    ///
    /// - Parameters:
    ///   - condition: whether the rule matches a request. `httpBody` is `nil` if the body is a stream. Called
    ///     on a queue of the library, like `respond`.
    ///   - respond: returns the response to a request, whose whole body is in `httpBody`.
    public init(
        where condition: @escaping @Sendable (URLRequest) -> Bool,
        respond: @escaping @Sendable (URLRequest) throws -> StubResponse
    ) {
        self.init(where: condition, respond: { request, _ in try respond(request) })
    }

    private init(
        where condition: @escaping @Sendable (URLRequest) -> Bool,
        respond: @escaping @Sendable (URLRequest, Int) throws -> StubResponse
    ) {
        self.condition = condition
        self.respond = respond
    }

    func matches(_ request: URLRequest) -> Bool { condition(request) }

    func response(to request: URLRequest, number: Int) throws -> StubResponse {
        try respond(request, number)
    }
}

/// The address that a stub matches.
///
/// | Text                        | Matches                                          |
/// |-----------------------------|--------------------------------------------------|
/// | `https://host/users`        | that scheme, host, port and path, with any query |
/// | `https://host/users?page=2` | the same, with exactly that query                |
/// | `/users`                    | that path on any host                            |
///
/// Scheme and host are case-insensitive, default ports are filled in, and fragments are ignored.
struct StubAddress: Sendable {
    private let parts: URLComponents

    init(_ text: String) {
        guard let parts = URLComponents(string: URLReference(text).text),
            parts.host?.isEmpty == false && parts.scheme != nil
                || parts.host == nil && parts.scheme == nil && text.hasPrefix("/")
        else {
            preconditionFailure(
                """
                The stub "\(text)" is neither a URL with a host nor a path that begins with a slash. The path \
                includes that of the manager's base URL: for get("users") of http://host/v1 it is "/v1/users".
                """
            )
        }
        self.parts = parts
    }

    func matches(_ request: URLRequest, method: String) -> Bool {
        guard let url = request.url,
            let asked = URLComponents(url: url, resolvingAgainstBaseURL: true),
            method.isEqualIgnoringASCIICase(to: request.httpMethod ?? "GET")
        else { return false }
        if parts.host != nil {
            guard let own = parts.url, Origin(own) == Origin(url) else { return false }
        }
        if let query = parts.percentEncodedQuery, query != asked.percentEncodedQuery { return false }
        return Self.path(parts) == Self.path(asked)
    }

    private static func path(_ parts: URLComponents) -> String {
        parts.percentEncodedPath.isEmpty ? "/" : parts.percentEncodedPath
    }
}
