import Foundation
import FoundationNetworking
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

struct CookieTests {
    private static let full = Cookie(
        name: "id",
        value: "1 2=\"3\"",
        domain: ".Example.COM",
        includesSubdomains: true,
        path: "/a/",
        isSecure: true,
        isHTTPOnly: true,
        expires: 2_000_000_000
    )

    // MARK: - Lines

    @Test func aLineHasSevenFields() throws {
        let cookie = try #require(Self.full)
        #expect(cookie.line == "#HttpOnly_.example.com\tTRUE\t/a/\tTRUE\t2000000000\tid\t1 2=\"3\"")
        #expect(Cookie(line: cookie.line) == cookie)
    }

    @Test func aCookieOfTheSessionExpiresAtZeroInALine() throws {
        let cookie = try #require(Cookie(name: "a", value: "", domain: "example.com"))
        #expect(cookie.line == "example.com\tFALSE\t/\tFALSE\t0\ta\t")
        #expect(Cookie(line: cookie.line) == cookie)
    }

    /// 0 would make it one of the session.
    @Test(arguments: [0, -1, Int64.min])
    func aCookieThatWasOverBefore1970IsOver(expires: Int64) throws {
        let cookie = try #require(Cookie(name: "a", value: "1", domain: "example.com", expires: expires))
        #expect(cookie.line == "example.com\tFALSE\t/\tFALSE\t1\ta\t1")
    }

    @Test(arguments: ["", "  \t", "# comment", "# example.com\tFALSE\t/\tFALSE\t0\ta\t1", "#"])
    func aLineMayContainNoCookie(line: String) throws {
        #expect(try Cookie.read(line: line[...]) == nil)
    }

    @Test(arguments: [
        ("example.com\tTRUE\t/\tFALSE\t0\ta\t1", "example.com", true),
        (".example.com\tTRUE\t/\tFALSE\t0\ta\t1", "example.com", true),
        (".example.com\tFALSE\t/\tfalse\t0\ta\t1", "example.com", false),
        ("example.com:8080\tFALSE\t/\tFALSE\t0\ta\t1", "example.com", false),
        ("::1\tFALSE\t/\tFALSE\t0\ta\t1", "::1", false),
        (".example.com.\tTRUE\t/\tFALSE\t0\ta\t1", "example.com.", true),
    ])
    func theFlagSaysWhetherSubdomainsCount(line: String, domain: String, flag: Bool) throws {
        let cookie = try #require(try Cookie.read(line: line[...]))
        #expect(cookie.domain == domain && cookie.includesSubdomains == flag)
    }

    @Test(arguments: [
        ("example.com\tFALSE\t/\tFALSE\t0\ta", Cookie.LineError.fieldCount(6)),
        ("a=1", .fieldCount(1)),
        ("example.com FALSE / FALSE 0 a 1", .fieldCount(1)),
        ("#HttpOnly_a", .fieldCount(1)),
        ("example.com\tYES\t/\tFALSE\t0\ta\t1", .flag("YES")),
        ("example.com\tTRUE\t/\t\t0\ta\t1", .flag("")),
        ("example.com\tTRUE\t/\tFALSE\tsoon\ta\t1", .expiry("soon")),
        ("example.com\tTRUE\t/\tFALSE\t99999999999999999999\ta\t1", .expiry("99999999999999999999")),
        ("example.com\tTRUE\t/\tFALSE\t0\ta\t1\t2", .characters),
        ("example.com\tTRUE\t/\tFALSE\t0\t\t1", .characters),
        ("exa mple.com\tTRUE\t/\tFALSE\t0\ta\t1", .characters),
        ("\tTRUE\t/\tFALSE\t0\ta\t1", .characters),
    ])
    func refuses(line: String, error: Cookie.LineError) {
        #expect(throws: error) { try Cookie.read(line: line[...]) }
    }

    /// A line end begins another line, a semicolon another cookie.
    @Test(arguments: ["\r", "\n", "\t", "\0", ";", "\u{7F}", "\r\n"])
    func noFieldHoldsWhatWouldEndIt(text: String) {
        #expect(Cookie(name: "a\(text)", value: "1", domain: "example.com") == nil)
        #expect(Cookie(name: "a", value: "1\(text)2", domain: "example.com") == nil)
        #expect(Cookie(name: "a", value: "1", domain: "exa\(text)mple.com") == nil)
        #expect(Cookie(name: "a", value: "1", domain: "example.com", path: "/\(text)") == nil)
    }

    @Test(arguments: ["", "a=b"])
    func aNameIsNotEmptyAndHasNoEqualsSign(name: String) {
        #expect(Cookie(name: name, value: "1", domain: "example.com") == nil)
    }

    @Test(arguments: ["", ".", "..", "#HttpOnly_a", "a/b", "set-cookie: a", "é.example", "[::1"])
    func aDomainIsAHost(domain: String) {
        #expect(Cookie(name: "a", value: "1", domain: domain) == nil)
    }

