public import Foundation

/// The choice of a proxy for requests. A value, asked anew for each redirect.
public enum ProxyConfiguration: Hashable, Sendable {
    /// The proxies of the process's environment, read once, as curl does:
    ///
    /// | URL   | Variables; the first that is not empty counts                |
    /// |-------|--------------------------------------------------------------|
    /// | http  | `http_proxy`, `all_proxy`, `ALL_PROXY`                       |
    /// | https | `https_proxy`, `HTTPS_PROXY`, `all_proxy`, `ALL_PROXY`       |
    ///
    /// But not for what `no_proxy`, or else `NO_PROXY`, lists. `HTTP_PROXY` does not count: in CGI programs
    /// it is a field of the client's request.
    case environment
    /// No proxy, whatever the environment says.
    case none
    /// One proxy, for http and https. `exceptions` are items as in `no_proxy`: `localhost`, `.example.org`,
    /// `10.0.0.0/8`, `example.org:8080`.
    case proxy(Proxy, exceptions: [String] = [])

    /// The proxy for a URL; `nil`: none, straight to the server.
    ///
    /// - Throws: ``ProxyError`` when the environment names a proxy that cannot be used: nothing goes around
    ///   it then.
    public func proxy(for url: URL) throws(ProxyError) -> Proxy? {
        try proxy(for: url, environment: .process)
    }

    /// The same with another environment.
    func proxy(for url: URL, environment: ProxyEnvironment) throws(ProxyError) -> Proxy? {
        switch self {
        case .environment: try environment.proxy(for: url)
        case .none: nil
        case .proxy(let proxy, let exceptions):
            exceptions.isEmpty || !ProxyExceptions(exceptions).contains(url) ? proxy : nil
        }
    }
}

// MARK: - Codable

extension ProxyConfiguration: Codable {
    private enum CodingKeys: String, CodingKey {
        case kind, proxy, exceptions
    }

    private enum Kind: String, Codable {
        case environment, none, proxy
    }

    /// A configuration from an earlier process. Credentials are not kept: see ``Proxy``.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        switch try values.decode(Kind.self, forKey: .kind) {
        case .environment: self = .environment
        case .none: self = .none
        case .proxy:
            self = .proxy(
                try values.decode(Proxy.self, forKey: .proxy),
                exceptions: try values.decode([String].self, forKey: .exceptions)
            )
        }
    }

    /// Everything but a proxy's credentials.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .environment: try values.encode(Kind.environment, forKey: .kind)
        case .none: try values.encode(Kind.none, forKey: .kind)
        case .proxy(let proxy, let exceptions):
            try values.encode(Kind.proxy, forKey: .kind)
            try values.encode(proxy, forKey: .proxy)
            try values.encode(exceptions, forKey: .exceptions)
        }
    }
}

// MARK: - The environment

/// The proxies of environment variables.
struct ProxyEnvironment: Sendable {
    /// The proxies of this process, read when they are first asked for.
    static let process = ProxyEnvironment(ProcessInfo.processInfo.environment)

    private let http: Result<Proxy?, ProxyError>
    private let https: Result<Proxy?, ProxyError>
    private let exceptions: ProxyExceptions
    /// Whether there is none for any URL.
    private let isEmpty: Bool

    init(_ variables: [String: String]) {
        func first(_ names: String...) -> String? {
            names.lazy.compactMap { variables[$0] }.first { !$0.isEmpty }
        }
        func proxy(_ text: String?) -> Result<Proxy?, ProxyError> {
            Result { () throws(ProxyError) in try text.map { text throws(ProxyError) in try Proxy(text) } }
        }
        http = proxy(first("http_proxy", "all_proxy", "ALL_PROXY"))
        https = proxy(first("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"))
        exceptions = ProxyExceptions(first("no_proxy", "NO_PROXY") ?? "")
        isEmpty = http == .success(nil) && https == .success(nil)
    }

    func proxy(for url: URL) throws(ProxyError) -> Proxy? {
        guard !isEmpty else { return nil }
        let proxy = url.scheme?.lowercased() == "https" ? https : http
        if case .success(nil) = proxy { return nil }
        return exceptions.contains(url) ? nil : try proxy.get()
    }
}
