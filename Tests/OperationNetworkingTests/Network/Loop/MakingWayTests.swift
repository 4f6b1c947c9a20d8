import Foundation
import FoundationNetworking
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

/// Fast bodies while other threads want something from the network thread all the time.
@Suite(.timeLimit(.minutes(1)))
struct MakingWayTests {
    /// Work that is always there: each pass of the network thread finds it and asks for the next.
    private final class Crowd: Sendable {
        private let isOver = Locked(false)
        /// The bytes that came in the present pass, by transfer, and the most that ever did.
        private let bytes = Locked((now: [Int: Int](), most: 0))

        func ask() {
            NetworkThread.shared.perform(isUrgent: true) { [self] _ in
                bytes.withLock { $0.now = [:] }
                if !isOver.withLock({ $0 }) { ask() }
            }
        }

        func take(_ count: Int, of transfer: Int) {
            bytes.withLock {
                $0.now[transfer, default: 0] += count
                $0.most = max($0.most, $0.now[transfer] ?? 0)
            }
        }

        var most: Int { bytes.withLock { $0.most } }

        func goHome() {
            isOver.withLock { $0 = true }
        }
    }

    private static let length = 20_000_000
    private static let buffer = EasyHandle.receiveBuffer
    /// The last piece but one may end just below the share, and the last but one of the rest just below that.
    private static let most = PassQuota.share + PassQuota.rest + 2 * buffer

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
            let error = try await transfer.end().error
            #expect(error == nil)
            #expect(transfer.bytes == body)
        }
        #expect(crowd.most > Self.buffer)
        if !isUntilClose { #expect(crowd.most <= Self.most) }
    }

    @Test func onlyUrgentWorkIsUrgentUntilItIsTaken() {
        let inbox = Inbox()
        inbox.append(.network { _ in })
        #expect(!inbox.isUrgent)
        inbox.append(.network { _ in }, isUrgent: true)
        inbox.append(.network { _ in })
        #expect(inbox.isUrgent)
        #expect(inbox.takeAll().count == 3)
        #expect(!inbox.isUrgent)
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
            let error = try await transfer.end().error
            #expect(error == nil)
            #expect(transfer.bytes == body)
        }
        if version == .http1 { #expect(crowd.most <= Self.most) }
    }

    /// A piece that waits for the next pass is copied once more.
    @Test func theRestOfABufferIsTaken() {
        #expect(PassQuota.rest >= EasyHandle.receiveBuffer)
    }

    @Test func aTransferYieldsOncePerPassAndReceivesTheRestOfItsBuffer() {
        var pieces = PassQuota()
        for pass in UInt64(1)...2 {
            var answers: [Bool] = []
            for bytes in [PassQuota.share - 1, 1, PassQuota.rest - 1, 1] {
                let isTaken = pieces.take(in: pass)
                #expect(isTaken)
                answers.append(pieces.yields(after: bytes, isAwaited: true))
            }
            #expect(answers == [false, true, false, false])
            let isTaken = pieces.take(in: pass)
            #expect(!isTaken)
        }
    }

    @Test func aTransferContinuesWhileNothingWaits() {
        var pieces = PassQuota()
        for _ in 0..<100 {
            let isTaken = pieces.take(in: 1)
            let yields = pieces.yields(after: PassQuota.share, isAwaited: false)
            #expect(isTaken && !yields)
        }
        let yields = pieces.yields(after: 1, isAwaited: true)
        #expect(yields)
    }

    @Test func aPassIsAwaitedForWorkAndForEnds() {
        let work = Locked(false)
        let clock = PassClock(isAwaited: { work.withLock { $0 } })
        #expect(!clock.isAwaited)
        work.withLock { $0 = true }
        #expect(clock.isAwaited)
        work.withLock { $0 = false }
        clock.hurry()
        #expect(clock.isAwaited)
        clock.tick()
        #expect(!clock.isAwaited)
    }
}
