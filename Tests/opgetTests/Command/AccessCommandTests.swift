import Foundation
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import opget

/// The servers that are asked, the way to them, and the user.
@Suite(.serialized) struct AccessCommandTests {
    private let opget: Opget

    init() throws {
        opget = try Opget()
    }

    /// Answers requests with the password.
    private func guarded(_ gate: Gate? = nil) throws -> ScriptedServer {
        let credentials = "Basic " + Data("me:secret".utf8).base64EncodedString()
        return try ScriptedServer { request in
            guard request["Authorization"] == credentials else {
                return .respond(401, ["WWW-Authenticate": "Basic realm=\"here\""], body: "who are you?")
            }
            let answer = Answer.respond(200, body: "0123456789")
            return gate.map { answer.held(after: 4, by: $0) } ?? answer
        }
    }

    private func address(_ server: ScriptedServer, _ path: String = "a") -> String {
        server.url(path: path).absoluteString
    }

    // MARK: - Credentials

    @Test func aPasswordOpensWhatItIsFor() async throws {
        let server = try guarded()
        #expect(try await opget(address(server)).code == 6)
        #expect(try await opget("-u", "me:wrong", address(server)).code == 6)
        for (name, arguments, environment) in [
            ("a", ["-u", "me:secret"], [:]), ("b", ["-u", "me"], ["OPGET_PASSWORD": "secret"]),
        ] as [(String, [String], [String: String])] {
            let run = try opget.start(
                ["--json"] + arguments + [address(server, name)],
                environment: environment
            )
            let result = try await run.result()
            #expect(result.code == 0)
            #expect(try opget.text(name) == "0123456789")
            #expect(!result.output.contains("secret") && !result.errors.contains("secret"))
        }
    }

    @Test func aPasswordInAnAddressIsNeitherShownNorSaved() async throws {
        let server = try guarded()
        let secret = address(server).replacingOccurrences(of: "http://", with: "http://me:secret@")
        let result = try await opget("--json", secret)
        #expect(result.code == 0)
        #expect(!result.output.contains("secret") && !result.errors.contains("secret"))
    }

    @Test func nobodySeesThePasswordInTheListOfProcesses() async throws {
        let gate = Gate()
        let server = try guarded(gate)
        let run = try opget.start(["--json", "-u", "me:secret", "-H", "X-Key: abc", address(server)])
        try await gate.waitForArrivals()
        let line = try run.commandLine()
        #expect(!line.contains("secret") && !line.contains("abc"))
        #expect(line.contains("me:******"))
        gate.open()
        #expect(try await run.result().code == 0)
    }

    @Test func aNetrcFileNamesTheUser() async throws {
        let server = try guarded()
        try opget.write("machine 127.0.0.1 login me password secret\n", "netrc")
        let file = opget.directory.file("netrc").path
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
        let readable = try await opget("--netrc-file", "netrc", address(server))
        #expect(readable.code == 2)
        #expect(!readable.errors.contains("secret"))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
        #expect(try await opget("--netrc-file", "netrc", address(server)).code == 0)
        #expect(try await opget("-n", address(server, "b"), environment: ["HOME": "/nowhere"]).code == 3)
    }

    /// RFC 7617 lets the user be empty.
    @Test func aPasswordAloneInAnAddressIsSent() async throws {
        let server = try ScriptedServer { request in
            guard let sent = request["Authorization"] else {
                return .respond(401, ["WWW-Authenticate": "Basic realm=\"here\""], body: "who are you?")
            }
            return .respond(200, body: .text(sent))
        }
        let named = address(server).replacingOccurrences(of: "http://", with: "http://:secret@")
        let result = try await opget(named)
        #expect(result.code == 0)
        #expect(try opget.text("a") == "Basic " + Data(":secret".utf8).base64EncodedString())
        #expect(!result.errors.contains("secret"))
    }

