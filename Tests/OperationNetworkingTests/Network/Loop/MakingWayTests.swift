import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// Fast bodies while other threads want something from the network thread all the time.
@Suite(.timeLimit(.minutes(1)))
struct MakingWayTests {
    private static let length = 20_000_000
    private static let buffer = EasyHandle.receiveBuffer
    @Test(arguments: [
        (Answer.respond(body: .generated(length: length)), false),
        (
            Answer.respond(body: .generated(length: length)).chunked(
                size: 300_000,
                trailers: ["Late": "1", "Later": "2"]
            ),
            false
        ),
        (Answer.respond(body: .generated(length: length)).untilClose(), true),
    ])
    func aFastBodyYieldsToWaitingWork(_ answer: Answer, isUntilClose: Bool) async throws {
        let server = try ScriptedServer { _ in answer }
        let crowd = Crowd()
        crowd.ask()
        defer { crowd.goHome() }
        let transfers = (0..<4).map { number in
            TestTransfer(.plain(server.url), onBytes: { crowd.take($0, of: number) }).start()
        }
        let body = PatternBody(length: Self.length).data
        for transfer in transfers {
            let error = try await transfer.end().operationError
            #expect(error == nil)
            #expect(transfer.bytes == body)
        }
        #expect(crowd.most > Self.buffer)
        if !isUntilClose { #expect(crowd.most <= Crowd.limit) }
    }

    /// With TLS there is a rest that no socket reports; streams of HTTP/2 share a connection, and make no way.
    @Test(
        .enabled(if: RealServers.nginxTLS != nil && RealServers.authorities != nil),
        arguments: [TransferOptions.HTTPVersion.http1, TransferOptions.HTTPVersion.automatic]
    )
    func aFastBodyOverTLSComesWhole(version: TransferOptions.HTTPVersion) async throws {
        let url = try #require(RealServers.nginxTLS).appendingPathComponent("100m.bin")
        let root = try #require(RealServers.nginxRoot)
        let authorities = try #require(RealServers.authorities)
        let crowd = Crowd()
        crowd.ask()
        defer { crowd.goHome() }
        let transfers = (0..<2).map { number in
            TestTransfer(
                .plain(url, anchors: .file(authorities), version: version),
                onBytes: { crowd.take($0, of: number) }
            ).start()
        }
        let body = try Data(contentsOf: root.appendingPathComponent("100m.bin"))
        for transfer in transfers {
            let error = try await transfer.end().operationError
            #expect(error == nil)
            #expect(transfer.bytes == body)
        }
        if version == .http1 { #expect(crowd.most <= Crowd.limit) }
    }
}
