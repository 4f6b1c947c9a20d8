import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// Requests of all kinds, one after the other over kept connections: each is what it is when it is the only one.
///
/// A handle of libcurl does many transfers, where a transfer leaves nothing in it.
@Suite(.timeLimit(.minutes(1)))
struct HandleSequenceTests {
    enum Kind: String, CaseIterable, Sendable {
        case plain, query, longQuery, fields, host, ownFields, range, cookies, noCookies, setsCookie, head,
            post, put,
            delete
        case folded, foldedByTab, foldedAfterInterim, foldedInterim, noFields, longField
        case manyCookies, setsAndRedirects, challenged, credentials, redirected, notModified, missing,
            unavailable
        case chunked, trailers, interim, advice, deletesCookie, untilClose, closing, http10, truncated, large,
            held
    }

    /// The request as the server had it, and the end as its owner saw it.
    struct Outcome: Hashable {
        let received: [String]
        let status: Int?
        let data: Data?
        let error: String?
        let cookies: [String]
        let connections: Int
    }

    private let directory: TemporaryDirectory
    private let server: ScriptedServer
    private static let length = 200_000

    init() throws {
        directory = try TemporaryDirectory()
        server = try ScriptedServer { request in Self.answer(request) }
    }

    private static func answer(_ request: ReceivedRequest) -> Answer {
        let body: AnswerBody = .text(request.target)
        switch Kind(rawValue: String(request.path.dropFirst())) {
        case .setsCookie: return .respond(200, ["Set-Cookie": "set=1; Path=/"], body: body)
        case .challenged:
            return .respond(401, ["WWW-Authenticate": "Digest realm=\"r\", nonce=\"n\", qop=\"auth\""])
        case .deletesCookie: return .respond(200, ["Set-Cookie": "own=; Path=/; Max-Age=0"], body: body)
        case .advice:
            return .respond(
                200,
                [
                    "Alt-Svc": "h2=\":1\"", "Strict-Transport-Security": "max-age=9",
                    "Keep-Alive": "timeout=9",
                    "Location": "/head", "Retry-After": "9", "Refresh": "0", "WWW-Authenticate": "Basic",
                    "Content-Disposition": "attachment; filename=a",
                ],
                body: body
            )
        case .setsAndRedirects:
            return .respond(
                302,
                ["Location": "/plain", "Set-Cookie": "set=1; Path=/", "Set-Cookie": "own=2; Path=/"]
            )
        // The line before it would be one of the response before.
        case .folded: return .raw("HTTP/1.1 200 OK\r\n folded: 1\r\nContent-Length: 1\r\n\r\n1")
        case .foldedByTab: return .raw("HTTP/1.1 200 OK\r\n\tfolded: 1\r\nContent-Length: 1\r\n\r\n1")
        case .foldedAfterInterim:
            let head = "HTTP/1.1 200 OK\r\n folded: 1\r\nContent-Length: 1\r\n\r\n"
            return .raw(.text("HTTP/1.1 103 Early Hints\r\n\r\n" + head + "1"))
        case .foldedInterim:
            let head = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n"
            return .raw(.text("HTTP/1.1 103 Early Hints\r\n folded: 1\r\n\r\n" + head + "1"))
        case .noFields: return .raw("HTTP/1.1 200 OK\r\n\r\n 1")
        // libcurl passes more than 16 KiB in parts, and some of them begin with a blank.
        case .longField:
            let field = "Long: a" + String(repeating: " ", count: 40_000) + "b\r\n"
            return .raw(.text("HTTP/1.1 200 OK\r\n" + field + "Content-Length: 1\r\n\r\n1"))
        case .redirected: return .redirect(to: "/plain")
        case .notModified: return .respond(304, ["ETag": "\"a\""])
        case .missing: return .respond(404, body: body)
        case .unavailable: return .respond(503, body: body)
        case .chunked: return .respond(body: body).chunked(size: 2)
        case .trailers: return .respond(body: body).chunked(size: 2, trailers: ["Late": "1"])
        case .interim: return .respond(body: body).after(interim: 103, ["Link": "<a>"])
        case .untilClose: return .respond(body: body).untilClose()
        case .closing: return .respond(body: body).closing()
        case .http10: return .respond(body: body).http10()
        case .truncated: return .respond(body: body, breakingAfter: 3)
        case .large, .held: return .respond(body: .generated(length: length))
        case .range: return .respond(206, ["Content-Range": "bytes 0-3/10"], body: "0123")
        default: return .respond(body: body)
        }
    }

