public import Foundation
internal import OperationNetworkingSystem

/// Chooses the proxy of a request, and again for each redirect. Encoded without the proxy's credentials.
public enum ProxyConfiguration: Hashable, Codable, Sendable {
    /// The proxies of the process's environment, read once, as in curl:
    ///
    /// | URL   | Variables; the first that is not empty is used         |
    /// |-------|--------------------------------------------------------|
    /// | http  | `http_proxy`, `all_proxy`, `ALL_PROXY`                 |
    /// | https | `https_proxy`, `HTTPS_PROXY`, `all_proxy`, `ALL_PROXY` |
    ///
    /// Servers in `no_proxy`, or else `NO_PROXY`, are contacted directly. `HTTP_PROXY` is ignored: in CGI
    /// programs it is a field of the client's request.
    case environment
    /// No proxy, even if the environment names one.
    case none
    /// One proxy for http and https. `exceptions` are items as in `no_proxy`: `localhost`, `.example.org`,
    /// `10.0.0.0/8`, `example.org:8080`.
    case proxy(Proxy, exceptions: [String] = [])

    /// Returns the proxy for a URL; `nil` for a direct connection.
    ///
    /// - Throws: ``ProxyError`` if the environment names a proxy that cannot be used; requests never bypass
    ///   it.
    public func proxy(for url: URL) throws(ProxyError) -> Proxy? {
        try proxy(for: url, environment: .process)
    }

    /// The same with the given environment.
    func proxy(for url: URL, environment: ProxyEnvironment) throws(ProxyError) -> Proxy? {
        switch self {
        case .environment: try environment.proxy(for: url)
        case .none: nil
        case .proxy(let proxy, let exceptions):
            exceptions.isEmpty || !ProxyExceptions(exceptions).contains(url) ? proxy : nil
        }
    }
}

// MARK: - The environment

/// The proxies of environment variables.
struct ProxyEnvironment: Sendable {
    /// The proxies of this process, read at first use.
    static let process = ProxyEnvironment(ProcessInfo.processInfo.environment)

    private let http: Result<Proxy?, ProxyError>
    private let https: Result<Proxy?, ProxyError>
    private let exceptions: ProxyExceptions
    /// Whether there is no proxy for any URL.
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

/// The servers that are contacted directly: the value of `no_proxy`, a list separated by commas or spaces.
///
/// | Item                                        | Servers                                          |
/// |---------------------------------------------|--------------------------------------------------|
/// | `*`                                         | all                                              |
/// | `example.org`, `.example.org`               | that host and all subdomains: `www.example.org`  |
/// | `10.1.2.3`, `::1`, `[::1]`                  | that address                                     |
/// | `10.0.0.0/8`, `fe80::/10`, `[fe80::]/10`    | addresses that share that number of leading bits |
/// | any of these with `:8080`; IPv6 in brackets | that port only                                   |
///
/// Names are compared case-insensitively, without a trailing dot. They are not resolved: an address does not
/// match a name that resolves to it. Unlike this type, curl 7.88 supports neither ports, brackets, `*` among
/// other items, items after a space, nor `/0`, and compares IPv6 as text.
struct ProxyExceptions: Hashable, Sendable {
    private let items: [Item]

    private struct Item: Hashable, Sendable {
        enum Target: Hashable, Sendable {
            case all
            /// Without a leading or trailing dot, in lower case.
            case name(String)
            case addresses(InternetAddress, bits: Int)
        }
        var target: Target
        var port: Int?
    }

    init(_ list: String) {
        items = list.split { $0 == "," || $0.isWhitespace }.compactMap { Self.item($0) }
    }

    init(_ list: [String]) {
        self.init(list.joined(separator: ","))
    }

    /// Whether the URL's server is in the list.
    func contains(_ url: URL) -> Bool {
        guard !items.isEmpty, var host = url.host?.lowercased() else { return false }
        if host.hasSuffix(".") { host.removeLast() }
        let address = InternetAddress(host: host)
        let port = Origin(url).port
        return items.contains { item in
            guard item.port == nil || item.port == port else { return false }
            switch item.target {
            case .all: return true
            case .name(let name): return address == nil && (host == name || host.hasSuffix("." + name))
            case .addresses(let start, let bits): return address?.shares(bits, with: start) == true
            }
        }
    }

    // MARK: - Reading

    /// - Returns: `nil` for an item that is neither a name nor an address.
    private static func item(_ text: Substring) -> Item? {
        if let item = addresses(text, port: nil) { return item }
        if text.hasPrefix("["), let end = text.firstIndex(of: "]") {
            let rest = text[text.index(after: end)...]
            guard rest.hasPrefix(":"), let port = Int(rest.dropFirst()) else { return nil }
            return addresses(text[...end], port: port)
        }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count <= 2 else { return nil }
        var port: Int?
        if parts.count == 2 {
            guard let number = Int(parts[1]) else { return nil }
            port = number
        }
        if parts[0] == "*" { return Item(target: .all, port: port) }
        if let item = addresses(parts[0], port: port) { return item }
        var name = parts[0].lowercased()
        if name.hasSuffix(".") { name.removeLast() }
        if name.hasPrefix(".") { name.removeFirst() }
        return name.isEmpty || name.contains("/") ? nil : Item(target: .name(name), port: port)
    }

    private static func addresses(_ text: Substring, port: Int?) -> Item? {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        var host = parts.first ?? ""
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        guard let start = InternetAddress(String(host)) else { return nil }
        guard parts.count > 1 else {
            return Item(target: .addresses(start, bits: start.bitCount), port: port)
        }
        guard let bits = Int64(digits: parts[1]), bits <= start.bitCount else { return nil }
        return Item(target: .addresses(start, bits: Int(bits)), port: port)
    }
}
