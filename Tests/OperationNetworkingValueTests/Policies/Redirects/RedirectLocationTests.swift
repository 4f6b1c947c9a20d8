import Foundation
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite(.timeLimit(.minutes(1)))
struct RedirectLocationTests {
    private func url(_ location: String, from current: String = "http://example.org/a/b?c=d") throws
        -> String?
    {
        RedirectLocation(location, from: try #require(URL(string: current)))?.url.absoluteString
    }

    @Test(arguments: [
        ("http://example.org/next", "http://example.org/next"), ("/next", "http://example.org/next"),
        ("next", "http://example.org/a/next"), ("../next", "http://example.org/next"),
        ("../../../x", "http://example.org/x"), ("./", "http://example.org/a/"),
        ("?q=1", "http://example.org/a/b?q=1"), ("//other.org/x", "http://other.org/x"),
        ("https://example.org:8443/x", "https://example.org:8443/x"), ("http://h", "http://h"),
        ("http://[::1]:80/x", "http://[::1]:80/x"), ("http://h?q", "http://h?q"),
    ])
    func aReferenceIsResolvedAgainstTheRequest(location: String, expected: String) throws {
        #expect(try url(location) == expected)
    }

    @Test(arguments: [
        ("/next", "http://example.org/a#top", "http://example.org/next#top"),
        ("/next#end", "http://example.org/a#top", "http://example.org/next#end"),
        ("#end", "http://example.org/a#top", "http://example.org/a#end"),
        ("/next#", "http://example.org/a#top", "http://example.org/next#"),
        ("/next", "http://example.org/a", "http://example.org/next"),
        ("/next?q=%2F", "http://example.org/a#a%20b", "http://example.org/next?q=%2F#a%20b"),
    ])
    func aFragmentIsInheritedByALocationWithoutOne(location: String, from: String, expected: String) throws {
        #expect(try url(location, from: from) == expected)
    }

    /// Real servers send them. What is encoded already stays as it is.
    @Test(arguments: [
        ("/a b", "http://example.org/a%20b"), ("/a%20b c", "http://example.org/a%20b%20c"),
        ("/\u{FC}", "http://example.org/%C3%BC"), ("/a|b%2F", "http://example.org/a%7Cb%2F"),
        ("/%", "http://example.org/%25"), ("/%zz%4", "http://example.org/%25zz%254"),
        ("/%41", "http://example.org/%41"), ("/[x]%20", "http://example.org/%5Bx%5D%20"),
        ("?a[]=1%20\u{FC}", "http://example.org/a/b?a%5B%5D=1%20%C3%BC"),
        ("/x#a#b", "http://example.org/x#a%23b"), ("/<>\"{}`^", "http://example.org/%3C%3E%22%7B%7D%60%5E"),
        ("/'!$&()*+,;=:@", "http://example.org/'!$&()*+,;=:@"),
        ("/a%0d%0aX: y", "http://example.org/a%0d%0aX:%20y"),
        ("/\\other.org", "http://example.org/%5Cother.org"),
        ("\\\\other.org", "http://example.org/a/%5C%5Cother.org"),
        ("http://b\u{FC}cher.example:81/a%20b", "http://xn--bcher-kva.example:81/a%20b"),
        ("//b\u{FC}cher.example/%2F?\u{FC}", "http://xn--bcher-kva.example/%2F?%C3%BC"),
    ])
    func charactersThatNoURLHasAreEncoded(location: String, expected: String) throws {
        #expect(try url(location) == expected)
    }

    @Test(arguments: [
        "", "ftp://example.org/", "file:///etc/passwd", "javascript:alert(1)", "mailto:a@b.c", "data:,x",
        "http://",
        "http:///path", "http:next", "http://@/", "///path", "http://:80/", "http://[::1", "http://a b/",
        "http://h:99999/", "http://h:0/", "http://h:abc/", "http://h:-1/", "http://h:80:80/", "http://h%20x/",
        "http://h%2F/", "http://ex%61mple.org/", "http://a\\b/", "//a\\b/", "http://<h>/",
        "http://\u{202E}x/",
        "\u{0}", "/a\u{0}b", "/a\tb", "/a\u{7F}", "/a\r\nX: y", "http://other.org\r\n/",
    ])
    func anUnusableLocationIsIgnored(location: String) throws {
        #expect(try url(location) == nil)
    }

    @Test(arguments: [
        ("http://user:password@example.org/x", "http://example.org/x"),
        ("http://user@other.org/x", "http://other.org/x"),
        ("//user:password@other.org/x", "http://other.org/x"),
        ("http://@other.org/", "http://other.org/"), ("http://a@b@other.org/", "http://other.org/"),
        ("http://example.org@other.org/", "http://other.org/"),
        // The part before the last @ is no host, whatever it has.
        ("http://other.org\\@example.org/", "http://example.org/"),
    ])
    func credentialsInALocationAreDropped(location: String, expected: String) throws {
        #expect(try url(location) == expected)
    }

    @Test(arguments: [
        ("/next", "http://me:secret@example.org/next"),
        ("http://example.org/next", "http://me:secret@example.org/next"),
        ("http://EXAMPLE.org:80/next", "http://me:secret@EXAMPLE.org:80/next"),
        ("http://you:other@example.org/next", "http://me:secret@example.org/next"),
        ("https://example.org/next", "https://example.org/next"),
        ("http://example.org:81/next", "http://example.org:81/next"),
        ("//other.org/next", "http://other.org/next"),
    ])
    func theCallersOwnCredentialsInTheURLStayAtItsOrigin(location: String, expected: String) throws {
        #expect(try url(location, from: "http://me:secret@example.org/a") == expected)
    }
}