    /// The password comes from elsewhere: no empty one is sent before it.
    @Test func aUserInAnAddressGetsHisPassword() async throws {
        let server = try guarded()
        try opget.write("machine 127.0.0.1 login me password secret\n", "netrc")
        let file = opget.directory.file("netrc").path
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
        for (name, options) in [("a", ["--netrc-file", "netrc"]), ("b", ["-u", "me:secret"])] {
            let named = address(server, name).replacingOccurrences(of: "http://", with: "http://me@")
            #expect(try await opget.start(options + [named]).result().code == 0)
            #expect(try opget.text(name) == "0123456789")
        }
        #expect(server.requests.map { $0["Authorization"] == nil } == [true, false, true, false])
    }

    /// `default` is for the server that is asked, and not for one that a redirect leads to.
    @Test func aNetrcFileSaysNothingToWhomARedirectLeadsTo() async throws {
        let other = try guarded()
        let server = try ScriptedServer { _ in .redirect(to: other.url(path: "a").absoluteString) }
        try opget.write("default login me password secret\n", "netrc")
        let file = opget.directory.file("netrc").path
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
        #expect(try await opget("--netrc-file", "netrc", address(server)).code == 6)
        #expect(other.requests.allSatisfy { $0["Authorization"] == nil })
        #expect(try await opget("--netrc-file", "netrc", address(other)).code == 0)
        let named = try await opget("--netrc-file", "netrc", "-u", "me:wrong", address(other, "b"))
        #expect(named.code == 6)
    }

    @Test func aMissingPasswordIsPromptedForAndNotShown() async throws {
        let server = try guarded()
        let terminal = try opget.start(inTerminal: ["-u", "me", address(server)])
        try await terminal.waitForOutput(containing: "opget: Password of me: ")
        terminal.type("secrex\u{7F}t\n")
        #expect(try await terminal.end() == 0)
        #expect(try opget.text("a") == "0123456789")
        #expect(!terminal.output.contains("secre"))
        #expect(terminal.isOrdinary)
    }

    /// Repaired, it would be another one.
    @Test func aPasswordThatIsNotUTF8IsAMistake() async throws {
        let server = try guarded()
        let named = address(server).replacingOccurrences(of: "http://", with: "http://me:p%E4ss@")
        #expect(try await opget(named).code == 2)
        let script = "OPGET_PASSWORD=$(printf 'p\\344w'); export OPGET_PASSWORD; "
        let result = try await opget.start(["-u", "me", address(server)], after: script).result()
        #expect(result.code == 2)
        #expect(result.errors.contains("OPGET_PASSWORD is not UTF-8."))
        let terminal = try opget.start(inTerminal: ["-u", "me", address(server)])
        try await terminal.waitForOutput(containing: "opget: Password of me: ")
        terminal.type(octets: Array("p".utf8) + [0xE4] + Array("w\n".utf8))
        #expect(try await terminal.end() == 2)
        #expect(terminal.isOrdinary)
        #expect(server.requests.isEmpty)
    }

    @Test(arguments: [("\u{3}", -SIGINT), ("\u{1C}", -SIGQUIT), ("\u{4}", 130)] as [(String, Int32)])
    func whoDoesNotAnswerIsLeftWithHisTerminal(key: String, end: Int32) async throws {
        let terminal = try opget.start(inTerminal: ["-u", "me", "http://127.0.0.1:1/a"])
        try await terminal.waitForOutput(containing: "opget: Password of me: ")
        terminal.type("sec" + key)
        #expect(try await terminal.end() == end)
        #expect(terminal.isOrdinary)
    }

    /// Such as that of timeout(1), and of a connection that is gone.
    @Test(arguments: [SIGTERM, SIGHUP])
    func aSignalAtAQuestionLeavesAnOrdinaryTerminal(signal: Int32) async throws {
        let terminal = try opget.start(inTerminal: ["-u", "me", "http://127.0.0.1:1/a"])
        try await terminal.waitForOutput(containing: "opget: Password of me: ")
        terminal.signal(signal)
        #expect(try await terminal.end() == -signal)
        #expect(terminal.isOrdinary)
    }

