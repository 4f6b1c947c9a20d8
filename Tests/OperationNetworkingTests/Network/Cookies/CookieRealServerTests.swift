import Foundation
import FoundationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworking

/// Servers and clients that nobody here wrote.
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

    @Test(.enabled(if: RealServers.nginx != nil))
    func nginxSetsOneForAPath() async throws {
        let url = try #require(RealServers.nginx).appendingPathComponent("cookie")
        #expect(await scene.get(url).operation.responseString == "")
        #expect(await scene.get(url).operation.responseString == "nginx=1")
    }

    @Test(.enabled(if: RealServers.nginxTLS != nil && RealServers.authorities != nil))
    func aSecureCookieGoesOverTLSOnly() async throws {
        let authorities = TrustAnchors.file(try #require(RealServers.authorities))
        let secure = try #require(RealServers.nginxTLS).appendingPathComponent("cookie")
        let plain = try #require(RealServers.nginx).appendingPathComponent("cookie")
        func ask(_ url: URL) async throws -> String? {
            var request = URLRequest(url: url)
            // By its own name libcurl counts this machine as secure.
            request.setValue("secure.example", forHTTPHeaderField: "Host")
            let operation = scene.operation(request)
            operation.trustAnchors = authorities
            operation.start()
            _ = try await operation.value
            return operation.responseString
        }
        #expect(try await ask(secure) == "")
        #expect(try await ask(secure) == "nginx=1")
        #expect(try #require(scene.jar.cookies.first).isSecure)
        #expect(try await ask(plain) == "")
        // What came without TLS does not take the place of what came over it (RFC 6265bis §5.7).
        #expect(try #require(scene.jar.cookies.first).isSecure && scene.jar.cookies.count == 1)
        #expect(try await ask(secure) == "nginx=1")
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
