import Dispatch
import Foundation
import FoundationNetworking
import Glibc
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

@Suite(.timeLimit(.minutes(1)))
struct SessionConfigurationTests {
    @Test func aConfigurationIsRestoredInAnotherProcess() async throws {
        var configuration = SessionConfiguration()
        configuration.additionalHeaders = ["X-A": "1"]
        configuration.settings.timeouts.total = 60
        let coded = try JSONEncoder().encode(configuration)
        let server = try ScriptedServer([.respond(200, ["Content-Type": "application/json"], body: "[1]")])
        let address = server.url.absoluteString
        await #expect(processExitsWith: .success) { [coded = coded as Data, address = address as String] in
            alarm(50)
            let configuration = try JSONDecoder().decode(SessionConfiguration.self, from: coded)
            guard configuration.settings.timeouts.total == 60 else { exit(2) }
            let session = HTTPSessionManager(baseURL: nil, configuration: configuration)
            guard try await session.get(address) as? [Int] == [1] else { exit(3) }
            // What the closure holds would be a leak to a sanitizer.
            _exit(0)
        }
        #expect(server.requests.map { $0["X-A"] } == ["1"])
    }

    /// Foundation drops a value with a control character, and says nothing.
    @Test(
        arguments: [
            (["X-A": "1\r\nX-B: 2"], RequestSerializationError.invalidFieldValue(name: "X-A")),
            (["X-A": "1\u{0}"], .invalidFieldValue(name: "X-A")), (["": "1"], .invalidFieldName("")),
            (["X A": "1"], .invalidFieldName("X A")), (["X-\u{e4}": "1"], .invalidFieldName("X-\u{e4}")),
        ] as [([String: String], RequestSerializationError)]
    )
    func anAdditionalHeaderThatCannotBeSentIsTheErrorOfEachTask(
        headers: [String: String],
        expected: RequestSerializationError
    ) async throws {
        let server = try ScriptedServer([])
        var configuration = SessionConfiguration()
        configuration.additionalHeaders = headers
        let session = HTTPSessionManager.forTests(server.url, configuration)
        await #expect(throws: expected) { try await session.get("x") }
        await #expect(throws: expected) { try await session.post("x", parameters: ["a": 1]) }
        let ends = TaskEnds()
        let request = URLRequest(url: server.url)
        let task = session.downloadTask(
            with: request,
            progress: nil,
            destination: nil,
            completion: ends.fileHandler
        )
        #expect(task.originalRequest.url == server.url)
        task.resume()
        session.uploadTask(with: request, from: Data("x".utf8), progress: nil, completion: ends.handler)
            .resume()
        let errors = try await ends.recorder.wait(count: 2).map { $0.error as? RequestSerializationError }
        #expect(errors == [expected, expected] && server.requests.isEmpty)
    }

    @Test func ephemeralSessionsHaveTheirOwnCookies() async throws {
        let server = try ScriptedServer([
            .respond(200, ["Content-Type": "application/json", "Set-Cookie": "a=1"], body: "[1]")
        ])
        let sessions = [0, 1].map { _ in HTTPSessionManager.forTests(server.url, .ephemeral) }
        for session in [sessions[0], sessions[1], sessions[0]] { _ = try await session.get("x") }
        #expect(server.requests.map { $0["Cookie"] } == [nil, nil, "a=1"])
    }

    @Test func theTotalTimeoutEndsATask() async throws {
        let server = try ScriptedServer([.silence])
        var configuration = SessionConfiguration()
        configuration.settings.timeouts.total = 0.2
        let session = HTTPSessionManager.forTests(server.url, configuration)
        let error = await #expect(throws: URLError.self) { try await session.get("x") }
        #expect(error?.code == .timedOut)
    }

    @Test func aSessionRespectsTheConnectionLimitOfItsConfiguration() async throws {
        let gate = Gate()
        let server = try ScriptedServer([
            .respond(200, ["Content-Type": "application/json"], body: "[1]").held(by: gate)
        ])
        var configuration = SessionConfiguration()
        configuration.maximumConnectionsPerHost = 1
        let session = HTTPSessionManager.forTests(server.url, configuration)
        let ends = TaskEnds()
        for _ in 0..<3 { session.get("x", success: ends.success, failure: ends.failure) }
        try await gate.waitForArrivals()
        #expect(session.tasks.count == 3)
        gate.open()
        _ = try await ends.recorder.wait(count: 3)
        #expect(server.connectionsAccepted == 1)
    }

    @Test func aConfigurationIsRestored() throws {
        var configuration = SessionConfiguration.ephemeral
        configuration.additionalHeaders = ["Accept-Language": "de"]
        configuration.requestTimeout = 5
        configuration.settings.timeouts.total = 60
        configuration.settings.timeouts.connect = 3
        configuration.maximumConnectionsPerHost = 2
        configuration.downloadDirectory = URL(fileURLWithPath: "/var/tmp/", isDirectory: true)
        configuration.settings.tlsVersions = .v1_3 ... .v1_3
        let coded = try JSONEncoder().encode(configuration)
        let back = try JSONDecoder().decode(SessionConfiguration.self, from: coded)
        #expect(back.additionalHeaders == ["Accept-Language": "de"])
        #expect(
            back.requestTimeout == 5 && back.settings.timeouts.total == 60
                && back.settings.timeouts.connect == 3
        )
        #expect(back.maximumConnectionsPerHost == 2)
        #expect(back.downloadDirectory == configuration.downloadDirectory)
        #expect(back.settings.tlsVersions == .v1_3 ... .v1_3 && !back.settings.shouldUseCredentialStorage)
        let jar = try #require(back.settings.cookieJar)
        #expect(jar !== CookieJar.shared && jar !== configuration.settings.cookieJar)
    }

    @Test func theDefaultIsRestoredAsTheDefault() throws {
        let coded = try JSONEncoder().encode(SessionConfiguration.default)
        let back = try JSONDecoder().decode(SessionConfiguration.self, from: coded)
        #expect(back.settings.cookieJar === CookieJar.shared && back.maximumConnectionsPerHost == nil)
        #expect(back.requestTimeout == nil && back.downloadDirectory == nil)
    }

    @Test func aSessionHasTheSettingsOfItsConfiguration() {
        var configuration = SessionConfiguration()
        configuration.maximumConnectionsPerHost = 2
        configuration.settings.timeouts.total = 60
        configuration.settings.cookieJar = nil
        let session = URLSessionManager(configuration: configuration)
        #expect(session.maximumConnectionsPerHost == 2 && session.timeouts.total == 60)
        #expect(session.cookieJar == nil)
        session.timeouts.total = 7
        #expect(session.configuration.settings.timeouts.total == 60)
    }

    @Test func anArchiveBringsTheSessionBackWithItsSerializers() throws {
        var configuration = SessionConfiguration()
        configuration.additionalHeaders = ["X-A": "1"]
        let session = HTTPSessionManager(
            baseURL: URL(string: "http://example.com/v1/"),
            configuration: configuration
        )
        session.requestSerializer = JSONRequestSerializer()
        session.responseSerializer = HTTPResponseSerializer()
        session.timeouts.total = 9
        session.maximumConnectionsPerHost = 3
        let coded = try JSONEncoder().encode(session.archive)
        let archive = try JSONDecoder().decode(SessionManagerArchive.self, from: coded)
        let back = HTTPSessionManager(archive: archive)
        #expect(back.baseURL == session.baseURL && back.configuration.additionalHeaders == ["X-A": "1"])
        #expect(back.requestSerializer is JSONRequestSerializer)
        #expect(back.responseSerializer is HTTPResponseSerializer)
        #expect(back.timeouts.total == 9 && back.maximumConnectionsPerHost == 3)
        #expect(URLSessionManager(archive: archive).timeouts.total == 9)
    }

    @Test func infiniteTimesAreRestored() throws {
        var configuration = SessionConfiguration()
        configuration.requestTimeout = .infinity
        configuration.settings.timeouts.total = .infinity
        configuration.settings.timeouts.connect = .infinity
        configuration.settings.retryPolicy = RetryPolicy(maximumRetries: 1, timeBudget: .infinity)
        let coded = try JSONEncoder().encode(configuration)
        let back = try JSONDecoder().decode(SessionConfiguration.self, from: coded)
        #expect(back.requestTimeout == .infinity && back.settings.timeouts.total == .infinity)
        #expect(
            back.settings.timeouts.connect == .infinity
                && back.settings.retryPolicy == configuration.settings.retryPolicy
        )
        var serializer = HTTPRequestSerializer()
        serializer.timeoutInterval = .infinity
        let again = try JSONDecoder().decode(
            HTTPRequestSerializer.self,
            from: try JSONEncoder().encode(serializer)
        )
        #expect(again.timeoutInterval == .infinity)
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(
                SessionConfiguration.self,
                from: Data(#"{"format":1,"additionalHeaders":{},"timeout":"long"}"#.utf8)
            )
        }
    }
}
