import Foundation
import FoundationNetworking
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite struct ExchangeRouteTests {
    private func request(_ url: String) throws -> URLRequest {
        URLRequest(url: try #require(URL(string: url)))
    }

    private func redirect(to request: URLRequest) throws -> ExchangeRoute.Redirect {
        let url = try #require(URL(string: "http://example.org/"))
        let response = try #require(
            HTTPURLResponse(url: url, statusCode: 302, httpVersion: nil, headerFields: nil)
        )
        return ExchangeRoute.Redirect(response: response, request: request)
    }

    @Test func aRedirectIsTheNextHopAndIsReportedOnce() throws {
        var route = ExchangeRoute(try request("http://example.org/a"), body: nil)
        let next = try request("http://example.com/b")
        route.follow(try redirect(to: next))
        #expect(route.url.absoluteString == "http://example.com/b")
        #expect(route.request.url?.absoluteString == "http://example.org/a")
        #expect(route.redirectCount == 1)
        #expect(route.takePendingRedirect()?.request == next)
        #expect(route.takePendingRedirect() == nil)
    }

    @Test func startingOverGoesBackToTheCallersRequest() throws {
        var first = try request("http://example.org/a")
        first.httpMethod = "POST"
        first.httpBody = Data("body".utf8)
        var route = ExchangeRoute(first, body: .data(Data("body".utf8)))
        route.follow(try redirect(to: try request("http://example.com/b")))
        #expect(route.requestBody == nil, "a redirect to GET drops the body")
        route.startOver()
        #expect(route.url.absoluteString == "http://example.org/a")
        #expect(route.redirectCount == 0)
        #expect(route.takePendingRedirect() == nil)
        guard case .data(let data) = route.requestBody else {
            Issue.record("the body is sent again")
            return
        }
        #expect(data == Data("body".utf8))
    }

    @Test func anotherAddressStaysForEachAttemptAndIsFreshUntilBytesCome() throws {
        var route = ExchangeRoute(try request("http://example.org/a"), body: nil)
        #expect(!route.hasFreshURL)
        route.move(to: try #require(URL(string: "http://example.com/new")), by: RedirectPolicy())
        #expect(route.hasFreshURL)
        route.startOver()
        #expect(route.url.absoluteString == "http://example.com/new")
        #expect(route.hasFreshURL)
        route.noteProgress()
        #expect(!route.hasFreshURL)
    }

    @Test(
        arguments: [
            ("http://example.org/a", "http://example.org/a", nil),
            (
                "http://user:pass@example.org/a", "http://example.org/a",
                URLUserInformation(user: "user", password: "pass")
            ),
            ("http://user@example.org/a", "http://example.org/a", URLUserInformation(user: "user")),
            (
                "http://user:@example.org/a", "http://example.org/a",
                URLUserInformation(user: "user", password: "")
            ),
        ] as [(String, String, URLUserInformation?)]
    )
    func credentialsAreTakenOutOfTheAddress(
        url: String,
        sent: String,
        information: URLUserInformation?
    ) throws {
        var route = ExchangeRoute(try request(url), body: nil)
        #expect(route.takeUserInformation() == information)
        #expect(route.url.absoluteString == sent)
        #expect(route.takeUserInformation() == nil)
        #expect(route.request.url?.absoluteString == url, "the next attempt has them again")
    }

    /// User and password are taken out all the same.
    @Test(arguments: [
        ("http://bob:p%E4ss@example.org/a", CredentialError.Part.password),
        ("http://b%F6b:pass@example.org/a", .user), ("http://b%F6b@example.org/a", .user),
    ])
    func whatCannotBeDecodedIsAnErrorBeforeAnythingIsSent(url: String, part: CredentialError.Part) throws {
        var route = ExchangeRoute(try request(url), body: nil)
        #expect(route.takeUserInformation() == nil)
        #expect(route.url.absoluteString == "http://example.org/a")
        #expect(throws: CredentialError.notUTF8(in: part)) {
            try route.takeRequest(isAuthenticated: false)
        }
        route.startOver()
        #expect(route.takeUserInformation() == nil)
        #expect(throws: CredentialError.notUTF8(in: part)) {
            try route.takeRequest(isAuthenticated: false)
        }
        // Another address has others.
        route.move(to: try #require(URL(string: "http://us%C3%A9r@example.org/b")), by: .follow)
        route.startOver()
        #expect(route.takeUserInformation() == URLUserInformation(user: "us\u{E9}r"))
        #expect(try route.takeRequest(isAuthenticated: false).0.url == URL(string: "http://example.org/b"))
    }

    @Test func aConditionGoesWithEachRequestUntilItIsDropped() throws {
        let condition = try #require(FileCondition(entityTag: "\"a\"", lastModified: nil, length: 3))
        var route = ExchangeRoute(try request("http://example.org/a"), body: nil)
        route.add(condition)
        #expect(route.hop.value(forHTTPHeaderField: condition.name) == condition.value)
        route.startOver()
        #expect(route.hop.value(forHTTPHeaderField: condition.name) == condition.value)
        route.dropCondition()
        #expect(route.hop.value(forHTTPHeaderField: condition.name) == nil)
        #expect(route.request.value(forHTTPHeaderField: condition.name) == nil)
        #expect(route.condition == nil)
    }

    // MARK: - Bodies

    private func streaming(_ stream: InputStream, _ url: String) throws -> URLRequest {
        var request = try request(url)
        request.httpMethod = "POST"
        request.httpBodyStream = stream
        return request
    }

    @Test func aStreamIsSentOnce() throws {
        let stream = InputStream(data: Data("body".utf8))
        let request = try streaming(stream, "http://example.org/a")
        let route = ExchangeRoute(request, body: BodyStream(of: request).map { .stream($0) })
        #expect(!route.hasBodyInMemory)
        #expect(route.canSendBodyAgain, "nothing has read it yet")
        #expect(route.canStartOver)
        #expect(route.canSendWithoutBody, "it could not be sent a second time anyway")
        guard case .stream(let body)? = route.requestBody else {
            Issue.record("there is a body")
            return
        }
        _ = body.next(atMost: 1) {}
        defer { body.stop() }
        #expect(!route.canSendBodyAgain)
        #expect(!route.canStartOver)
        #expect(route.requestBody?.fromStart() == nil)
    }

    @Test func aStreamOfARedirectClosureIsAnother() throws {
        let stream = InputStream(data: Data("body".utf8))
        let request = try streaming(stream, "http://example.org/a")
        var route = ExchangeRoute(request, body: BodyStream(of: request).map { .stream($0) })
        let other = InputStream(data: Data("other".utf8))
        for next in [other, other, stream] {
            route.follow(try redirect(to: try streaming(next, "http://example.org/b")))
            guard case .stream(let body) = route.requestBody else {
                Issue.record("there is a body")
                return
            }
            #expect(body.reads(next))
        }
    }

    @Test func aBodyInMemoryIsSentAsOftenAsNeeded() throws {
        var request = try request("http://example.org/a")
        request.httpMethod = "POST"
        request.httpBody = Data("body".utf8)
        let route = ExchangeRoute(request, body: .data(Data("body".utf8)))
        #expect(route.hasBodyInMemory)
        #expect(route.canSendBodyAgain)
        #expect(!route.canSendWithoutBody)
    }

    @Test(arguments: [("GET", true), ("get", true), ("HEAD", true), ("POST", false), ("PUT", false)])
    func aMethodThatSendsAnEmptyBodyDoesNotAskWithoutOne(method: String, canAsk: Bool) throws {
        var request = try request("http://example.org/a")
        request.httpMethod = method
        let route = ExchangeRoute(request, body: nil)
        #expect(route.canSendWithoutBody == canAsk)
        #expect((route.requestBody == nil) == canAsk)
    }
}
