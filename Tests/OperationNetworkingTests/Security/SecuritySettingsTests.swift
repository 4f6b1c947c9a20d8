import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// Where the settings about trust go: what pins must not come back without its pins.
@Suite(.enabled(if: TestCertificates.directory != nil))
struct SecuritySettingsTests {
    private let policy: SecurityPolicy
    private let anchors: TrustAnchors
    private let identity: ClientIdentity
    private let url: URL

    init() throws {
        policy = SecurityPolicy(
            pinningMode: .certificate,
            pinnedCertificates: try TestCertificates.all("leaf")
        )
        anchors = .certificates(try TestCertificates.all("root"))
        identity = try ClientIdentity(pemFile: try #require(TestCertificates.clientCombined))
        url = try #require(URL(string: "https://localhost/"))
    }

    private func set(_ operation: ConnectionOperation) {
        operation.securityPolicy = policy
        operation.trustAnchors = anchors
        operation.clientIdentity = identity
        operation.tlsVersions = .v1_3 ... .v1_3
    }

    private func expectSettings(_ operation: ConnectionOperation) {
        #expect(operation.securityPolicy == policy)
        #expect(operation.trustAnchors == anchors)
        #expect(operation.tlsVersions == .v1_3 ... .v1_3)
    }

    @Test func aCopyHasThemAll() throws {
        let operation = HTTPRequestOperation(request: URLRequest(url: url))
        set(operation)
        let copy = try #require(operation.copy() as? HTTPRequestOperation)
        expectSettings(copy)
        #expect(copy.clientIdentity == identity)
    }

    @Test func anArchiveHasAllThatIsNotSecret() throws {
        let operation = HTTPRequestOperation(request: URLRequest(url: url))
        set(operation)
        let data = try JSONEncoder().encode(try #require(operation.archive))
        #expect(data.range(of: Data("PRIVATE".utf8)) == nil)
        let later = HTTPRequestOperation(archive: try JSONDecoder().decode(OperationArchive.self, from: data))
        expectSettings(later)
        #expect(later.clientIdentity == nil)
    }

    @Test func aManagerGivesThemToItsOperationsAndItsDownloads() throws {
        let manager = OperationManager()
        manager.securityPolicy = policy
        manager.trustAnchors = anchors
        manager.clientIdentity = identity
        manager.tlsVersions = .v1_3 ... .v1_3
        let data = try JSONEncoder().encode(try manager.archive)
        let later = OperationManager(
            archive: try JSONDecoder().decode(OperationManagerArchive.self, from: data)
        )
        #expect(later.clientIdentity == nil)
        later.clientIdentity = manager.clientIdentity
        let copied = try #require(manager.copy() as? OperationManager)
        let request = URLRequest(url: url)
        for manager in [manager, later, copied] {
            for operation in [
                manager.operation(for: request),
                manager.downloadOperation(for: request, to: URL(fileURLWithPath: "/tmp/file")),
            ] {
                expectSettings(operation)
                #expect(operation.clientIdentity == identity)
            }
        }
    }
}
