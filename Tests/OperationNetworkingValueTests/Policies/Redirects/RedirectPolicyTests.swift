import Foundation
import FoundationNetworking
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite(.timeLimit(.minutes(1)))
struct RedirectPolicyTests {
    private func request(
        _ url: String = "http://example.org/a/b?c=d",
        _ method: String = "GET",
        _ fields: [String: String] = [:]
    ) throws -> URLRequest {
        var request = URLRequest(url: try #require(URL(string: url)))
        request.httpMethod = method
        for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
        return request
    }

    private func head(_ status: Int, _ location: String? = "http://example.org/next") -> ResponseHead {
        var head = ResponseHead(version: "HTTP/1.1", status: status, fields: [:])
        if let location { head.fields.append(name: "Location", value: location) }
        return head
    }

    @Test(arguments: [
        (301, true), (302, true), (303, true), (307, true), (308, true), (300, false), (304, false),
        (305, false),
        (306, false), (200, false), (201, false), (404, false),
    ])
    func someStatusesRedirect(status: Int, isRedirect: Bool) {
        #expect(RedirectPolicy.isRedirect(head(status)) == isRedirect)
        #expect(!RedirectPolicy.isRedirect(head(status, nil)))
    }

    @Test(arguments: [
        ("GET", [301: "GET", 302: "GET", 303: "GET", 307: "GET", 308: "GET"]),
        ("HEAD", [301: "HEAD", 302: "HEAD", 303: "HEAD", 307: "HEAD", 308: "HEAD"]),
        ("POST", [301: "GET", 302: "GET", 303: "GET", 307: "POST", 308: "POST"]),
        ("PUT", [301: "PUT", 302: "PUT", 303: "GET", 307: "PUT", 308: "PUT"]),
        ("DELETE", [301: "DELETE", 302: "DELETE", 303: "GET", 307: "DELETE", 308: "DELETE"]),
    ])
    func theStatusDecidesTheMethodAndTheBody(method: String, methods: [Int: String]) throws {
        for (status, next) in methods {
            var asked = try request(
                "http://example.org/",
                method,
                ["Content-Type": "text/plain", "X-A": "b"]
            )
            asked.httpBody = Data("body".utf8)
            let followed = try #require(RedirectPolicy.follow.request(after: head(status), to: asked))
            #expect(followed.httpMethod == next, "\(status)")
            // After a 303 comes a plain retrieval (RFC 9110 §15.4.4).
            let keepsBody = next == method && status != 303
            #expect(followed.httpBody == (keepsBody ? Data("body".utf8) : nil), "\(status)")
            #expect(followed.value(forHTTPHeaderField: "Content-Type") == (keepsBody ? "text/plain" : nil))
            #expect(followed.value(forHTTPHeaderField: "X-A") == "b")
        }
    }

    @Test func fieldsThatDescribeTheBodyLeaveWithIt() throws {
        let fields = [
            "Content-Type", "Content-Length", "Content-Encoding", "Content-Language", "Transfer-Encoding",
            // What RFC 9110 §15.4 names besides, and what later ones say of content.
            "Content-Location", "Digest", "Last-Modified", "content-md5", "Content-Range", "Content-Digest",
            "Repr-Digest", "Content-Disposition", "Trailer", "Expect",
        ]
        var asked = try request(
            "http://example.org/",
            "POST",
            Dictionary(uniqueKeysWithValues: fields.map { ($0, "x") })
        )
        asked.httpBodyStream = InputStream(data: Data("body".utf8))
        let followed = try #require(RedirectPolicy.follow.request(after: head(303), to: asked))
        #expect(followed.httpBodyStream == nil)
        for field in fields { #expect(followed.value(forHTTPHeaderField: field) == nil) }
    }

    @Test(arguments: [
        ("http://example.org/next", true), ("HTTP://EXAMPLE.org/next", true),
        ("http://example.org:80/", true),
        ("/next", true), ("?q", true), ("http://example.org:8080/", false), ("https://example.org/", false),
        ("http://www.example.org/", false), ("http://example.com/", false), ("//example.com/", false),
        ("https://example.org:80/", false),
    ])
    func credentialsStayAtTheirOrigin(location: String, isSame: Bool) throws {
        let asked = try request(
            "http://example.org/",
            "GET",
            [
                "Authorization": "secret", "Cookie": "a=b", "Proxy-Authorization": "secret",
                "Accept": "text/plain",
            ]
        )
        let followed = try #require(RedirectPolicy.follow.request(after: head(302, location), to: asked))
        for name in ["Authorization", "Cookie", "Proxy-Authorization"] {
            #expect((followed.value(forHTTPHeaderField: name) != nil) == isSame, "\(name)")
        }
        #expect(followed.value(forHTTPHeaderField: "Accept") == "text/plain")
    }

    @Test(arguments: [("/next", true), ("https://example.org/", false), ("http://example.com/", false)])
    func aHostFieldOfTheCallersStaysAtItsOrigin(location: String, isSame: Bool) throws {
        let asked = try request("http://example.org/", "GET", ["Host": "www.example.net"])
        let followed = try #require(RedirectPolicy.follow.request(after: head(307, location), to: asked))
        #expect(followed.value(forHTTPHeaderField: "Host") == (isSame ? "www.example.net" : nil))
    }

    @Test func theRequestItselfStaysAsItWas() throws {
        let asked = try request("http://example.org/", "POST", ["Authorization": "secret"])
        _ = RedirectPolicy.follow.request(after: head(303, "http://other.org/"), to: asked)
        #expect(asked.httpMethod == "POST")
        #expect(asked.value(forHTTPHeaderField: "Authorization") == "secret")
    }

    // MARK: - What can be set

    @Test(arguments: [(301, "POST"), (302, "POST"), (303, "GET"), (307, "POST"), (308, "POST")])
    func aPostMayStayAPost(status: Int, method: String) throws {
        var policy = RedirectPolicy()
        policy.keepsPost = true
        var asked = try request("http://example.org/", "POST", ["Content-Type": "text/plain"])
        asked.httpBody = Data("body".utf8)
        let followed = try #require(policy.request(after: head(status), to: asked))
        #expect(followed.httpMethod == method)
        #expect(followed.httpBody == (method == "POST" ? asked.httpBody : nil))
        #expect((followed.value(forHTTPHeaderField: "Content-Type") != nil) == (method == "POST"))
    }

    @Test(arguments: ["X-Api-Key", "x-api-key", "X-API-KEY"])
    func fieldsOfTheCallersChoiceStayAtTheirOriginHoweverTheyAreSpelled(name: String) throws {
        var policy = RedirectPolicy()
        #expect(policy.droppedHeaders == RedirectPolicy.defaultDroppedHeaders)
        policy.droppedHeaders = [name]
        let asked = try request("http://example.org/", "GET", ["X-Api-Key": "secret", "X-Other": "x"])
        let same = try #require(policy.request(after: head(302, "/next"), to: asked))
        #expect(same.value(forHTTPHeaderField: "X-Api-Key") == "secret")
        let other = try #require(policy.request(after: head(302, "//other.org/"), to: asked))
        #expect(other.allHTTPHeaderFields == ["X-Other": "x"])
    }

    @Test(arguments: [
        "X-Api-Key", "Api-Key", "X-Auth-Token", "X-Amz-Security-Token", "X-CSRF-Token", "x-csrftoken",
        "PRIVATE-TOKEN", "X-Vault-Token", "x-goog-api-key", "Ocp-Apim-Subscription-Key", "X-Access-Token",
        "X-JFrog-Art-Api", "dd-api-key",
    ])
    func fieldsForAPIKeysStayAtTheirOrigin(name: String) throws {
        let asked = try request("http://example.org/", "GET", [name: "secret", "X-Other": "x"])
        let same = try #require(RedirectPolicy.follow.request(after: head(307, "/next"), to: asked))
        #expect(same.value(forHTTPHeaderField: name) == "secret")
        let other = try #require(RedirectPolicy.follow.request(after: head(307, "//other.org/"), to: asked))
        #expect(other.allHTTPHeaderFields == ["X-Other": "x"])
        let back = try #require(RedirectPolicy.follow.request(after: head(307, "//example.org/"), to: other))
        #expect(back.allHTTPHeaderFields == ["X-Other": "x"])
    }

    /// Whole names: `If-Match` would keep a client from overwriting, and `Idempotency-Key` from paying twice.
    @Test(arguments: [
        "Idempotency-Key", "X-Idempotency-Key", "If-Match", "Range", "Accept", "X-Api-Key-Version",
        "X-Api-Version", "Sec-WebSocket-Key", "X-Request-Id", "Tokenizer", "X-Author", "Surrogate-Key",
    ])
    func otherFieldsFollowTheRedirect(name: String) throws {
        let asked = try request("http://example.org/", "GET", [name: "x"])
        let other = try #require(RedirectPolicy.follow.request(after: head(307, "//other.org/"), to: asked))
        #expect(other.value(forHTTPHeaderField: name) == "x")
    }

    @Test func aNameCanBeAddedAndTakenOut() throws {
        var policy = RedirectPolicy()
        policy.droppedHeaders.insert("X-Own")
        policy.droppedHeaders.remove("X-Api-Key")
        let asked = try request(
            "http://example.org/",
            "GET",
            ["X-Own": "secret", "X-Api-Key": "x", "Api-Key": "y"]
        )
        let other = try #require(policy.request(after: head(307, "//other.org/"), to: asked))
        #expect(other.allHTTPHeaderFields == ["X-Api-Key": "x"])
    }

    @Test func aFieldThatIsThereInSeveralSpellingsLeavesAltogether() throws {
        var asked = try request("http://example.org/")
        asked.allHTTPHeaderFields = [
            "authorization": "1", "Authorization": "2", "AUTHORIZATION": "3", "A": "b",
        ]
        let followed = try #require(
            RedirectPolicy.follow.request(after: head(307, "//other.org/"), to: asked)
        )
        #expect(followed.allHTTPHeaderFields == ["A": "b"])
    }

    @Test func severalLocationsAreAConflictOnlyIfTheyDiffer() {
        var two = head(302, "/a")
        #expect(RedirectPolicy.conflict(in: two) == nil)
        two.fields.append(name: "location", value: "/a")
        #expect(RedirectPolicy.conflict(in: two) == nil)
        two.fields.append(name: "LOCATION", value: "/b")
        #expect(RedirectPolicy.conflict(in: two) == ["/a", "/a", "/b"])
        #expect(RedirectPolicy.conflict(in: head(302, nil)) == nil)
    }

    @Test func aPolicyIsKeptAsItWas() throws {
        var policy = RedirectPolicy(maximumCount: 3)
        policy.keepsPost = true
        policy.allowsDowngrade = true
        policy.droppedHeaders = ["B", "A"]
        var open = RedirectPolicy()
        open.droppedHeaders = []
        for policy in [policy, open, .follow, .refuse] {
            let data = try JSONEncoder().encode(policy)
            #expect(try JSONDecoder().decode(RedirectPolicy.self, from: data) == policy)
        }
        // What a later version adds to the default counts for what was kept by this one.
        #expect(
            !String(decoding: try JSONEncoder().encode(RedirectPolicy.follow), as: UTF8.self).contains("Api")
        )
    }

    @Test(arguments: [
        ("https://a/", "http://a/", true), ("HTTPS://a/", "http://b/", true),
        ("http://a/", "http://b/", false),
        ("https://a/", "https://b/", false), ("http://a/", "https://a/", false),
    ])
    func onlyFromTLSToNoneIsADowngrade(_ from: String, _ to: String, _ isOne: Bool) {
        #expect(RedirectPolicy.isDowngrade(from: URL(string: from), to: URL(string: to)) == isOne)
    }
}
