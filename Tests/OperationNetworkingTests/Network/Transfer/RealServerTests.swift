import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// nginx, with TLS and HTTP/2; started by `scripts/with-servers`.
@Suite(.timeLimit(.minutes(1)), .enabled(if: RealServers.nginxTLS != nil && RealServers.authorities != nil))
struct RealServerTests {
    private let url: URL
    private let anchors: TrustAnchors

    init() throws {
        url = try #require(RealServers.nginxTLS)
        anchors = .file(try #require(RealServers.authorities))
    }

    /// The transfers of the rest of the process are not counted: a domain of its own, by another spelling of
    /// the same file.
    private func ownAnchors(_ name: String) throws -> (TrustAnchors, TemporaryDirectory) {
        let directory = try TemporaryDirectory()
        let copy = directory.file(name)
        try FileManager.default.copyItem(at: try #require(RealServers.authorities), to: copy)
        return (.file(copy), directory)
    }

    @Test func manyTransfersShareOneConnectionOfHTTP2() async throws {
        let (anchors, directory) = try ownAnchors("many.pem")
        let transfers = (0..<60).map { _ in
            TestTransfer(.plain(url, method: "HEAD", anchors: anchors)).start()
        }
        var opened = 0
        for transfer in transfers {
            let end = try await transfer.end()
            #expect(end.operationError == nil, "\(end)")
            #expect(end.measured.httpVersion == "2")
            opened += end.measured.connectionCount
        }
        #expect(opened == 1)
        withExtendedLifetime(directory) {}
    }

    @Test func aTransferThatRequestsHTTP1NeverRidesAConnectionOfHTTP2() async throws {
        let (anchors, directory) = try ownAnchors("versions.pem")
        let transfers = (0..<40).map { number in
            TestTransfer(
                .plain(url, method: "HEAD", anchors: anchors, version: number % 2 == 0 ? .automatic : .http1)
            )
            .start()
        }
        for (number, transfer) in transfers.enumerated() {
            let end = try await transfer.end()
            #expect(end.operationError == nil, "\(end)")
            // The other way round is fine: a connection that is there is used.
            if number % 2 == 1 { #expect(end.measured.httpVersion == "1.1") }
        }
        // And not later either, when the connection of HTTP/2 is idle.
        let later = try await TestTransfer(.plain(url, method: "HEAD", anchors: anchors, version: .http1))
            .start().end()
        #expect(later.measured.httpVersion == "1.1")
        withExtendedLifetime(directory) {}
    }

    @Test func aServerOfAnUnknownAuthorityIsUntrusted() async throws {
        let end = try await TestTransfer(.plain(url, method: "HEAD")).start().end()
        #expect(end.code == .serverCertificateHasUnknownRoot)
    }

    @Test func plainHTTPSpeaksHTTP1() async throws {
        let plain = try #require(RealServers.nginx)
        let end = try await TestTransfer(.plain(plain, method: "HEAD")).start().end()
        #expect(end.operationError == nil)
        #expect(end.measured.httpVersion == "1.1")
    }

    @Test(arguments: [TransferOptions.HTTPVersion.automatic, .http1])
    func everyByteOfAFileArrives(version: TransferOptions.HTTPVersion) async throws {
        let root = try #require(RealServers.nginxRoot)
        let expected = AnswerBody.generated(seed: 7, length: 2_000_000).data
        let name = "engine-\(UUID().uuidString)"
        try expected.write(to: root.appendingPathComponent(name))
        defer { try? FileManager.default.removeItem(at: root.appendingPathComponent(name)) }
        let transfer = TestTransfer(
            .plain(url.appendingPathComponent(name), anchors: anchors, version: version)
        ).start()
        let end = try await transfer.end()
        #expect(end.operationError == nil, "\(end)")
        #expect(transfer.bytes == expected)
    }
}