    @Test func ctrlZAtAQuestionGivesTheTerminalBackAndFgAsksAgain() async throws {
        let server = try guarded()
        let shell = try opget.start(
            shellInTerminal:
                "opget -u me \(address(server)); echo \"stopped $?\"; read x; fg; echo \"ended $?\""
        )
        try await shell.waitForOutput(containing: "opget: Password of me: ")
        #expect(!shell.isOrdinary)
        shell.type("wrong\u{1A}")
        try await shell.wait("not stopped") { $0.lines.contains("stopped 148") }
        #expect(shell.isOrdinary)
        shell.type("\n")
        try await shell.wait("not asked again") { $0.lines.last == "opget: Password of me:" }
        #expect(!shell.isOrdinary)
        shell.type("secret\n")
        try await shell.wait("no end") { $0.lines.last == "ended 0" }
        #expect(shell.isOrdinary)
        #expect(try opget.text("a") == "0123456789")
    }

    // MARK: - The way

    @Test func aProxyIsAskedInsteadOfTheServer() async throws {
        let proxy = try ScriptedServer([.respond(200, body: "0123456789")])
        let result = try await opget("--proxy", proxy.url.absoluteString, "http://server.invalid/a")
        #expect(result.code == 0)
        #expect(proxy.requests.first?.target == "http://server.invalid/a")
        let there = try await opget(
            "http://server.invalid/b",
            environment: ["http_proxy": proxy.url.absoluteString]
        )
        #expect(there.code == 0)
        let refused = try await opget("--proxy", "https://me:secret@proxy", "http://server.invalid/c")
        #expect(refused.code == 2)
        #expect(!refused.errors.contains("secret"))
    }

    @Test func redirectsAreFollowedSoFar() async throws {
        let server = try ScriptedServer { request in
            let number = Int(request.path.dropFirst()) ?? 0
            return number < 3 ? .redirect(to: "/\(number + 1)") : .respond(200, body: "0123456789")
        }
        #expect(try await opget("-o", "a", "--max-redirects", "3", address(server, "0")).code == 0)
        let result = try await opget("-o", "b", "--max-redirects", "2", address(server, "0"))
        #expect(result.code != 0)
        #expect(try opget.files() == ["a"])
    }

