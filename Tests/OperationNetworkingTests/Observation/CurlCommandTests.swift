import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

@Suite(.timeLimit(.minutes(1)))
struct CurlCommandTests {
    private let server: ScriptedServer

    init() throws {
        server = try ScriptedServer { _ in .respond(body: "x") }
    }

    private func request(_ path: String = "/", method: String = "GET", body: Data? = nil) -> URLRequest {
        var request = URLRequest(url: server.url(path: path))
        request.httpMethod = method
        request.httpBody = body
        return request
    }

    private func operation(_ request: URLRequest) -> HTTPRequestOperation {
        let operation = HTTPRequestOperation(request: request)
        operation.completionQueue = DispatchQueue(label: "callbacks")
        operation.cookieJar = nil
        return operation
    }

    /// Runs the operation, then the command in a shell, and compares what the server was sent.
    private func compare(_ operation: HTTPRequestOperation) async throws {
        let command = operation.curlCommand(redactingSecrets: false)
        operation.start()
        _ = try? await operation.value
        for shell in ["bash", "sh"] {
            let directory = try TemporaryDirectory()
            try Data(command.utf8).write(to: directory.file("command"))
            _ = try ChecksumProgram.run(shell, ["command"], in: directory.url)
            let (first, second) = (try #require(server.requests.first), try #require(server.requests.last))
            #expect(second.connectionNumber != first.connectionNumber)
            #expect(second.method == first.method && second.target == first.target, "\(command)")
            #expect(second.version == first.version)
            #expect(Self.lines(second) == Self.lines(first), "\(command)")
            #expect(second.body == first.body, "\(command)")
        }
    }

    private static func lines(_ request: ReceivedRequest) -> [String] {
        request.headers.lines.map { "\($0.name): \($0.value)" }.sorted()
    }

    @Test func aGet() async throws {
        let operation = operation(request("/a%20b?c=[1]&d={2}&e='f'"))
        #expect(operation.curlCommand().hasPrefix("curl --disable "))
        try await compare(operation)
    }

    @Test(arguments: ["HEAD", "DELETE", "OPTIONS", "PROPFIND"])
    func aMethod(method: String) async throws {
        try await compare(operation(request(method: method)))
    }

    @Test func fieldsOfEveryKind() async throws {
        var request = request()
        for (name, value) in [
            "X-Quote": "it's \"here\" $HOME `id` \\ !x", "X-Empty": "", "Accept": "text/plain",
            "User-Agent": "me/1.0", "X-Utf": "grüße", "Accept-Language": "de;q=0.5, en",
            "Authorization": "Bearer 1",
            "Cookie": "a=1; b=2", "Host": "other.example",
        ] {
            request.setValue(value, forHTTPHeaderField: name)
        }
        try await compare(operation(request))
    }

    @Test(arguments: [
        "", "a=1&b=2", "@file", "it's\n$(id) `id` \\n \"x\" %s\r\n", "grüße", "\u{0}\u{1}", "-x",
        "{\"a\": [1]}",
    ])
    func aBodyOfText(text: String) async throws {
        try await compare(operation(request(method: "POST", body: Data(text.utf8))))
    }

    @Test(arguments: ["POST", "PUT", "PATCH", "GET", "DELETE"])
    func aBodyOfEveryByte(method: String) async throws {
        let all = Data((0...255).map { UInt8($0) } + (0...255).reversed().map { UInt8($0) })
        try await compare(operation(request(method: method, body: all)))
    }

    @Test func aBodyTooLongForAnArgument() async throws {
        try await compare(operation(request(method: "POST", body: Data(repeating: 0x61, count: 200_000))))
    }

    @Test func aFileIsNamed() async throws {
        let directory = try TemporaryDirectory()
        let file = directory.file("it's a file.txt")
        try Data("content".utf8).write(to: file)
        var request = request(method: "PUT")
        request.bodySource = try .file(file)
        let operation = operation(request)
        #expect(operation.curlCommand().contains("--data-binary '@"))
        try await compare(operation)
    }

    @Test func aFormIsComposed() async throws {
        let directory = try TemporaryDirectory()
        try Data([0, 1, 2, 255]).write(to: directory.file("file.bin"))
        let serializer = HTTPRequestSerializer()
        let request = try serializer.multipartFormRequest(
            method: "POST",
            url: server.url,
            parameters: ["a": "1"]
        ) { form in
            try form.appendPart(withFileURL: directory.file("file.bin"), name: "file")
        }
        try await compare(operation(request))
    }

    @Test func aStreamIsLeftOut() throws {
        var request = request(method: "POST")
        request.httpBodyStream = InputStream(data: Data("x".utf8))
        let command = operation(request).curlCommand()
        #expect(command.hasSuffix(" # without the body, which comes from a stream"))
        #expect(!command.contains("--data"))
    }

    @Test func whatCannotBeSentIsAComment() throws {
        var request = request()
        request.httpMethod = "A B"
        let command = operation(request).curlCommand()
        #expect(command.hasPrefix("# ") && !command.contains("\n"))
    }

    // MARK: - Proxies

    @Test func theProxyIsGivenWhatItAsksFor() async throws {
        let challenge = "Digest realm=\"r\", nonce=\"n\", qop=\"auth\""
        let proxy = try ScriptedServer { request in
            request["Proxy-Authorization"] == nil
                ? .respond(407, ["Proxy-Authenticate": challenge])
                : .respond(body: "x")
        }
        let operation = operation(URLRequest(url: try #require(URL(string: "http://server.example/"))))
        operation.proxyConfiguration = .proxy(try Proxy("user:pass@127.0.0.1:\(proxy.port)"))
        let directory = try TemporaryDirectory()
        try Data(operation.curlCommand(redactingSecrets: false).utf8).write(to: directory.file("command"))
        _ = try ChecksumProgram.run("sh", ["command"], in: directory.url)
        let fields = proxy.requests.map { $0["Proxy-Authorization"] }
        #expect(fields.count == 2 && fields[0] == nil && fields[1]?.hasPrefix("Digest ") == true, "\(fields)")
    }

    /// curl asks at the terminal for a password that has no colon before it.
    @Test(arguments: [("user:pass@h", true), ("user@h", true), ("socks5://user:pass@h", false)])
    func credentialsOfAProxyAreAUserAndAPassword(text: String, isHTTP: Bool) throws {
        let operation = operation(request())
        let proxy = try Proxy(text)
        operation.proxyConfiguration = .proxy(proxy)
        let shown = operation.curlCommand()
        #expect(shown.contains(" --proxy-user REDACTED:REDACTED "))
        #expect(shown.contains(" --proxy-anyauth ") == isHTTP)
        let command = operation.curlCommand(redactingSecrets: false)
        #expect(command.contains(" --proxy-user user:\(proxy.password ?? "") "))
    }

    @Test func timeoutsAndVersionsAreWritten() async throws {
        let directory = try TemporaryDirectory()
        var request = request()
        request.timeoutInterval = 7.5
        let operation = DownloadOperation(request: request, to: directory.file())
        operation.cookieJar = nil
        operation.timeouts.connect = 2.5
        operation.trustAnchors = .file(URL(fileURLWithPath: "/etc/my ca.pem"))
        let command = operation.curlCommand()
        for part in [
            " --connect-timeout 2.5 ", " --speed-time 8 ", " --http1.1 ", " --cacert '/etc/my ca.pem' ",
        ] {
            #expect(command.contains(part), "\(command)")
        }
    }

    @Test(arguments: [Double.infinity, 1e300, .nan, 0, -1])
    func aTimeoutMayBeAnyNumber(seconds: Double) async throws {
        var request = request()
        request.timeoutInterval = seconds
        let operation = operation(request)
        operation.timeouts.connect = seconds
        #expect(operation.curlCommand().contains("--connect-timeout") == (seconds < 1))
    }

    @Test func theJarsCookiesAreSent() async throws {
        let jar = CookieJar()
        for (name, path) in [("a", "/"), ("b", "/p"), ("c", "/q")] {
            jar.set(
                try #require(
                    HTTPCookie(properties: [.name: name, .value: "1", .domain: "127.0.0.1", .path: path])
                )
            )
        }
        let operation = operation(request("/p"))
        operation.cookieJar = jar
        #expect(operation.curlCommand().contains("'Cookie: REDACTED'"))
        try await compare(operation)
    }

    /// As text its zeros hide the names from who looks for them.
    @Test(arguments: [String.Encoding.utf16, .utf16LittleEndian, .utf32])
    func jsonInAnotherCharacterSetIsNotShown(encoding: String.Encoding) throws {
        let body = try #require(#"{"password": "hunter2"}"#.data(using: encoding))
        var request = request(method: "POST", body: body)
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        #expect(operation(request).curlCommand().contains(" --data-binary REDACTED "))
    }

    @Test func nothingSecretIsShownUnlessAsked() throws {
        let url = try #require(URL(string: "https://user:hunter2@example.com/?a=1&token=hunter2#hunter2"))
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        request.setValue("hunter2", forHTTPHeaderField: "Authorization")
        request.setValue("a=hunter2", forHTTPHeaderField: "Cookie")
        request.setValue("https://u:hunter2@example.com/?token=hunter2", forHTTPHeaderField: "Referer")
        for (type, body) in [
            ("application/x-www-form-urlencoded; charset=utf-8", Data("user=a&password=hunter2".utf8)),
            ("application/vnd.api+json", Data(#"{"user": "a", "password": "hunter2"}"#.utf8)),
            // Not UTF-8.
            (
                "application/x-www-form-urlencoded",
                Data("user=m".utf8) + [0xFC] + Data("ller&password=hunter2".utf8)
            ),
            ("application/json", Data([0xFF]) + Data(#"{"password": "hunter2"}"#.utf8)),
        ] {
            request.setValue(type, forHTTPHeaderField: "Content-Type")
            request.httpBody = body
            let operation = operation(request)
            #expect(!operation.curlCommand().contains("hunter2"))
            #expect(
                operation.curlCommand(redactingSecrets: false).components(separatedBy: "hunter2").count >= 6
            )
        }
    }
}
