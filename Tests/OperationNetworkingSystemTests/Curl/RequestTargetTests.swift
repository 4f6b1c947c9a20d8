import OperationNetworkingSystem
import Testing

struct RequestTargetTests {
    @Test(arguments: [
        ("http://h", "/"), ("http://h/", "/"), ("http://h:81/a/b?c=d#e", "/a/b?c=d"), ("http://h?q", "/?q"),
        ("https://[::1]/a%20b/%2F?x=%26&y", "/a%20b/%2F?x=%26&y"), ("http://h/a/./b/../c", "/a/c"),
        ("http://h/a//b", "/a//b"), ("http://h/a?b?c", "/a?b?c"),
    ])
    func whatLibcurlSends(url: String, target: String) {
        #expect(RequestTarget.of(url) == target)
    }

    @Test(arguments: ["", "http://", "no url at all"]) func invalidTargets(url: String) {
        #expect(RequestTarget.of(url) == nil)
    }
}
