import Foundation
import FoundationNetworking
import OperationNetworkingSystem
import OperationNetworkingTesting

@testable import OperationNetworking

/// A transfer that keeps everything it receives.
final class TestTransfer: TransferClient, Sendable {
    struct Received {
        var heads: [ResponseHead] = []
        var body = Data()
        var sent = 0
    }

    let id = TransferID.next()
    let received = Locked(Received())
    let ends = Recorder<TransferEnd>()
    /// Opened by the first head, and by the first piece of a body.
    let headCame = Gate()
    let bodyCame = Gate()
    /// Opened when a piece has to wait.
    let bodyWaits = Gate()
    private let request: TransferRequest
    private let isHeld = Locked(false)
    private let answer: HeadAnswer
    private let onBytes: @Sendable (Int) throws -> Void
    private let onEnd: @Sendable () -> Void

    /// - Parameters:
    ///   - request: what to ask.
    ///   - answer: what to do with the body.
    ///   - onBytes: called on the network thread, from within libcurl, with the length of each piece.
    ///   - onEnd: called on the network thread.
    init(
        _ request: TransferRequest,
        answer: HeadAnswer = .receive,
        onBytes: @escaping @Sendable (Int) throws -> Void = { _ in },
        onEnd: @escaping @Sendable () -> Void = {}
    ) {
        self.request = request
        self.answer = answer
        self.onBytes = onBytes
        self.onEnd = onEnd
    }

    /// One whose body waits for ``receive()``.
    static func answeredLater(_ request: TransferRequest) -> TestTransfer {
        TestTransfer(request, answer: .later)
    }

    // MARK: - Results

    var body: String { String(decoding: bytes, as: UTF8.self) }
    var bytes: Data { received.withLock { $0.body } }
    var head: ResponseHead? { received.withLock { $0.heads.last } }
    /// The statuses of all heads, in order.
    var statuses: [Int] { received.withLock { $0.heads.map(\.status) } }

    /// Waits for the end.
    func end(within limit: Duration = .waitingLimit) async throws -> TransferEnd {
        try await ends.wait(within: limit)[0]
    }

    // MARK: - Commands

    @discardableResult
    func start() -> TestTransfer {
        NetworkThread.shared.perform { [self] network in network.transfers.start(request, id: id, for: self) }
        return self
    }

    func stop() {
        NetworkThread.shared.perform { [self] network in network.transfers.stop(id) }
    }

    /// Lets a body come whose head was to be answered later.
    func receive() {
        NetworkThread.shared.perform { [self] network in network.transfers.receive(id) }
    }

    /// Refuses a body whose head was to be answered later.
    func cancelReceiving() {
        NetworkThread.shared.perform { [self] network in network.transfers.cancelReceiving(id) }
    }

    /// Lets the body wait, from the next piece on.
    func hold() {
        isHeld.withLock { $0 = true }
    }

    func release() {
        isHeld.withLock { $0 = false }
        NetworkThread.shared.perform { [self] network in network.transfers.resumeReceiving(id) }
    }

    // MARK: - TransferClient

    func transferDidReceive(_ head: ResponseHead) -> HeadAnswer {
        received.withLock { $0.heads.append(head) }
        headCame.open()
        return answer
    }

    func transferDidReceive(_ changes: CookieChanges) {}

    var transferMustWait: Bool {
        let mustWait = isHeld.withLock { $0 }
        if mustWait { bodyWaits.open() }
        return mustWait
    }

    func transferDidReceive(_ bytes: Span<UInt8>) throws {
        received.withLock { $0.body.append(bytes) }
        bodyCame.open()
        try onBytes(bytes.count)
    }

    func transferDidSend(_ count: Int) {
        received.withLock { $0.sent += count }
    }

    func transferDidSeek(to offset: Int64) {
        received.withLock { $0.sent = Int(offset) }
    }

    func transferDidComplete(_ end: TransferEnd) {
        ends.append(end)
        onEnd()
    }
}

extension TransferRequest {
    /// A request as plain as can be.
    static func plain(
        _ url: URL,
        method: String = "GET",
        fields: HeaderFields = [:],
        body: RequestBody? = nil,
        anchors: TrustAnchors = .system,
        version: TransferOptions.HTTPVersion = .automatic,
        acceptsContentCoding: Bool = false,
        mayBeSentAgain: Bool = true,
        idleTimeout: Double = 20,
        proxy: Proxy? = nil
    ) -> TransferRequest {
        var trustDomain = TrustDomain(anchors: anchors)
        trustDomain.proxy = proxy
        return TransferRequest(
            url: url,
            origin: Origin(url),
            method: method,
            fields: fields,
            body: body,
            shared: SharedSettings(TransferSettings(connectionLimit: .none)),
            trustDomain: trustDomain,
            version: version,
            acceptsContentCoding: acceptsContentCoding,
            mayBeSentAgain: mayBeSentAgain,
            idleTimeout: idleTimeout
        )
    }
}

extension TransferRequest {
    /// The same with these fields alone.
    func with(_ fields: [String: String]) -> TransferRequest {
        var request = self
        request.fields = HeaderFields(fields)
        return request
    }
}

extension RequestBody {
    static func bytes(_ data: Data) -> RequestBody { .data(data) }

    /// The bytes of a stream, which are read once.
    static func reading(_ stream: InputStream, length: Int64?) -> RequestBody {
        .stream(BodyStream(stream, length: length))
    }
}

extension TransferEnd {
    /// The error that an operation would end with.
    var operationError: (any Error)? {
        error?.error(for: URL(fileURLWithPath: "/"))
    }

    /// What an operation's ``ConnectionOperation/metrics`` would be.
    var measured: TransferMetrics { metrics }

    /// The sentence of ``operationError``.
    var sentence: String? { (operationError as? URLError)?.localizedDescription }

    /// The code of ``operationError``, if it is a `URLError`, or has one beneath.
    var code: URLError.Code? {
        (operationError as? URLError ?? (operationError as? ServerTrustError)?.urlError)?.code
    }
}

/// Everything that was asked of the network thread before has been done, and its ends have been reported.
func networkThreadIsDone() async throws {
    let gate = Gate()
    NetworkThread.shared.perform { _ in gate.open() }
    try await gate.wait()
}

/// Blocks the thread until everything that was asked of the network thread before has been done.
func waitForNetworkThread() throws {
    let gate = Gate()
    NetworkThread.shared.perform { _ in gate.open() }
    try gate.waitSynchronously()
}

/// Whether the network thread is going to wake up by itself, for the sake of a transfer.
func networkThreadHasDeadline() async throws -> Bool {
    let deadlines = Recorder<Bool>()
    NetworkThread.shared.perform { network in deadlines.append(network.transfers.nextDeadline != nil) }
    return try await deadlines.wait()[0]
}
