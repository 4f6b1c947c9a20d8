import Foundation
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

struct OriginTests {
    /// Read by the short way or by Foundation's, it is the same one.
    @Test func bothWaysAgree() {
        var shortCount = 0
        for url in URLSamples.all {
            guard let short = Origin(plain: url.absoluteString) else { continue }
            shortCount += 1
            #expect(short == Origin(parsing: url), "\(url)")
        }
        #expect(shortCount > 500 && URLSamples.all.count > shortCount)
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
