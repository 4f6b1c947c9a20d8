import Foundation
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite(.timeLimit(.minutes(1)))
struct ProxyConfigurationTests {
    private func proxy(_ url: String, _ variables: [String: String]) throws -> String? {
        let url = try #require(URL(string: url))
        return try ProxyConfiguration.environment.proxy(for: url, environment: ProxyEnvironment(variables))?
            .host
    }

    @Test(
        arguments: [
            (["http_proxy": "p"], "p", nil),
            // httpoxy: in a CGI program it is the field "Proxy" of the client's request.
            (["HTTP_PROXY": "p"], nil, nil), (["Http_Proxy": "p"], nil, nil),
            (["https_proxy": "p"], nil, "p"), (["HTTPS_PROXY": "p"], nil, "p"),
            (["https_proxy": "p", "HTTPS_PROXY": "q"], nil, "p"),
            (["all_proxy": "p"], "p", "p"), (["ALL_PROXY": "p"], "p", "p"),
            (["all_proxy": "p", "ALL_PROXY": "q"], "p", "p"),
            (["http_proxy": "h", "all_proxy": "p"], "h", "p"),
            (["https_proxy": "h", "ALL_PROXY": "p"], "p", "h"),
            (["http_proxy": "", "all_proxy": "p"], "p", "p"),
            (["https_proxy": "", "HTTPS_PROXY": "p"], nil, "p"), ([:], nil, nil),
            (["http_proxy": "p", "no_proxy": "*"], nil, nil),
            (["http_proxy": "p", "NO_PROXY": "*"], nil, nil),
            (["http_proxy": "p", "no_proxy": "other", "NO_PROXY": "*"], "p", nil),
            (["http_proxy": "p", "no_proxy": "", "NO_PROXY": "*"], nil, nil),
        ] as [([String: String], String?, String?)]
    )
    func theEnvironmentIsReadAsCurlReadsIt(variables: [String: String], http: String?, https: String?) throws
    {
        #expect(try proxy("http://example.org/", variables) == http)
        #expect(try proxy("HTTPS://example.org/", variables) == https)
    }

    @Test func anUnusableProxyIsAnErrorAndNotBypassed() throws {
        let variables = ["http_proxy": "https://p", "https_proxy": "p:none", "no_proxy": "example.org"]
        #expect(throws: ProxyError.self) { try proxy("http://other.org/", variables) }
        #expect(throws: ProxyError.self) { try proxy("https://other.org/", variables) }
        #expect(try proxy("http://example.org/", variables) == nil)
    }

    @Test func anExplicitProxyIgnoresTheEnvironment() throws {
        let environment = ProxyEnvironment(["all_proxy": "other", "no_proxy": "*"])
        let url = try #require(URL(string: "https://example.org/"))
        let local = try #require(URL(string: "http://localhost/"))
        let proxy = try Proxy("p")
        #expect(try ProxyConfiguration.none.proxy(for: url, environment: environment) == nil)
        #expect(try ProxyConfiguration.proxy(proxy).proxy(for: url, environment: environment) == proxy)
        #expect(try ProxyConfiguration.proxy(proxy).proxy(for: local, environment: environment) == proxy)
        let excepting = ProxyConfiguration.proxy(proxy, exceptions: ["localhost", "10.0.0.0/8"])
        #expect(try excepting.proxy(for: url, environment: environment) == proxy)
        #expect(try excepting.proxy(for: local, environment: environment) == nil)
    }

    // MARK: - no_proxy

