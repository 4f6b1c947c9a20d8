import Dispatch
import Foundation
import FoundationNetworking
import Glibc
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite(.timeLimit(.minutes(1)))
struct TransferTests {
    // MARK: - Connections

    @Test func requestsOneAfterTheOtherShareAConnection() async throws {
        let server = try ScriptedServer([.respond(body: "hello")])
        var opened = 0
        for _ in 0..<50 {
            let end = try await TestTransfer(.plain(server.url)).start().end()
            #expect(end.error == nil)
            opened += end.metrics.connectionCount
        }
        #expect(server.connectionsAccepted == 1)
        #expect(opened == 1)
    }

    @Test func requestsAtOnceOpenNoMoreConnectionsThanThereAreRequests() async throws {
        let server = try ScriptedServer([.respond(body: "hello")])
        var opened = 0
        for _ in 0..<5 {
            let transfers = (0..<8).map { _ in TestTransfer(.plain(server.url)).start() }
            for transfer in transfers { opened += try await transfer.end().metrics.connectionCount }
        }
        #expect(server.connectionsAccepted <= 8)
        #expect(opened == server.connectionsAccepted)
    }

    /// libcurl itself would hand a connection from one trust domain to the other.
    @Test func twoTrustDomainsNeverShareAConnection() async throws {
        let server = try ScriptedServer([.respond(body: "hello")])
        let anchors: [TrustAnchors] = [
            .system, .file(URL(fileURLWithPath: "/etc/ssl/certs/ca-certificates.crt")),
        ]
        for _ in 0..<3 {
            for anchors in anchors {
                #expect(
                    try await TestTransfer(.plain(server.url, anchors: anchors)).start().end().error == nil
                )
            }
        }
        #expect(server.requests.map(\.connectionNumber) == [1, 2, 1, 2, 1, 2])
    }

    // MARK: - Ends

    @Test func aRefusedConnectionIsAnError() async throws {
        let server = try ScriptedServer([.respond()])
        server.stop()
        let end = try await TestTransfer(.plain(server.url)).start().end()
        #expect(end.code == .cannotConnectToHost)
        #expect((end.operationError as? URLError)?.curlCode == 7)
    }

    @Test func aRefusedResponseHasNoBody() async throws {
        let server = try ScriptedServer([.respond(body: "0123456789")])
        let transfer = TestTransfer(.plain(server.url), answer: .refuse).start()
        let end = try await transfer.end()
        guard case .refused = end.error else { throw TestFailure("\(end)") }
        #expect(transfer.body == "")
        #expect(transfer.head?.status == 200)
    }

    @Test func whatTheClientThrowsIsTheEnd() async throws {
        let server = try ScriptedServer([.respond(body: "0123456789")])
        let transfer = TestTransfer(.plain(server.url), onBytes: { _ in throw TestFailure("full") }).start()
        #expect((try await transfer.end().operationError as? TestFailure) == TestFailure("full"))
    }

    @Test func aStoppedTransferReportsNothingMore() async throws {
        let gate = Gate()
        let server = try ScriptedServer([.respond(body: "0123456789").held(after: 5, by: gate)])
        let transfer = TestTransfer(.plain(server.url)).start()
        try await transfer.bodyCame.wait()
        transfer.stop()
        transfer.stop()
        try await server.waitForAnswers()
        try await networkThreadIsDone()
        #expect(transfer.ends.elements.isEmpty)
        #expect(transfer.body == "01234")
    }

    @Test func aTransferStoppedBeforeItsStartIsNeverSent() async throws {
        let server = try ScriptedServer([.respond()])
        let transfer = TestTransfer(.plain(server.url))
        NetworkThread.shared.perform { network in
            network.transfers.start(.plain(server.url), id: transfer.id, for: transfer)
            #expect(network.transfers.stop(transfer.id) == nil)
        }
        #expect(try await TestTransfer(.plain(server.url)).start().end().error == nil)
        #expect(server.requests.count == 1)
        #expect(transfer.ends.elements.isEmpty)
    }

    @Test func interimHeadsAreNotTheResponse() async throws {
        let server = try ScriptedServer([.respond(body: "hello").after(interim: 103, ["Link": "</a>"])])
        let transfer = TestTransfer(.plain(server.url)).start()
        #expect(try await transfer.end().error == nil)
        #expect(transfer.received.withLock { $0.heads.map(\.status) } == [200])
        #expect(transfer.head?.fields["Link"] == nil)
    }

    @Test func trailersAreNotFields() async throws {
        let server = try ScriptedServer([.respond(body: "hello").chunked(size: 2, trailers: ["Digest": "x"])])
        let transfer = TestTransfer(.plain(server.url)).start()
        #expect(try await transfer.end().error == nil)
        #expect(transfer.body == "hello")
        #expect(transfer.head?.fields["Digest"] == nil)
    }

    /// libcurl keeps what comes behind a piece that has no room yet.
    @Test func trailersThatWaitWithTheBodyAreLines() async throws {
        // One piece, so libcurl has all of it when the body has to wait.
        let chunks = "2\r\nhe\r\n3\r\nllo\r\n0\r\nDigest: x\r\nLater: y\r\nLast: z\r\n\r\n"
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        let server = try ScriptedServer([.raw(.text(head + chunks), keepingOpen: true)])
        let transfer = TestTransfer(.plain(server.url))
        transfer.hold()
        transfer.start()
        try await transfer.bodyWaits.wait()
        transfer.release()
        let error = try await transfer.end().error
        #expect(error == nil)
        #expect(transfer.body == "hello")
    }

    @Test func aHeadRequestHasNoBodyWhateverTheLength() async throws {
        let server = try ScriptedServer([.respond(200, ["Content-Length": "12345"])])
        let transfer = TestTransfer(.plain(server.url, method: "HEAD")).start()
        #expect(try await transfer.end().error == nil)
        #expect(transfer.head?.fields["Content-Length"] == "12345")
    }

    @Test func aRequestSendsOnlyTheGivenFields() async throws {
        let server = try ScriptedServer([.respond()])
        let body = Data("hello".utf8)
        let transfer = TestTransfer(
            .plain(server.url, method: "PATCH", fields: ["X-Empty": "", "X-Full": "a, b"], body: .data(body))
        )
        #expect(try await transfer.start().end().metrics.bytesSent == 5)
        let request = try #require(server.requests.first)
        #expect(request.method == "PATCH")
        #expect(request.body == body)
        #expect(
            Set(request.headers.map { "\($0.name): \($0.value)" })
                == [
                    "Host: 127.0.0.1:\(server.port)", "Accept: */*", "X-Empty: ", "X-Full: a, b",
                    "Content-Length: 5",
                ]
        )
    }

    /// RFC 9110 §5.5: white space around a value is no part of it.
    @Test func aValueOfWhiteSpaceIsAnEmptyOneAndNoOtherKeepsIt() async throws {
        let fields: HeaderFields = [
            "X-Space": " ", "X-Tab": "\t \t", "Accept": " ", "X-Padded": " a  b\t", "X-Full": "c",
        ]
        let server = try ScriptedServer([.respond()])
        let transfer = TestTransfer(.plain(server.url, fields: fields)).start()
        #expect(try await transfer.end().error == nil)
        let sent = try #require(server.requests.first)
        let names = ["X-Space", "X-Tab", "Accept", "X-Padded", "X-Full"]
        #expect(names.map { sent[$0] } == ["", "", "", "a  b", "c"])
    }

    // MARK: - Holding

    @Test func aHeldTransferDeliversEveryByteAfterItsRelease() async throws {
        let server = try ScriptedServer([.respond(body: .generated(length: 3_000_000))])
        let expected = AnswerBody.generated(length: 3_000_000).data
        let transfer = TestTransfer(.plain(server.url, version: .http1))
        transfer.hold()
        transfer.start()
        try await transfer.headCame.wait()
        try await networkThreadIsDone()
        #expect(transfer.body == "")
        transfer.release()
        #expect(try await transfer.end().error == nil)
        #expect(transfer.received.withLock { $0.body } == expected)
    }

    // MARK: - Time

    @Test func aServerThatNeverRespondsTimesOut() async throws {
        let server = try ScriptedServer([.silence])
        let start = MonotonicTime.now
        let end = try await TestTransfer(.plain(server.url, idleTimeout: 0.2)).start().end()
        #expect(end.code == .timedOut)
        #expect(end.operationError?.localizedDescription == "No data was sent or received for 0.2 seconds.")
        #expect(MonotonicTime.now - start >= 0.19)
    }

    @Test func aServerThatStopsSendingTimesOut() async throws {
        let server = try ScriptedServer([.respond(body: "0123456789").stalling(after: 5)])
        // Bytes that arrive within the timeout have to come first, however busy the machine is.
        let transfer = TestTransfer(.plain(server.url, idleTimeout: 1)).start()
        #expect(try await transfer.end().code == .timedOut)
        #expect(transfer.body == "01234")
    }

    @Test func everyByteStartsTheTimeoutAgain() async throws {
        // 2 s altogether, a few milliseconds between two pieces.
        let server = try ScriptedServer([.respond(body: .generated(length: 20_000)).throttled(to: 10_000)])
        let start = MonotonicTime.now
        let end = try await TestTransfer(.plain(server.url, idleTimeout: 1)).start().end()
        #expect(end.error == nil, "\(String(describing: end.error))")
        #expect(MonotonicTime.now - start > 1)
    }

    @Test func theTimeoutDoesNotRunWhileTheSinkIsFull() async throws {
        let server = try ScriptedServer(routes: [
            "/held": [.respond(body: "0123456789")], "/silent": [.silence],
        ])
        let held = TestTransfer(.plain(server.url(path: "/held"), idleTimeout: 1.5))
        held.hold()
        held.start()
        try await held.headCame.wait()
        // More than two of its timeouts later:
        let silent = TestTransfer(.plain(server.url(path: "/silent"), idleTimeout: 3.5)).start()
        #expect(try await silent.end().code == .timedOut)
        #expect(held.ends.elements.isEmpty)
        held.release()
        #expect(try await held.end().error == nil)
        #expect(held.body == "0123456789")
    }

    private func transfer(
        _ client: TestTransfer,
        idleTimeout: Double,
        since: MonotonicTime
    ) throws -> Transfer {
        try transfer(client, .plain(URL(fileURLWithPath: "/"), idleTimeout: idleTimeout), since: since)
    }

    private func transfer(
        _ client: TestTransfer,
        _ request: TransferRequest,
        since: MonotonicTime = MonotonicTime(seconds: 17_000)
    ) throws -> Transfer {
        Transfer(
            id: client.id,
            start: TransferStart(request, for: client, rank: WaitingRank(priority: .normal, number: 0)),
            easy: try EasyHandle(),
            examination: request.makeExamination(),
            context: TransferContext(
                clock: PassClock(),
                since: since,
                demand: .unknown,
                bodyIsReady: {}
            ),
            delegate: owner
        )
    }

    private let owner = Owner()

    /// An owner that lets everything happen.
    private final class Owner: TransferDelegate, Sendable {
        func transfer(_ id: TransferID, didConnectTo connection: ConnectionID, mayGoBack: Bool) -> Bool {
            true
        }
        func transferDidStall(_ id: TransferID) {}
        func transferDidResume(_ id: TransferID) {}
        func transfer(_ id: TransferID, mustWaitUntil moment: MonotonicTime) {}
    }

    /// Or it would be looked at for ever in one pass: sums of moments are rounded.
    @Test func aTransferCheckedAtItsDeadlineHasTimedOut() throws {
        let client = TestTransfer(.plain(URL(fileURLWithPath: "/")))
        for millisecond in 0..<1_000 {
            let start = MonotonicTime(seconds: 17_000 + Double(millisecond) / 1e3)
            let transfer = try transfer(client, idleTimeout: 0.1, since: start)
            let due = try #require(transfer.nextLook(after: start))
            #expect(due > start)
            #expect(transfer.nextLook(after: due) == nil)
        }
    }

    /// Over HTTP/2 a stream that was reset with NO_ERROR before its first byte looks like a whole, empty body.
    @Test(arguments: [(["content-encoding: gzip"], true), ([], true), (["content-length: 0"], false)])
    func anUnprovenEmptyBodyIsRequestedAgainWithoutReportingItsHead(fields: [String], isInDoubt: Bool) throws
    {
        let url = try #require(URL(string: "https://localhost/"))
        let client = TestTransfer(.plain(url))
        let transfer = try transfer(client, .plain(url, acceptsContentCoding: true))
        for line in ["HTTP/2 200"] + fields + [""] {
            _ = transfer.easyHandleDidReceiveHeaderLine(Array((line + "\r\n").utf8).span)
        }
        let end = transfer.end(code: 0)
        if isInDoubt {
            #expect(isEndNotProvable(end))
            #expect(client.head == nil)
        } else {
            #expect(end.error == nil && end.metrics.isEndProven)
            #expect(client.head?.status == 200)
        }
    }

    /// The body of a redirect or a challenge is of no use: its head says all.
    @Test(arguments: [302, 401, 404])
    func aHeadWhoseBodyDoesNotMatterIsReportedAtOnce(status: Int) throws {
        let url = try #require(URL(string: "https://localhost/"))
        let client = TestTransfer(.plain(url))
        let transfer = try transfer(client, .plain(url, acceptsContentCoding: true))
        for line in ["HTTP/2 \(status)", "content-encoding: gzip", ""] {
            _ = transfer.easyHandleDidReceiveHeaderLine(Array((line + "\r\n").utf8).span)
        }
        #expect(client.head?.status == status)
        let end = transfer.end(code: 0)
        #expect(end.error == nil && !end.metrics.isEndProven)
    }

    /// The client receives the head with the first byte.
    @Test func aCodedBodyThatBeginsIsTakenWithItsHead() throws {
        let url = try #require(URL(string: "https://localhost/"))
        let client = TestTransfer(.plain(url))
        let transfer = try transfer(client, .plain(url, acceptsContentCoding: true))
        for line in ["HTTP/2 200", "content-encoding: gzip", ""] {
            let continues = transfer.easyHandleDidReceiveHeaderLine(Array((line + "\r\n").utf8).span)
            #expect(continues)
        }
        #expect(client.head == nil)
        #expect(transfer.easyHandleDidReceiveBody(Array(CodedBody.gzip).span) == .taken)
        #expect(client.head?.status == 200)
        let end = transfer.end(code: 0)
        #expect(end.error == nil && end.metrics.isEndProven)
        #expect(client.body == CodedBody.text)
    }

    private func isEndNotProvable(_ end: TransferEnd) -> Bool {
        if case .endNotProvable = end.error { true } else { false }
    }

    /// As after a 101: no client would receive it.
    @Test func aBodyWithoutAHeadEndsTheTransfer() throws {
        let client = TestTransfer(.plain(URL(fileURLWithPath: "/")))
        let transfer = try transfer(client, idleTimeout: 1, since: MonotonicTime(seconds: 17_000))
        #expect(transfer.easyHandleDidReceiveBody([1, 2, 3].span) == .failed)
    }

    @Test(arguments: [0.1, 1e-9, .leastNonzeroMagnitude])
    func aHeldTransferIsCheckedLater(idleTimeout: Double) throws {
        let client = TestTransfer(.plain(URL(fileURLWithPath: "/")))
        let start = MonotonicTime(seconds: 17_000)
        let transfer = try transfer(client, idleTimeout: idleTimeout, since: start)
        for line in ["HTTP/1.1 200 OK\r\n", "\r\n"] {
            let continues = transfer.easyHandleDidReceiveHeaderLine(Array(line.utf8).span)
            #expect(continues)
        }
        client.hold()
        #expect(transfer.easyHandleDidReceiveBody([1, 2, 3].span) == .full)
        for second in 0..<1_000 {
            let now = MonotonicTime(seconds: 17_000 + Double(second) * 1.1)
            #expect(try #require(transfer.nextLook(after: now)) > now)
        }
    }

    @Test(arguments: [0, -1, .infinity])
    func noTimeoutMeansForever(timeout: Double) async throws {
        let server = try ScriptedServer(routes: [
            "/": [.respond(body: "a").stalling(after: 0)], "/silent": [.silence],
        ])
        let transfer = TestTransfer(.plain(server.url, idleTimeout: timeout)).start()
        try await transfer.headCame.wait()
        _ = try await TestTransfer(.plain(server.url(path: "/silent"), idleTimeout: 0.2)).start().end()
        #expect(transfer.ends.elements.isEmpty)
        server.release()
        #expect(try await transfer.end().error == nil)
    }

    /// Two transfers to one https origin: the second waits until the first has a connection, or has failed. In a
    /// process of its own, where nothing else wakes the loop.
    @Test func transfersThatWaitForASilentHostContinueWhenTheFirstGivesUp() async {
        await #expect(processExitsWith: .success) {
            alarm(50)
            let server = try SilentServer()
            let first = TestTransfer(.plain(server.url, idleTimeout: 0.2)).start()
            let second = TestTransfer(.plain(server.url, idleTimeout: 0)).start()
            guard try await first.end().code == .timedOut else { exit(2) }
            guard await server.accept(2) else { exit(3) }
            second.stop()
            // The process exits while the network thread is in the middle of a handshake, and survives that.
        }
    }
}

/// Takes connections and says nothing.
private final class SilentServer: Sendable {
    let url: URL
    private let socket: Int32

    init() throws {
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let socket = socket
        let code = withUnsafeMutablePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                guard bind(socket, address, length) == 0, listen(socket, 16) == 0 else { return Int32(-1) }
                return getsockname(socket, address, &length)
            }
        }
        guard code == 0, let url = URL(string: "https://127.0.0.1:\(UInt16(bigEndian: address.sin_port))/")
        else {
            throw SystemError(errno, "listen")
        }
        self.url = url
    }

    deinit {
        close(socket)
    }

    /// Takes `count` connections; false when they do not come within ten seconds each.
    func accept(_ count: Int) async -> Bool {
        await withCheckedContinuation { continuation in
            Thread { [socket] in
                var taken: [Int32] = []
                for _ in 0..<count {
                    var watched = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
                    guard poll(&watched, 1, 10_000) == 1 else { break }
                    taken.append(Glibc.accept(socket, nil, nil))
                }
                for connection in taken { close(connection) }
                continuation.resume(returning: taken.count == count)
            }.start()
        }
    }
}
