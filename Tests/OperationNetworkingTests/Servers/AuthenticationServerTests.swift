import Foundation
import Testing

@testable import OperationNetworkingTestSupport

/// That the servers ask for what they say, and let in whom they should.
@Suite(.timeLimit(.minutes(1)), .enabled(if: RealServers.apache != nil && RealServers.nginx != nil))
struct AuthenticationServerTests {
    /// Asks with curl, as whom the arguments say; the last status is the value of `status`.
    private func ask(
        _ base: URL?,
        _ path: String,
        _ arguments: String...,
        environment: [String: String] = [:]
    )
        throws -> CurlCommand.Outcome
    {
        let address = try #require(base).absoluteString + path
        let last = [
            "--include", "--write-out", "\nstatus: %{http_code}\nconnects: %{num_connects}\n", address,
        ]
        return try CurlCommand.run(arguments + last, environment: environment)
    }

    @Test(arguments: [
        ("/basic/1k.bin", #"Basic realm="basic realm""#), ("/digest/1k.bin", #"Digest realm="digest realm""#),
        ("/digest-stale/1k.bin", #"Digest realm="digest realm""#), ("/negotiate/1k.bin", "Negotiate"),
    ])
    func apacheRequestsOneScheme(path: String, challenge: String) throws {
        let outcome = try ask(RealServers.apache, path)
        #expect(outcome.value("status") == "401")
        #expect(outcome.value("WWW-Authenticate")?.hasPrefix(challenge) == true, "\(outcome.output)")
    }

    @Test(arguments: [
        ("/basic/text.txt", "--basic"), ("/digest/text.txt", "--digest"),
        ("/digest-stale/text.txt", "--digest"),
    ])
    func apacheAcceptsOnlyTheRightPassword(path: String, scheme: String) throws {
        let right = try ask(RealServers.apache, path, scheme, "--user", "user:password")
        #expect(right.value("status") == "200")
        #expect(right.value("X-User") == "user")
        #expect(try ask(RealServers.apache, path, scheme, "--user", "user:wrong").value("status") == "401")
        #expect(
            try ask(RealServers.apache, path, scheme, "--user", "other:password").value("status") == "401"
        )
    }

    @Test func aKerberosTicketIsAccepted() throws {
        let outcome = try ask(RealServers.apache, "/negotiate/text.txt", "--negotiate", "--user", ":")
        #expect(outcome.value("status") == "200", "\(outcome.output)")
        #expect(outcome.value("X-User") == "user@TESTS.LOCALHOST")
    }

    @Test func withoutAKerberosTicketTheRequestIsRefused() throws {
        // Without a ticket curl 7.88 crashes now and then, before it has written anything.
        for _ in 0..<10 {
            let outcome = try ask(
                RealServers.apache,
                "/negotiate/text.txt",
                "--negotiate",
                "--user",
                ":",
                environment: ["KRB5CCNAME": "FILE:/nonexistent"]
            )
            guard outcome.hasEnded else { continue }
            #expect(outcome.value("status") == "401")
            return
        }
        Issue.record("curl crashed each time")
    }

    @Test(arguments: [
        ("user:password", "user"), (#"TESTS\user:password"#, #"TESTS\user"#), ("user:wrong", nil),
        (#"OTHER\user:password"#, nil),
    ])
    func ntlmProvesWhoAConnectionIs(credential: String, user: String?) throws {
        let outcome = try ask(RealServers.ntlm, "/", "--ntlm", "--user", credential, "--data", "hello")
        #expect(outcome.value("status") == (user == nil ? "401" : "200"))
        #expect(outcome.value("X-User") == user ?? "")
        #expect(outcome.output.contains("hello") == (user != nil))
    }

    @Test func ntlmIsRequestedAndThenHoldsForTheConnection() throws {
        #expect(try ask(RealServers.ntlm, "/").value("WWW-Authenticate") == "NTLM")
        let address = try #require(RealServers.ntlm).absoluteString
        let both = try ask(
            RealServers.ntlm,
            "/second",
            "--ntlm",
            "--user",
            "user:password",
            address + "/first"
        )
        // Two requests until the credential is known, and one after that.
        #expect(both.value("X-Connection")?.hasSuffix(" 3") == true, "\(both.output)")
        let log = try String(contentsOf: #require(RealServers.ntlmLog), encoding: .utf8)
        let connection = try #require(both.value("X-Connection")?.split(separator: " ").first)
        let lines = log.split(separator: "\n").filter { $0.hasPrefix("\(connection) ") }
            .map { $0.dropFirst(connection.count + 1) }
        #expect(lines == ["1 401 GET /first -", "2 200 GET /first user", "3 200 GET /second user"])
    }

    @Test func nginxAcceptsTheRightPassword() throws {
        let path = "/basic/text.txt"
        let without = try ask(RealServers.nginx, path)
        #expect(without.value("status") == "401")
        #expect(without.value("WWW-Authenticate") == #"Basic realm="basic realm""#)
        #expect(try ask(RealServers.nginx, path, "--user", "user:password").value("status") == "200")
        #expect(try ask(RealServers.nginx, path, "--user", "user:wrong").value("status") == "401")
    }

    @Test(arguments: ["--basic", "--digest"])
    func aBodyBehindAuthenticationIsEchoed(scheme: String) throws {
        let path = scheme == "--basic" ? "/basic/anything" : "/digest/anything"
        let outcome = try ask(
            RealServers.apache,
            path,
            scheme,
            "--user",
            "user:password",
            "--data",
            "sent=again"
        )
        #expect(outcome.value("status") == "200")
        #expect(outcome.output.contains(#""sent": "again""#))
    }
}
