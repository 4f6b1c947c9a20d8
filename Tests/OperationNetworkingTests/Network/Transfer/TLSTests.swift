import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

@Suite(.timeLimit(.minutes(1)))
struct TLSTests {
    private let server: TLSServer

    init() throws {
        server = try TLSServer()
    }

    private func transfer(_ path: String, anchors: TrustAnchors? = nil) throws -> TestTransfer {
        TestTransfer(.plain(try server.url(path), anchors: anchors ?? .file(server.certificate))).start()
    }

    @Test func aBodyThatEndsWithCloseNotifyIsComplete() async throws {
        let transfer = try transfer("/proper")
        let end = try await transfer.end()
        #expect(end.operationError == nil, "\(end)")
        #expect(transfer.body == "0123456789")
        #expect(end.measured.tlsTime > 0)
    }

    /// An attacker on the way can end a TCP connection; only the server can say that it was the end (RFC 8446
    /// §6.1).
    @Test("B5") func aBodyThatEndsWithoutCloseNotifyIsAnError() async throws {
        let transfer = try transfer("/cut")
        let end = try await transfer.end()
        #expect(end.sentence?.contains("closed without a TLS close notification") == true)
        #expect(end.code == .networkConnectionLost)
        #expect(transfer.body == "0123456789")
    }

    @Test func halfABodyWithALengthIsAnError() async throws {
        let transfer = try transfer("/half")
        #expect(try await transfer.end().code == .networkConnectionLost)
        #expect(transfer.body == "01234")
    }

    @Test(arguments: ["/length", "/chunked"])
    func aBodyThatKnowsItsEndNeedsNoCloseNotify(path: String) async throws {
        let transfer = try transfer(path)
        let end = try await transfer.end()
        #expect(end.operationError == nil, "\(end)")
        #expect(transfer.body == "0123456789")
    }

    /// The server drops the kept connection instead of answering; no byte of an answer came, so it is asked again.
    @Test func aReusedConnectionDroppedWithoutCloseNotifyIsReplacedSilently() async throws {
        for _ in 0..<3 {
            let transfer = try transfer("/keep")
            let end = try await transfer.end()
            #expect(end.operationError == nil, "\(end)")
            #expect(transfer.body == "0123456789")
            #expect(end.measured.connectionCount == 1)
        }
    }

    @Test func aCertificateOfAnUnknownAuthorityIsUntrusted() async throws {
        let end = try await transfer("/length", anchors: .system).end()
        #expect(end.code == .serverCertificateHasUnknownRoot)
    }

    @Test func anAuthoritiesFileThatIsMissingIsAnErrorAndNotTheSystems() async throws {
        let missing = URL(fileURLWithPath: "/nowhere/ca.pem")
        let end = try await transfer("/length", anchors: .file(missing)).end()
        #expect(end.code == .secureConnectionFailed)
        #expect((end.operationError as? URLError)?.curlCode == 77)
    }

    @Test func plainHTTPToATLSServerIsAnError() async throws {
        let url = try #require(
            URL(
                string: try server.url("/length").absoluteString.replacingOccurrences(
                    of: "https",
                    with: "http"
                )
            )
        )
        #expect(try await TestTransfer(.plain(url)).start().end().operationError != nil)
    }
}