    private func operation(_ kind: Kind, anchors: URL) -> HTTPRequestOperation {
        // Long ones are not taken apart before libcurl gets them.
        let queries: [Kind: String] = [
            .query: "?a=b&c=%20", .longQuery: "?" + String(repeating: "a", count: 3000),
        ]
        let query = queries[kind] ?? ""
        var request = URLRequest(
            url: URL(string: kind.rawValue + query, relativeTo: server.url) ?? server.url
        )
        switch kind {
        case .head: request.httpMethod = "HEAD"
        case .delete: request.httpMethod = "DELETE"
        case .post, .put:
            request.httpMethod = kind.rawValue.uppercased()
            request.httpBody = Data("body of \(kind)".utf8)
        case .fields:
            request.setValue("secret", forHTTPHeaderField: "Authorization")
            request.setValue("de", forHTTPHeaderField: "Accept-Language")
        case .host: request.setValue("other.test:81", forHTTPHeaderField: "Host")
        case .ownFields:
            let names = [
                "User-Agent", "Referer", "TE", "Cookie", "Accept-Encoding", "If-Range", "Accept", "Expect",
            ]
            for name in names { request.setValue("own", forHTTPHeaderField: name) }
        case .range: request.setValue("bytes=0-3", forHTTPHeaderField: "Range")
        case .notModified: request.setValue("\"a\"", forHTTPHeaderField: "If-None-Match")
        default: break
        }
        let operation = HTTPRequestOperation(request: request)
        operation.completionQueue = DispatchQueue(label: "callbacks")
        operation.trustAnchors = .file(anchors)
        operation.cookieJar = kind == .noCookies ? nil : CookieJar()
        if [.cookies, .setsAndRedirects, .deletesCookie, .host].contains(kind),
            let cookie = HTTPCookie(properties: [
                .name: "own", .value: "1", .domain: "127.0.0.1", .path: "/",
            ])
        {
            operation.cookieJar?.set(cookie)
        }
        // libcurl takes 50 of a response, and then none before the next request.
        for number in 0..<(kind == .manyCookies ? 60 : 0) {
            let properties: [HTTPCookiePropertyKey: Any] = [
                .name: "c\(number)", .value: "1", .domain: "127.0.0.1", .path: "/",
            ]
            if let cookie = HTTPCookie(properties: properties) { operation.cookieJar?.set(cookie) }
        }
        if kind == .credentials { operation.credential = Credential(user: "u", password: "p") }
        if kind == .held { operation.downloadLimits = [BandwidthLimit(bytesPerSecond: 20_000_000)] }
        return operation
    }

    private func outcome(_ kind: Kind, anchors: URL) async throws -> Outcome {
        let before = server.requests.count
        let operation = operation(kind, anchors: anchors)
        operation.start()
        _ = try? await operation.value
        let requests = server.requests[before...]
        let error = operation.error.map { "\(type(of: $0)) \(($0 as NSError).code)" }
        return Outcome(
            received: requests.map { request in
                let lines = request.headers.lines.map { "\($0.name): \($0.value)" }
                return ([request.method + " " + request.target] + lines + [request.text]).joined(
                    separator: "\n"
                )
            },
            status: operation.response?.statusCode,
            data: operation.responseData,
            error: error,
            cookies: operation.cookieJar?.cookies.map { "\($0.name)=\($0.value)" } ?? [],
            connections: Set(requests.map(\.connectionNumber)).count
        )
    }

    private func anchors(_ name: String) -> URL {
        // For http nothing is read of it; it makes a trust domain of its own, with handles of its own.
        let file = directory.file(name)
        _ = FileManager.default.createFile(atPath: file.path, contents: Data())
        return file
    }

    @Test func aRequestIsTheSameAfterAnyOther() async throws {
        var alone: [Kind: Outcome] = [:]
        for kind in Kind.allCases { alone[kind] = try await outcome(kind, anchors: anchors(kind.rawValue)) }
        #expect(alone[.longQuery]?.data?.count == "/longQuery?".utf8.count + 3000)
        #expect(alone[.plain]?.data == Data("/plain".utf8))
        #expect(alone[.cookies]?.received.first?.contains("Cookie: own=1") == true)
        #expect(alone[.setsAndRedirects]?.received.last?.contains("own=2") == true)
        #expect(alone[.deletesCookie]?.cookies == [])
        #expect(alone[.setsCookie]?.cookies == ["set=1"])
        #expect(alone[.challenged]?.error != nil && alone[.truncated]?.error != nil)
        #expect(alone[.manyCookies]?.received.first?.contains("c59=1") == true)
        for kind in [Kind.folded, .foldedByTab, .foldedAfterInterim, .foldedInterim] {
            #expect(alone[kind]?.error != nil, "\(kind)")
        }
        #expect(alone[.noFields]?.data == Data(" 1".utf8))
        #expect(alone[.longField]?.data == Data("1".utf8))
        #expect(alone[.held]?.data?.count == Self.length)

        var generator = SeededGenerator(seed: 17)
        let common = anchors("common")
        var last = Kind.plain
        for round in 0..<Rounds.count(400) {
            // A plain one in between, half of the times: after it a handle is used again.
            let kind = round.isMultiple(of: 2) ? .plain : Kind.allCases.randomElement(using: &generator)!
            let outcome = try await outcome(kind, anchors: common)
            #expect(outcome == alone[kind], "round \(round): \(kind) after \(last)")
            last = kind
        }
    }
}
