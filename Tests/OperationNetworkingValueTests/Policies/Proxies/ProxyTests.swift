import Foundation
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite(.timeLimit(.minutes(1)))
struct ProxyTests {
    @Test(arguments: [
        ("host", "http://host:1080"), ("host:3128", "http://host:3128"),
        ("http://host:3128", "http://host:3128"),
        ("HTTP://Host:3128/", "http://Host:3128"), ("http://host:3128/path?q#f", "http://host:3128"),
        ("http://host:", "http://host:1080"), ("http://10.1.2.3:8080", "http://10.1.2.3:8080"),
        ("http://[::1]:8080", "http://[::1]:8080"), ("[fe80::1%25eth0]", "http://[fe80::1%25eth0]:1080"),
        ("socks://host", "socks4://host:1080"), ("socks4://host", "socks4://host:1080"),
        ("socks4a://host:1", "socks4a://host:1"), ("socks5://host", "socks5://host:1080"),
        ("socks5h://host:9050", "socks5h://host:9050"),
        ("http://b\u{FC}cher.example", "http://b\u{FC}cher.example:1080"),
    ])
    func aProxyIsReadAsInTheEnvironment(text: String, address: String) throws {
        let proxy = try Proxy(text)
        #expect(proxy.address == address)
        #expect(proxy.description == address)
        #expect(proxy.user == nil && proxy.password == nil)
    }

    @Test(arguments: [
        ("http://user:password@host:1", "user", "password"), ("user:password@host:1", "user", "password"),
        ("user@host:1", "user", nil), (":password@host:1", "", "password"), ("user:@host:1", "user", ""),
        ("us%40er:pass%3Aw%2Ford@host:1", "us@er", "pass:w/ord"), ("user:a:b@host:1", "user", "a:b"),
        ("user:p@ss@host:1", "user", "p@ss"), ("socks5://u%3Aser:%C3%BC@host:1", "u:ser", "\u{FC}"),
    ])
    func credentialsAreReadAndDecoded(text: String, user: String?, password: String?) throws {
        let proxy = try Proxy(text)
        #expect(proxy.user == user && proxy.password == password)
        #expect(proxy.host == "host" && proxy.port == 1)
    }

    @Test(arguments: [
        "", "http://", "http://:3128", "http://user:secret@", "host:port", "host:0", "host:65536", "host:-1",
        "host:99999999999999999999", "::1", "http://::1:80", "[::1", "[::1]x", "[host]:80", "[]", "ho st",
        "host\n",
        "ho\u{0}st", "host\\x", "us%er:secret@host", "user%0Asecret@host", "user:secret%00@host",
        "us%3Aer:secret@host", "host:80:80",
    ])
    func anInvalidProxyIsMalformedAndNotQuoted(text: String) {
        let error = #expect(throws: ProxyError.self) { try Proxy(text) }
        guard case .malformed = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(error?.code == .badURL)
        #expect(error?.description.contains("secret") == false)
    }

    @Test(arguments: ["https://host", "HTTPS://user:secret@host:443", "ftp://host", "quic://host", "://host"])
    func otherKindsAreNotSupported(text: String) {
        let error = #expect(throws: ProxyError.self) { try Proxy(text) }
        guard case .unsupported = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(error?.code == .unsupportedURL)
        #expect(error?.description.contains("secret") == false)
    }

    @Test func httpsProxiesAreRefusedWithTheReason() {
        let error = #expect(throws: ProxyError.self) { try Proxy("https://host") }
        #expect(error?.description.contains("trust in the proxy") == true)
    }

    @Test(arguments: [("a\nb", "x"), ("a", "x\r\nHost: y"), ("a", "\u{0}"), ("a:b", "x")])
    func credentialsThatCannotBeSentAreRefused(user: String, password: String) {
        #expect(throws: ProxyError.self) { try Proxy(host: "host", user: user, password: password) }
    }

    @Test func credentialsAreNeverShown() throws {
        let proxy = try Proxy(kind: .socks5h, host: "host", port: 1, user: "name", password: "secret")
        var dumped = ""
        dump(ProxyConfiguration.proxy(proxy), to: &dumped)
        let texts = [
            "\(proxy)", String(reflecting: proxy), dumped, "\(ProxyConfiguration.proxy(proxy))",
            proxy.address,
            String(reflecting: TrustDomain(anchors: .system, proxy: proxy)),
        ]
        for text in texts {
            #expect(!text.contains("secret") && !text.contains("name"), "\(text)")
            #expect(text.contains("host:1"), "\(text)")
        }
        #expect(proxy.description == "socks5h://redacted@host:1")
    }

    @Test func anArchiveHasNoCredentials() throws {
        let proxy = try Proxy(host: "host", port: 1, user: "name", password: "secret")
        let table: [(ProxyConfiguration, ProxyConfiguration)] = [
            (.environment, .environment), (.none, .none),
            (.proxy(proxy, exceptions: ["a", "b"]), .proxy(try Proxy("host:1"), exceptions: ["a", "b"])),
        ]
        for (configuration, kept) in table {
            let data = try JSONEncoder().encode(configuration)
            #expect(!String(decoding: data, as: UTF8.self).contains("secret"))
            #expect(try JSONDecoder().decode(ProxyConfiguration.self, from: data) == kept)
        }
        let broken = Data(#"{"kind":"http","host":"a b","port":1}"#.utf8)
        #expect(throws: ProxyError.self) { try JSONDecoder().decode(Proxy.self, from: broken) }
    }

    @Test func credentialsMakeAnotherProxy() throws {
        let proxies = [
            try Proxy("host:1"), try Proxy("a@host:1"), try Proxy("a:@host:1"), try Proxy("a:b@host:1"),
            try Proxy("socks5://a:b@host:1"),
        ]
        #expect(Set(proxies).count == proxies.count)
        #expect(Set(proxies.map { TrustDomain(anchors: .system, proxy: $0) }).count == proxies.count)
    }
}