    @Test func cookiesStayInTheirFile() async throws {
        let server = try ScriptedServer { request in
            guard let cookie = request["Cookie"] else {
                return .respond(200, ["Set-Cookie": "session=abc; Max-Age=3600"], body: "new")
            }
            return .respond(200, body: AnswerBody(stringLiteral: cookie))
        }
        #expect(try await opget("--cookie-jar", "jar", address(server, "a")).code == 0)
        let attributes = try FileManager.default.attributesOfItem(atPath: opget.directory.file("jar").path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(try await opget("--cookie-jar", "jar", address(server, "b")).code == 0)
        #expect(try opget.text("b") == "session=abc")
        #expect(try await opget(address(server, "c")).code == 0)
        #expect(try opget.text("c") == "new")
        try opget.write("broken\n", "jar")
        let broken = try await opget("--cookie-jar", "jar", address(server, "d"))
        #expect(broken.code == 3)
        #expect(try opget.text("jar") == "broken\n")
        #expect(try await opget("--cookie-jar", "/dev/null", address(server, "e")).code == 2)
        #expect(try await opget("--cookie-jar", ".", address(server, "f")).code == 2)
    }

    /// Without the line, and with a word about it.
    @Test func anOddLineOfAJarIsReportedAndLeftOut() async throws {
        let server = try ScriptedServer { .respond(200, body: .text($0["Cookie"] ?? "none")) }
        let line = "127.0.0.1\tFALSE\t/\tFALSE\t0\t"
        let odd = [
            "127.0.0.1\tFALSE\t/\tFALSE\t0\tsix", line + "\tnameless",
            "127.0.0.1\tFALSE\t/\tFALSE\t9999999999.5\ta\t1",
        ]
        try opget.write(([line + "good\t1"] + odd).joined(separator: "\n"), "jar")
        let result = try await opget("--cookie-jar", "jar", address(server))
        #expect(result.code == 0)
        #expect(try opget.text("a") == "good=1")
        for number in 2...4 { #expect(result.errors.contains("jar: Line \(number) is not a cookie: ")) }
        #expect(!result.errors.contains("nameless"))
        #expect(try opget.text("jar").hasSuffix("\n\n\(line)good\t1\n"))
    }

    @Test func severalRunsAtOnceLoseNoCookie() async throws {
        let gate = Gate()
        let server = try ScriptedServer { request in
            let name = request.target.dropFirst()
            return .respond(200, ["Set-Cookie": "\(name)=1; Max-Age=3600"], body: "x").held(by: gate)
        }
        let runs = try (0..<8).map {
            try opget.start(["-q", "--cookie-jar", "jar", "-o", "f\($0)", address(server, "c\($0)")])
        }
        try await gate.waitForArrivals(8)
        gate.open()
        for run in runs { #expect(try await run.result().code == 0) }
        let names = try opget.text("jar").split(separator: "\n").compactMap {
            $0.split(separator: "\t").dropFirst(5).first
        }
        #expect(names.sorted() == (0..<8).map { "c\($0)" })
        #expect(try opget.files() == (0..<8).map { "f\($0)" } + ["jar"])
    }

    /// The first run has two of the second run's cookies from before, and saves after it.
    @Test func ofSeveralRunsTheLastChangeCounts() async throws {
        let gate = Gate()
        let server = try ScriptedServer { request in
            switch request.target {
            case "/one": .respond(200, ["Set-Cookie": "a=1; Max-Age=3600"], body: "x")
            case "/held": .respond(200, ["Set-Cookie": "c=1; Max-Age=3600"], body: "x").held(by: gate)
            default:
                .respond(200, ["Set-Cookie": "a=2; Max-Age=3600", "Set-Cookie": "b=; Max-Age=0"], body: "x")
            }
        }
        try opget.write("127.0.0.1\tFALSE\t/\tFALSE\t0\tb\t1\n", "jar")
        let first = try opget.start([
            "-q", "-j", "1", "--cookie-jar", "jar", address(server, "one"), address(server, "held"),
        ])
        try await gate.waitForArrivals(1)
        #expect(try await opget("-q", "--cookie-jar", "jar", address(server, "two")).code == 0)
        gate.open()
        #expect(try await first.result().code == 0)
        let cookies = try opget.text("jar").split(separator: "\n").compactMap { line -> String? in
            let fields = line.split(separator: "\t")
            return fields.count == 7 ? "\(fields[5])=\(fields[6])" : nil
        }
        #expect(cookies.sorted() == ["a=2", "c=1"])
    }

    /// When all is fetched it is too late.
    @Test(arguments: ["new/jar", "file/jar", "/dev/null/jar"])
    func aPlaceWhereNoJarCanBeMadeIsFoundOutFirst(jar: String) async throws {
        let server = try ScriptedServer([.respond(200, body: "x")])
        try opget.write("", "file")
        let result = try await opget("--cookie-jar", jar, address(server))
        #expect(result.code == 3)
        #expect(result.errors.hasPrefix("opget: --cookie-jar: no file can be created in "))
        #expect(server.requests.isEmpty)
    }

    // MARK: - The server

    private static func variable(_ name: String) -> String? {
        ProcessInfo.processInfo.environment["OPERATIONNETWORKING_\(name)"]
    }

    private func certificate(_ name: String) throws -> String {
        try #require(Self.variable("CERTIFICATES")) + "/" + name
    }

    @Test(.enabled(if: variable("CERTIFICATES") != nil))
    func aServerWithAnotherKeyIsNotAsked() async throws {
        let url = try #require(Self.variable("NGINX_HTTPS")) + "/1k.bin"
        let authority = try certificate("root.pem")
        let pin = { (name: String) in
            let file = URL(fileURLWithPath: try certificate(name))
            return try PublicKeyPin(try #require(try X509Certificate.all(contentsOf: file).first)).description
        }
        let wrong = try await opget("--cacert", authority, "--pin", try pin("other-leaf.pem"), url)
        #expect(wrong.code == 5)
        #expect(wrong.errors.contains("The public key of localhost is not pinned."))
        #expect(try opget.files() == [])
        let right = try await opget("--cacert", authority, "--pin", try pin("intermediate1.pem"), url)
        #expect(right.code == 0)
        #expect(try await opget("--pin", try pin("leaf.pem"), "-o", "b", url).code == 5)
        #expect(try await opget("--insecure", "-o", "c", url).code == 0)
        #expect(try await opget("-o", "d", url, environment: ["SSL_CERT_FILE": authority]).code == 0)
        #expect(try await opget("-o", "e", url, environment: ["CURL_CA_BUNDLE": authority]).code == 0)
        let plain = try #require(Self.variable("NGINX_HTTP")) + "/1k.bin"
        #expect(try await opget("--pin", try pin("leaf.pem"), "-o", "f", plain).code == 5)
    }

    /// Bytes that came unverified are not taken for complete by a run that verifies.
    @Test(.enabled(if: variable("CERTIFICATES") != nil))
    func aFileThatCameUnverifiedCountsForNoneThatVerifies() async throws {
        let url = try #require(Self.variable("NGINX_HTTPS")) + "/1k.bin"
        let authority = try certificate("root.pem")
        #expect(try await opget("--insecure", "-o", "a", url).code == 0)
        #expect(try await opget("--insecure", "-o", "a", url).code == 0)
        let strict = try await opget("--cacert", authority, "-o", "a", url)
        #expect(strict.code == 11)
        #expect(strict.errors.contains("other certificate options"))
        let changed = try await opget("-N", "--cacert", authority, "-o", "a", url)
        #expect(changed.code == 0 && !changed.errors.contains("up to date"))
        #expect(try await opget("--cacert", authority, "-o", "a", url).code == 0)
    }

    @Test(.enabled(if: variable("CERTIFICATES") != nil))
    func authoritiesMayBeInADirectory() async throws {
        let url = try #require(Self.variable("NGINX_HTTPS")) + "/1k.bin"
        let other = try #require(Self.variable("NGINX_HTTPS_OTHER")) + "/1k.bin"
        let folder = opget.directory.file("authorities")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        let root = URL(fileURLWithPath: try certificate("root.pem"))
        try FileManager.default.copyItem(at: root, to: folder.appendingPathComponent("root.pem"))
        let rehash = Process()
        rehash.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
        rehash.arguments = ["rehash", folder.path]
        let ended = Gate()
        rehash.terminationHandler = { _ in ended.open() }
        try rehash.run()
        try await ended.wait()
        #expect(rehash.terminationStatus == 0)
        #expect(try await opget("--capath", "authorities", "-o", "a", url).code == 0)
        #expect(try await opget("-o", "b", url, environment: ["SSL_CERT_DIR": folder.path]).code == 0)
        #expect(try await opget("--capath", "authorities", "-o", "c", other).code == 5)
    }

    @Test(.enabled(if: variable("CERTIFICATES") != nil))
    func aClientShowsItsCertificate() async throws {
        let url = try #require(Self.variable("NGINX_CLIENT_REQUIRED")) + "/1k.bin"
        let common = ["--cacert", try certificate("root.pem")]
        let pem = try certificate("client.pem")
        #expect(try await opget.start(common + ["-o", "a", url]).result().code != 0)
        for (name, arguments, environment) in [
            ("b", ["--cert", pem, "--key", try certificate("client.key")], [:]),
            ("c", ["-E", try certificate("client-combined.pem")], [:]),
            ("d", ["--cert", try certificate("client.p12")], ["OPGET_PASSPHRASE": "password"]),
            (
                "e", ["-E", pem, "--key", try certificate("client-encrypted.key")],
                ["OPGET_PASSPHRASE": "passphrase"]
            ),
        ] as [(String, [String], [String: String])] {
            let run = try opget.start(common + arguments + ["-o", name, url], environment: environment)
            #expect(try await run.result().code == 0)
        }
        let encrypted = try await opget.start(
            common + ["-E", pem, "--key", try certificate("client-encrypted.key"), "-o", "f", url]
        ).result()
        #expect(encrypted.code == 2)
        let both = ["--cert", try certificate("client.p12"), "--key", pem, "-o", "g", url]
        #expect(try await opget.start(common + both).result().code == 2)
    }
}
