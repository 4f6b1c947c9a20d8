import Foundation
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

/// The lines with a `Domain` that take a cookie of a public suffix away.
@Suite struct CookieErasuresTests {
    private func erases(_ lines: [String], path: String = "/", requestPath: String = "/") throws -> Bool {
        var erasures = CookieErasures()
        for line in lines { erasures.read(line, now: 1_000_000_000) }
        let cookie = try #require(Cookie(name: "sid", value: "1", domain: "localhost", path: path))
        return erasures.erases(cookie, ofRequestTo: requestPath)
    }

    @Test(arguments: [
        "sid=; Domain=localhost; Max-Age=0", "sid=; max-age=-1; domain=.LOCALHOST",
        "sid; Domain=localhost; Max-Age=\"0\"",
        "sid=x; Domain=localhost; Expires=Thu, 01 Jan 1970 00:00:00 GMT",
        "sid=x; Domain=localhost; Expires=Thu, 01-Jan-1970 00:00:01 GMT; Path=/",
        "sid=x; Domain=localhost; Expires=Thu, 01 Jan 2099 00:00:00 GMT; Max-Age=0",
        "sid=x; Domain=localhost; Max-Age=soon", "sid=x; Domain=localhost; Max-Age=0; Path=relative",
    ])
    func anExpiredLineErasesTheCookie(line: String) throws {
        #expect(try erases([line]))
    }

    @Test(arguments: [
        "sid=; Max-Age=0", "sid=; Domain=; Max-Age=0", "sid=; Domain=other; Max-Age=0",
        "tid=; Domain=localhost; Max-Age=0", "sid=2; Domain=localhost", "sid=2; Domain=localhost; Max-Age=1",
        "sid=2; Domain=localhost; Expires=Thu, 01 Jan 2099 00:00:00 GMT",
        "sid=2; Domain=localhost; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=60",
        "sid=2; Domain=localhost; Expires=never", "sid=; Domain=localhost; Max-Age=0; Path=/a",
    ])
    func otherLinesDoNot(line: String) throws {
        #expect(try !erases([line]))
    }

    @Test(arguments: [
        (["over", "new"], false), (["new", "over"], true), (["over", "host"], false),
        (["host", "over"], true),
        (["over", "other"], true),
    ])
    func theLastLineCounts(order: [String], isErased: Bool) throws {
        let lines = [
            "over": "sid=; Domain=localhost; Max-Age=0", "new": "sid=2; Domain=localhost", "host": "sid=2",
            "other": "sid=2; Domain=other",
        ]
        #expect(try erases(try order.map { try #require(lines[$0]) }) == isErased)
    }

    @Test(
        arguments: [
            ("/a", "/a/b", nil, true), ("/a/", "/a/b", nil, true), ("/a", "/b", nil, false),
            ("/", "/b", nil, true),
            ("/a", "/b", "/a", true), ("/a", "/b", "/a/", true), ("/a", "/a/b", "/", false),
        ] as [(String, String, String?, Bool)]
    )
    func thePathIsThatOfTheLineOrOfTheRequest(
        path: String,
        requestPath: String,
        named: String?,
        isErased: Bool
    )
        throws
    {
        let line = "sid=; Domain=localhost; Max-Age=0" + (named.map { "; Path=\($0)" } ?? "")
        #expect(try erases([line], path: path, requestPath: requestPath) == isErased)
    }
}
