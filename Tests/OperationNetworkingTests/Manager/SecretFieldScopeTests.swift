import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// The origins that get the secret fields of a manager's request serializer.
@Suite(.timeLimit(.minutes(1)))
struct SecretFieldScopeTests {
    private static let secrets = ["Authorization", "Cookie", "X-Api-Key", "x-own-secret"]

    private func manager(_ base: URL?) throws -> OperationManager {
        let manager = OperationManager(baseURL: base)
        manager.completionQueue = DispatchQueue(label: "callbacks")
        manager.cookieJar = nil
        manager.redirectPolicy.droppedHeaders.insert("X-Own-Secret")
        var serializer = JSONRequestSerializer()
        serializer.setAuthorization(username: "alice", password: "s3cret")
        for name in ["Cookie", "X-API-Key", "X-Own-Secret", "X-Other"] {
            try serializer.setValue("s3cret", forHTTPHeaderField: name)
        }
        manager.requestSerializer = serializer
        return manager
    }

    private func secrets(in request: URLRequest) -> [String] {
        Self.secrets.filter { request.value(forHTTPHeaderField: $0) != nil }
    }

    private func secrets(in request: ReceivedRequest) -> [String] {
        Self.secrets.filter { request[$0] != nil }
    }

    /// The request that the manager would send.
    private func request(_ manager: OperationManager, _ path: String, headers: [String: String] = [:]) throws
        -> URLRequest
    {
        try manager.request("GET", path, headers: headers)
    }

    private func url(_ text: String) throws -> URL { try #require(URL(string: text)) }

    /// A server may name any address in what it answers, as the next page for example.
    @Test(arguments: [
        ("http://api.example/v1/", "users", true), ("http://api.example/v1/", "", true),
        ("http://api.example/v1/", "/users", true), ("http://api.example/v1/", "//api.example/users", true),
        ("http://api.example/v1/", "http://API.example:80/users", true),
        ("http://user:password@api.example/v1/", "http://api.example/users", true),
        ("http://api.example/v1/", "//other.example/users", false),
        ("http://api.example/v1/", "https://api.example/users", false),
        ("http://api.example/v1/", "http://api.example:8080/users", false),
        ("http://api.example/v1/", "http://api.example.other/users", false),
        ("http://api.example/v1/", "http://api.example@other.example/users", false),
        ("https://api.example/v1/", "http://api.example/users", false),
        (nil, "http://other.example/users", true),
    ])
    func secretsAreForTheOriginOfTheBaseURL(base: String?, path: String, isHome: Bool) throws {
        let made = try request(manager(base.flatMap { URL(string: $0) }), path)
        #expect(secrets(in: made) == (isHome ? Self.secrets : []))
        #expect(made.value(forHTTPHeaderField: "X-Other") == "s3cret")
    }

    @Test func fieldsOfACallFollowTheCall() throws {
        let headers = ["authorization": "Bearer given", "X-Api-Key": "given"]
        let made = try request(manager(url("http://api.example/")), "http://other.example/", headers: headers)
        #expect(made.value(forHTTPHeaderField: "Authorization") == "Bearer given")
        #expect(made.value(forHTTPHeaderField: "X-Api-Key") == "given")
        #expect(secrets(in: made) == ["Authorization", "X-Api-Key"])
    }

    @Test func theNameOfAServerStaysWithIt() throws {
        let manager = try manager(url("http://127.0.0.1/"))
        var serializer = HTTPRequestSerializer()
        try serializer.setValue("api.example", forHTTPHeaderField: "Host")
        try serializer.setValue("Basic x", forHTTPHeaderField: "Proxy-Authorization")
        manager.requestSerializer = serializer
        #expect(try request(manager, "a").value(forHTTPHeaderField: "Host") == "api.example")
        let elsewhere = try request(manager, "http://other.example/")
        #expect(elsewhere.value(forHTTPHeaderField: "Host") == nil)
        // It is for the proxy, which is the same.
        #expect(elsewhere.value(forHTTPHeaderField: "Proxy-Authorization") == "Basic x")
    }

    @Test func aCustomSerializerIsNotAnException() throws {
        struct Leading: RequestSerializer {
            func request(bySerializing request: URLRequest, with parameters: Any?) throws
                -> URLRequest
            {
                var led = request
                led.url = URL(string: "http://other.example/")
                led.setValue("s3cret", forHTTPHeaderField: "Authorization")
                return led
            }
        }
        let manager = try manager(url("http://api.example/"))
        manager.requestSerializer = Leading()
        let made = try request(manager, "users")
        #expect(made.url?.host == "other.example" && made.value(forHTTPHeaderField: "Authorization") == nil)
    }

    @Test func othersCanBeAllowed() throws {
        let manager = try manager(url("http://api.example/"))
        manager.secretHeaderScope = .baseURLAnd([try url("https://files.example/any/path")])
        #expect(try secrets(in: request(manager, "users")) == Self.secrets)
        #expect(try secrets(in: request(manager, "https://FILES.example:443/x")) == Self.secrets)
        #expect(try secrets(in: request(manager, "http://files.example/x")) == [])
        #expect(try secrets(in: request(manager, "http://other.example/")) == [])
        manager.secretHeaderScope = .everywhere
        #expect(try secrets(in: request(manager, "http://other.example/")) == Self.secrets)
        manager.secretHeaderScope = .baseURL
        manager.redirectPolicy.droppedHeaders = []
        #expect(
            try secrets(in: request(manager, "http://other.example/")) == ["X-Api-Key", "x-own-secret"]
        )

        let baseless = try self.manager(nil)
        baseless.secretHeaderScope = .baseURLAnd([try url("http://files.example/")])
        #expect(try secrets(in: request(baseless, "http://files.example/x")) == Self.secrets)
        #expect(try secrets(in: request(baseless, "http://other.example/")) == [])
    }

