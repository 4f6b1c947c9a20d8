import Foundation
import Testing

@testable import OperationNetworking

struct OriginTests {
    private static let schemes = ["http", "https", "HTTP", "Https", "ftp", "httpx", "http+unix", ""]
    private static let authorities = [
        "example.org", "EXAMPLE.org", "a", "127.0.0.1", "1.2.3", "-a-.b.", ".", "a..b", "xn--mnchen-3ya.de",
        "xn--a", "under_score", "m%C3%BCnchen.de", "m%75nchen.de", "[::1]", "[fe80::1%25eth0]", "u@h",
        "u:p@h",
        "u:80@h", "h:80@i", "", ":80", "@", "h;x", "h,x", "h!", "h~", "a b",
    ]
    private static let ports = [
        "", ":", ":80", ":0", ":00", ":0080", ":00000080", ":1", ":8080", ":9999", ":10000", ":65535",
        ":65536",
        ":99999", ":123456", ":8x", ":x", ":80:90", ":-1", ":+1",
    ]
    private static let rests = [
        "", "/", "/a:b@c", "?q=a@b", "#f", "/?#", "\\@evil", "//x", "?", ";p", "/a%2Fb",
    ]

    /// Read by the short way or by Foundation's, it is the same one.
    @Test func bothWaysAgree() {
        var (shortCount, count) = (0, 0)
        for scheme in Self.schemes {
            for authority in Self.authorities {
                for port in Self.ports {
                    for rest in Self.rests {
                        guard let url = URL(string: scheme + "://" + authority + port + rest) else {
                            continue
                        }
                        count += 1
                        guard let short = Origin(plain: url.absoluteString) else { continue }
                        shortCount += 1
                        #expect(short == Origin(parsing: url), "\(url)")
                    }
                }
            }
        }
        #expect(shortCount > 500 && count > shortCount)
    }

    @Test(arguments: [
        ("http://example.org", "http", "example.org", 80),
        ("https://example.org?q", "https", "example.org", 443),
        ("http://10.0.0.1:8080/path", "http", "10.0.0.1", 8080),
        ("https://a-b.c:443#f", "https", "a-b.c", 443),
    ])
    func whatNearlyAllURLsAreIsReadTheShortWay(
        text: String,
        scheme: String,
        host: String,
        port: Int
    ) throws {
        let origin = try #require(Origin(plain: text))
        #expect(origin.scheme == scheme && origin.host == host && origin.port == port)
        #expect(origin.isTLS == (scheme == "https"))
    }

    /// A user, a bracket, a capital, a coding, or no host: Foundation decides.
    @Test(arguments: [
        "http://u@h/", "http://u:80@h/", "http://[::1]/", "http://Host/", "HTTP://host/", "http://m%75n/",
        "http://", "http:///a", "http://:80/", "http://h:/", "http://h:0/", "http://h:65536/",
        "http://h:80@i/",
        "http://h\\@i/", "ftp://h/", "http:h", "", "h",
    ])
    func whatIsRareIsNot(text: String) {
        #expect(Origin(plain: text) == nil)
    }

    @Test func aRelativeURLHasTheOriginOfItsBase() throws {
        let base = try #require(URL(string: "https://example.org:8443/a/"))
        let url = try #require(URL(string: "../b", relativeTo: base))
        #expect(Origin(url) == Origin(base) && Origin(url).port == 8443)
        let other = try #require(URL(string: "//h/c", relativeTo: base))
        #expect(Origin(other) == Origin(parsing: other) && Origin(other).host == "h")
    }
}
