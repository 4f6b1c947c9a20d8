import Foundation
public import FoundationNetworking

/// One rule of ``RequestStubs``: which requests it is for, and how it answers them.
public struct RequestStub: Sendable {
    /// The same for copies.
    let id = UUID()
    private let condition: @Sendable (URLRequest) -> Bool
    private let respond: @Sendable (URLRequest, _ number: Int) throws -> StubResponse

    /// A rule for a method and an address, with one response for each request that comes; the last one is for
    /// all later requests.
    ///
    /// - Parameters:
    ///   - method: compared without regard to case.
    ///   - url: a URL with a host, or a path from `/` on, which any server may have; anything else is a
    ///     mistake of the test, and traps. A query in it has to be the request's, octet for octet; without
    ///     one the request may have any.
    ///   - first: the response to the first request.
    ///   - later: the responses to the next ones.
    public init(_ method: String, _ url: String, _ first: StubResponse, _ later: StubResponse...) {
        let responses = [first] + later
        let address = StubAddress(url)
        self.init(
            where: { address.matches($0, method: method) },
            respond: { _, number in responses[min(number, responses.count - 1)] }
        )
    }

    /// A rule for a method and an address, with a response that depends on the request.
    ///
    /// - Parameters:
    ///   - method: as in the other initializers.
    ///   - url: as in the other initializers.
    ///   - respond: makes the response to a request, whose whole body is in `httpBody`. Called on a queue of
    ///     the library, for several requests at once perhaps, so it cannot use what belongs to an actor; what
    ///     it throws is the request's transport error.
    public init(
        _ method: String,
        _ url: String,
        respond: @escaping @Sendable (URLRequest) throws -> StubResponse
    ) {
        let address = StubAddress(url)
        self.init(where: { address.matches($0, method: method) }, respond: respond)
    }

    /// A rule for the requests that meet a condition.
    ///
    /// - Parameters:
    ///   - condition: whether the rule is for a request. `httpBody` is `nil` where the body is a stream.
    ///     Called on a queue of the library, as `respond` is.
    ///   - respond: makes the response to a request, whose whole body is in `httpBody`.
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

/// The address that a stub is for.
///
/// | Text                        | Matches                                                    |
/// |-----------------------------|------------------------------------------------------------|
/// | `https://host/users`        | that scheme, host, port and path, with any query           |
/// | `https://host/users?page=2` | the same, with just that query                             |
/// | `/users`                    | that path at any host                                      |
///
/// Scheme and host are compared without regard to case, default ports are filled in, and fragments do not
/// count.
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