    /// libcurl writes down what a server has called a path, and means this.
    @Test(arguments: ["", "p", "p/q"])
    func aPathWithoutASlashIsTheRoot(path: String) throws {
        #expect(try Cookie.read(line: "example.com\tFALSE\t\(path)\tFALSE\t0\ta\t1")?.path == "/")
    }

    // MARK: - Which requests

    @Test(arguments: [
        ("example.com", false, "example.com", true), ("example.com", false, "www.example.com", false),
        ("example.com", true, "example.com", true), ("example.com", true, "www.example.com", true),
        ("example.com", true, "badexample.com", false), ("www.example.com", true, "example.com", false),
        ("0.0.1", true, "127.0.0.1", false), ("127.0.0.1", false, "127.0.0.1", true),
        ("example.com.", false, "example.com.", true), ("example.com.", false, "example.com", false),
        ("example.com", false, "example.com.", false), ("example.com", true, "www.example.com.", false),
        ("example.com.", true, "www.example.com.", true), ("example.com.", true, "www.example.com", false),
    ])
    func hosts(domain: String, flag: Bool, host: String, expected: Bool) throws {
        let cookie = try #require(
            Cookie(name: "a", value: "1", domain: domain, includesSubdomains: flag)
        )
        #expect(cookie.concerns(host: host) == expected)
    }

    @Test(
        "RFC 6265 §5.1.4",
        arguments: [
            ("/", "/", true), ("/", "/a", true), ("/a", "/a", true), ("/a", "/a/", true),
            ("/a", "/a/b", true),
            ("/a", "/ab", false), ("/a/", "/a", false), ("/a/", "/a/b", true), ("/a", "/", false),
            ("/a", "/A", false),
        ]
    )
    func paths(path: String, requested: String, expected: Bool) throws {
        let cookie = try #require(Cookie(name: "a", value: "1", domain: "example.com", path: path))
        #expect(cookie.concerns(path: requested) == expected)
    }

    @Test(arguments: [
        ("Example.COM", "example.com"), (".example.com", "example.com"), ("Example.com.", "example.com."),
        ("example.com:80", "example.com"), ("[::1]:80", "::1"), ("::1", "::1"), ("[::1]", "::1"),
        ("127.0.0.1:80", "127.0.0.1"), (".example.com.:80", "example.com."),
    ])
    func hostsHaveOneForm(host: String, expected: String) {
        #expect(Cookie.canonical(host) == expected)
    }

    // MARK: - Foundation's form

    @Test(arguments: [false, true])
    func theRootsDotStays(includesSubdomains: Bool) throws {
        let cookie = try #require(
            Cookie(name: "a", value: "1", domain: "example.com.", includesSubdomains: includesSubdomains)
        )
        #expect(cookie.line.hasPrefix(includesSubdomains ? ".example.com.\tTRUE" : "example.com.\tFALSE"))
        #expect(Cookie(line: cookie.line) == cookie)
        #expect(Cookie(try #require(cookie.httpCookie())) == cookie)
    }

    @Test func foundationsFormIsRestored() throws {
        let cookie = try #require(Self.full)
        let made = try #require(cookie.httpCookie())
        #expect(made.domain == ".example.com" && made.path == "/a/" && made.isSecure && made.isHTTPOnly)
        #expect(Cookie(made) == cookie)
        let plain = try #require(Cookie(name: "a", value: "1", domain: "example.com"))
        let second = try #require(plain.httpCookie())
        #expect(second.domain == "example.com" && !second.isSecure && second.expiresDate == nil)
        #expect(Cookie(second) == plain)
    }

    @Test func aMaxAgeThatFoundationDoesNotCountCounts() throws {
        let made = try #require(
            HTTPCookie(properties: [
                .name: "a", .value: "1", .domain: "example.com", .path: "/", .maximumAge: "100",
            ])
        )
        let expires = try #require(Cookie(made)?.expires)
        #expect(abs(expires - Int64.secondsSince1970 - 100) < 20)
    }

    @Test(arguments: [("9223372036854775807", true), ("-9223372036854775808", false)])
    func aHugeMaxAgeDoesNotOverflow(age: String, isKept: Bool) throws {
        let properties: [HTTPCookiePropertyKey: Any] = [
            .name: "a", .value: "1", .domain: "example.com", .path: "/", .maximumAge: age,
        ]
        let jar = CookieJar()
        jar.set(try #require(HTTPCookie(properties: properties)))
        #expect(jar.cookies.isEmpty == !isKept)
    }

    @Test(arguments: ["a\r\nSet-Cookie: b", "a;b", "a\tb"])
    func anUnsendableCookieIsInvalid(value: String) throws {
        let made = try #require(
            HTTPCookie(properties: [.name: "a", .value: value, .domain: "example.com", .path: "/"])
        )
        #expect(Cookie(made) == nil)
    }
}
