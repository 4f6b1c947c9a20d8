import Foundation
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

struct CacheKeyTests {
    /// Whether or not a URL is its own text already.
    @Test func everyURLHasTheTextThatFoundationMakes() {
        var ownCount = 0
        for url in URLSamples.all {
            let text = CacheKey.text(of: url)
            #expect(text == CacheKey.text(parsing: url), "\(url)")
            if text == url.absoluteString { ownCount += 1 }
        }
        #expect(ownCount > 100 && ownCount < URLSamples.all.count)
    }

    @Test(arguments: [
        ("HTTP://Example.com:80/a#part", "http://example.com/a"),
        ("https://user:secret@host", "https://host/"),
        ("http://host/a?q", "http://host/a?q"), ("http://host?q", "http://host/?q"),
        ("https://host:443/", "https://host/"), ("http://host:443/", "http://host:443/"),
        ("http://host:08080/", "http://host:8080/"), ("http://host/a%2Fb/../c#", "http://host/a%2Fb/../c"),
    ])
    func oneTextForEachSpelling(url: String, text: String) throws {
        #expect(CacheKey(try #require(URL(string: url))).url == text)
    }

    /// No names by IDNA: what one has sent is no answer of the other.
    @Test func hostsThatFoundationDropsAreSeveral() throws {
        let texts = try [
            "http://XN--A/p", "http://xn--b/p", "http://u:p@xn--c:80/p?q#f", "http://xn--d:8080",
        ].map {
            CacheKey(try #require(URL(string: $0))).url
        }
        #expect(texts == ["http://xn--a/p", "http://xn--b/p", "http://xn--c/p?q", "http://xn--d:8080/"])
    }

    @Test func aRelativeURLIsResolved() throws {
        let base = try #require(URL(string: "http://Host/a/b"))
        let url = try #require(URL(string: "../c?d#e", relativeTo: base))
        #expect(CacheKey(url).url == "http://host/c?d")
    }

    @Test func otherTrustIsAnotherCache() throws {
        let url = try #require(URL(string: "https://example.com/"))
        func partition(_ change: (inout TrustDomain) -> Void) -> String {
            var request = TransferRequest.plain(url)
            change(&request.trustDomain)
            return CacheRequest(request).key.partition
        }
        let names = [
            partition { _ in }, partition { $0.policy = SecurityPolicy(allowInvalidCertificates: true) },
            partition { $0.policy = SecurityPolicy(validatesDomainName: false) },
            partition { $0.anchors = .directory(URL(fileURLWithPath: "/etc/ssl")) },
        ]
        #expect(Set(names).count == names.count && names[0].isEmpty)
        #expect(names[1] == partition { $0.policy = SecurityPolicy(allowInvalidCertificates: true) })
    }
}