    @Test func copiesAndArchivesHaveTheSetting() throws {
        let manager = OperationManager(baseURL: try url("http://api.example/"))
        #expect(manager.secretHeaderScope == .baseURL)
        for scope in [
            OperationManager.SecretHeaderScope.baseURL, .everywhere, .baseURLAnd([try url("http://h/")]),
        ] {
            manager.secretHeaderScope = scope
            #expect((manager.copy() as? OperationManager)?.secretHeaderScope == scope)
            let kept = try JSONEncoder().encode(try manager.archive)
            let archive = try JSONDecoder().decode(OperationManagerArchive.self, from: kept)
            #expect(OperationManager(archive: archive).secretHeaderScope == scope)
        }
    }

    /// Each way in which a manager makes requests, on the wire.
    @Test(arguments: [false, true]) func everyKindOfRequestKeepsThem(isHome: Bool) async throws {
        let server = try ScriptedServer { _ in
            .respond(200, ["Content-Type": "application/json"], body: "[1]")
        }
        let other = try ScriptedServer { _ in .respond(body: "x") }
        let manager = try manager(isHome ? server.url : other.url)
        // Two slashes: another server, by a path.
        let path = "//127.0.0.1:\(server.port)/x"
        let folder = try TemporaryDirectory()
        _ = try await manager.get(path)
        _ = try? await manager.head(path)
        _ = try await manager.post(path, parameters: ["a": 1])
        _ = try await manager.put(path, parameters: .encoding(["a": 1]))
        _ = try await manager.get(path, as: [Int].self)
        _ = try await manager.patch(
            path,
            parameters: .form { $0.appendPart(withFormData: Data("1".utf8), name: "a") }
        )
        _ = try await manager.upload(.data(Data("1".utf8)), to: path)
        let called = Gate()
        manager.delete(path, success: { _, _ in called.open() }, failure: { _, _ in called.open() })
        try await called.wait()
        let item = DownloadItem(url: server.url(path: "/file"), destination: folder.file("file"))
        _ = await (try manager.downloads([item])).results()
        #expect(server.requests.count == 9)
        for request in server.requests {
            #expect(secrets(in: request) == (isHome ? Self.secrets : []), "\(request.method)")
            #expect(request["X-Other"] == "s3cret")
        }
        #expect(other.requests.isEmpty)
    }
}
