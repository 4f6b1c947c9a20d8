import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// Servers and clients of other authors.
@Suite(.timeLimit(.minutes(1)))
struct CookieRealServerTests {
    private let scene = CookieScene()

    private func cookies(_ operation: HTTPRequestOperation) throws -> [String: String] {
        struct Answer: Decodable { let cookies: [String: String] }
        return try JSONDecoder().decode(Answer.self, from: try #require(operation.responseData)).cookies
    }

    @Test(.enabled(if: RealServers.httpbin != nil))
    func httpbinSetsAndDeletes() async throws {
        let httpbin = try #require(RealServers.httpbin)
        let (set, delete) = (
            try #require(URL(string: "/cookies/set?a=1&b=2", relativeTo: httpbin)),
            try #require(URL(string: "/cookies/delete?a", relativeTo: httpbin))
        )
        // Both redirect to what shows the cookies that it was sent.
        #expect(try cookies(await scene.get(set).operation) == ["a": "1", "b": "2"])
        #expect(try cookies(await scene.get(delete).operation) == ["b": "2"])
        #expect(scene.pairs == ["b=2"])
    }

    private func answer(_ url: URL) async throws -> String? {
        let operation = scene.operation(URLRequest(url: url))
        operation.start()
        _ = try await operation.value
        return operation.responseString
    }

    @Test(.enabled(if: RealServers.nginx != nil))
    func nginxSetsThemOfEveryKind() async throws {
        let nginx = try #require(RealServers.nginx)
        _ = try await answer(nginx.appendingPathComponent("cookies/set"))
        let kept = [
            "dated=1", "deep=1", "default-path=1", "hidden=1", "lasting=1", "same-host=1", "secure=1",
            "session=1",
            "strict=1",
        ]
        #expect(scene.pairs == kept)
        let text = try await answer(nginx.appendingPathComponent("cookies/show"))
        let sent = text?.dropFirst("Cookie: ".count).dropLast().split(separator: "; ").map(String.init)
        #expect(sent?.sorted() == kept.filter { $0 != "deep=1" })
        _ = try await answer(nginx.appendingPathComponent("cookies/clear"))
        #expect(scene.pairs == kept.filter { $0 != "session=1" && $0 != "lasting=1" })
    }

    @Test(.enabled(if: RealServers.nginxTLS != nil && RealServers.authorities != nil))
    func aSecureCookieGoesOverTLSOnly() async throws {
        let authorities = TrustAnchors.file(try #require(RealServers.authorities))
        let (secure, plain) = (try #require(RealServers.nginxTLS), try #require(RealServers.nginx))
        func ask(_ base: URL, _ path: String) async throws -> String? {
            var request = URLRequest(url: try #require(URL(string: path, relativeTo: base)?.absoluteURL))
            // By its own name libcurl counts this machine as secure.
            request.setValue("secure.example", forHTTPHeaderField: "Host")
            let operation = scene.operation(request)
            operation.trustAnchors = authorities
            operation.start()
            _ = try await operation.value
            return operation.responseString
        }
        _ = try await ask(secure, "/cookies/one?a=1;Path=/;Secure")
        #expect(try await ask(secure, "/cookies/show") == "Cookie: a=1\n")
        #expect(try await ask(plain, "/cookies/show") == "Cookie: \n")
        // What came without TLS does not take the place of what came over it (RFC 6265bis §5.7).
        _ = try await ask(plain, "/cookies/one?a=2;Path=/")
        #expect(scene.pairs == ["a=1"])
        #expect(try await ask(secure, "/cookies/show") == "Cookie: a=1\n")
    }

    // MARK: - curl

    @Test func curlSendsWhatIsSavedAndWhatItSavesIsRead() async throws {
        let server = try ScriptedServer([
            .respond([
                "Set-Cookie": "a=1", "Set-Cookie": "b=2; Path=/p; Max-Age=1000; HttpOnly",
                "Set-Cookie": "c=\"3 4\"; Secure", "Set-Cookie": "d=",
            ]),
            .respond(["Set-Cookie": "e=5; Domain=localhost; Max-Age=1000", "Set-Cookie": "a=; Max-Age=0"]),
            .respond(body: "x"),
        ])
        let directory = try TemporaryDirectory()
        let url = try server.url(host: "localhost", "/p")
        await scene.get(url)
        try scene.jar.save(to: directory.file("ours"))
        _ = try ChecksumProgram.run(
            "curl",
            ["--silent", "--noproxy", "*", "--cookie", "ours", "--cookie-jar", "theirs", url.absoluteString],
            in: directory.url
        )
        #expect(server.cookies[1] == ["a=1", "b=2", "c=\"3 4\"", "d="])
        let theirs = CookieScene(try CookieJar(contentsOf: directory.file("theirs")))
        #expect(theirs.pairs == ["b=2", "c=\"3 4\"", "d=", "e=5"])
        await theirs.get(url)
        #expect(server.cookies[2] == ["b=2", "c=\"3 4\"", "d=", "e=5"])
        #expect(theirs.jar.cookies.filter(\.isHTTPOnly).map(\.name) == ["b"])
        #expect(theirs.jar.cookies.filter { $0.domain.hasPrefix(".") }.map(\.name) == ["e"])
    }
}