    @Test(arguments: [
        ("example.org", "example.org"), ("example.org", "EXAMPLE.org"), ("EXAMPLE.ORG", "example.org"),
        ("example.org", "www.example.org"), ("example.org", "a.b.example.org"),
        (".example.org", "www.example.org"),
        (".example.org", "example.org"), ("example.org.", "example.org"), ("example.org", "example.org."),
        ("a,example.org", "example.org"), ("a, example.org ,b", "example.org"),
        ("a,,example.org", "example.org"),
        (",example.org", "example.org"), (" example.org\t", "example.org"), ("*", "example.org"),
        ("*", "10.1.2.3"),
        ("*", "[::1]"), ("localhost", "localhost"), ("org", "example.org"), ("127.0.0.1", "127.0.0.1"),
        ("127.0.0.0/8", "127.9.9.9"), ("10.0.0.0/9", "10.127.0.1"), ("192.168.0.0/16", "192.168.255.255"),
        ("192.168.1.1/32", "192.168.1.1"), ("192.168.1.16/28", "192.168.1.31"), ("127.0.0.0/8", "127.1"),
        ("127.0.0.1", "0x7f000001"), ("127.0.0.1", "2130706433"), ("::1", "[::1]"),
    ])
    func exceptionsBypassTheProxyAsInCurl(list: String, host: String) throws {
        #expect(ProxyExceptions(list).contains(try #require(URL(string: "http://\(host)/"))))
    }

    @Test(arguments: [
        ("", "example.org"), (" , ", "example.org"), ("example.org", "nonexample.org"),
        ("example.org", "example.org.evil.com"), ("example.org", "example.com"),
        ("www.example.org", "example.org"),
        ("*.example.org", "www.example.org"), ("exa*", "example.org"), (".", "example.org"),
        ("127.0.0.1", "127.0.0.2"), ("127.0.0.0/8", "128.0.0.1"), ("10.0.0.0/9", "10.128.0.1"),
        ("192.168.1.16/28", "192.168.1.32"), ("127.0.0.1/33", "127.0.0.1"), ("127.0.0.0/-1", "127.0.0.1"),
        ("0.1", "127.0.0.1"), ("127.0.0.0/8", "127.example.org"), ("10.0.0.0/8", "localhost"),
        ("::1", "[::2]"), ("fe80::/10", "[fec0::1]"), ("::/8", "127.0.0.1"),
        ("127.0.0.0/8", "[::ffff:127.0.0.1]"),
        ("fe80::/129", "[fe80::1]"), ("example.org/8", "example.org"),
    ])
    func otherHostsUseTheProxyAsInCurl(list: String, host: String) throws {
        #expect(!ProxyExceptions(list).contains(try #require(URL(string: "http://\(host)/"))))
    }

    @Test(arguments: [
        ("example.org:8080", "http://example.org:8080/", true),
        ("example.org:8080", "http://example.org/", false),
        ("example.org:80", "http://www.example.org/", true),
        ("example.org:443", "https://example.org/", true),
        ("*:8080", "http://example.org:8080/", true), ("10.0.0.0/8:8080", "http://10.1.1.1:8080/", true),
        ("10.1.1.1:8080", "http://10.1.1.1:8080/", true), ("[::1]", "http://[::1]/", true),
        ("[::1]:8080", "http://[::1]:8080/", true), ("[::1]:8080", "http://[::1]/", false),
        ("[fe80::]/10", "http://[fe80::1]/", true), ("a example.org", "http://example.org/", true),
        ("a,*", "http://example.org/", true),
        // These are in later ones: 7.88 compares addresses of IPv6 as names.
        ("0:0::1", "http://[::1]/", true), ("fe80::/10", "http://[fe80::1]/", true),
        ("fe80::/10", "http://[febf:ffff::1]/", true), ("2001:db8::/32", "http://[2001:DB8:1::1]/", true),
        ("::1/128", "http://[::1]/", true), ("0.0.0.0/0", "http://10.1.1.1/", true),
        ("0.0.0.0/0", "http://example.org/", false), ("::/0", "http://[::1]/", true),
        ("example.org:x", "http://example.org/", false), ("fe80::1", "http://[fe80::1%25eth0]/", true),
    ])
    func exceptionsThatCurlDoesNotSupport(list: String, url: String, isContained: Bool) throws {
        #expect(ProxyExceptions(list).contains(try #require(URL(string: url))) == isContained)
    }
}
