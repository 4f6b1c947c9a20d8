import Foundation
import OperationNetworking
import Testing

@Suite struct SessionConfigurationTests {
    @Test func aConfigurationComesBack() throws {
        var configuration = SessionConfiguration.ephemeral
        configuration.additionalHeaders = ["Accept-Language": "de"]
        configuration.requestTimeout = 5
        configuration.resourceTimeout = 60
        configuration.connectTimeout = 3
        configuration.maximumConnectionsPerHost = 2
        configuration.downloadDirectory = URL(fileURLWithPath: "/var/tmp/", isDirectory: true)
        configuration.tlsVersions = .v1_3 ... .v1_3
        let coded = try JSONEncoder().encode(configuration)
        let back = try JSONDecoder().decode(SessionConfiguration.self, from: coded)
        #expect(back.additionalHeaders == ["Accept-Language": "de"])
        #expect(back.requestTimeout == 5 && back.resourceTimeout == 60 && back.connectTimeout == 3)
        #expect(back.maximumConnectionsPerHost == 2)
        #expect(back.downloadDirectory == configuration.downloadDirectory)
        #expect(back.tlsVersions == .v1_3 ... .v1_3 && !back.shouldUseCredentialStorage)
        let jar = try #require(back.cookieJar)
        #expect(jar !== CookieJar.shared && jar !== configuration.cookieJar)
    }

    @Test func theDefaultComesBackAsTheDefault() throws {
        let coded = try JSONEncoder().encode(SessionConfiguration.default)
        let back = try JSONDecoder().decode(SessionConfiguration.self, from: coded)
        #expect(back.cookieJar === CookieJar.shared && back.maximumConnectionsPerHost == nil)
        #expect(back.requestTimeout == nil && back.downloadDirectory == nil)
    }

    @Test func aSessionHasTheSettingsOfItsConfiguration() {
        var configuration = SessionConfiguration()
        configuration.maximumConnectionsPerHost = 2
        configuration.resourceTimeout = 60
        configuration.cookieJar = nil
        let session = URLSessionManager(configuration: configuration)
        #expect(session.maximumConnectionsPerHost == 2 && session.totalTimeout == 60)
        #expect(session.cookieJar == nil)
        session.totalTimeout = 7
        #expect(session.configuration.resourceTimeout == 60)
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
        session.totalTimeout = 9
        session.maximumConnectionsPerHost = 3
        let coded = try JSONEncoder().encode(session.archive)
        let archive = try JSONDecoder().decode(SessionManagerArchive.self, from: coded)
        let back = HTTPSessionManager(archive: archive)
        #expect(back.baseURL == session.baseURL && back.configuration.additionalHeaders == ["X-A": "1"])
        #expect(back.requestSerializer is JSONRequestSerializer)
        #expect(back.responseSerializer is HTTPResponseSerializer)
        #expect(back.totalTimeout == 9 && back.maximumConnectionsPerHost == 3)
        #expect(URLSessionManager(archive: archive).totalTimeout == 9)
    }
}
