import Dispatch
import Foundation
import FoundationNetworking
internal import OperationNetworkingSystem

/// A transfer that a stub answers: matches the request, reads its body, and delivers the response in pieces.
///
/// | Step | Where            | What happens                                                                           |
/// |------|------------------|----------------------------------------------------------------------------------------|
/// | 1    | network thread   | makes the request as a server would get it, with cookies and credentials               |
/// | 2    | the stubs' queue | the conditions of the stubs, in order: user code never runs on the network thread      |
/// | 3    | network thread   | reads the body of the request to its end                                               |
/// | 4    | the stubs' queue | the stub's closure, with the whole body                                                |
/// | 5    | network thread   | after the delay the head, judged as any head (``IncomingBody``)                        |
/// | 6    | network thread   | the body, as fast as the client takes it                                               |
/// | 7    | network thread   | the end                                                                                |
///
/// Used on the network thread. Its client is never called from within one of its own calls: every step is
/// posted.
final class StubbedTransfer: @unchecked Sendable {
    // @unchecked: used only on the network thread, to which closures carry it.

    enum Outcome {
        case ended(TransferEnd)
        /// No stub matches, and the request passes through to the network. Its body has not been read.
        case unmatched
    }

    private enum Phase {
        case matching
        /// The request's body is being read.
        case sending(RequestStub)
        /// The stub's closure is running.
        case answering
        /// The stub has answered, and the response's delay is running.
        case delayed
        /// The head was delivered; the body follows from `offset`.
        case receiving(Data, offset: Int)
        case over
    }

    /// The number of bytes to deliver before yielding the thread.
    private static let bytesPerTurn = 1 << 20
    /// Runs the stubs' conditions and closures.
    private static let queue = DispatchQueue(
        label: "OperationNetworking.RequestStubs",
        attributes: .concurrent
    )

    let id: TransferID
    var isPaused = false
    private let request: TransferRequest
    private let client: any TransferClient
    private let stubs: RequestStubs
    private let cookies: StubCookies
    private let didEnd: (Outcome) -> Void
    private let startTime = MonotonicTime.now
    private var phase = Phase.matching
    private var body: RequestBodyReader?
    private var sentBody = Data()
    private var response = StubResponse.response()
    private var incoming: IncomingBody?
    private var awaitsAnswer = false
    /// Whether the next step is scheduled or was requested.
    private var isScheduled = false

    init(
        _ id: TransferID,
        _ request: TransferRequest,
        for client: any TransferClient,
        _ stubs: RequestStubs,
        didEnd: @escaping (Outcome) -> Void
    ) {
        self.id = id
        self.request = request
        self.client = client
        self.stubs = stubs
        self.didEnd = didEnd
        cookies = StubCookies(request.cookies ?? [], for: request.url)
        body = request.body.map { RequestBodyReader($0) }
    }

    /// The metrics so far.
    var metrics: TransferMetrics {
        var metrics = TransferMetrics()
        metrics.url = request.url
        metrics.transferCount = 1
        metrics.bytesReceived = incoming?.received ?? 0
        metrics.bytesDecoded = incoming?.decoded ?? 0
        metrics.bytesSent = Int64(sentBody.count)
        if incoming != nil { metrics.httpVersion = "1.1" }
        metrics.transferTime = MonotonicTime.now - startTime
        return metrics
    }

    // MARK: - Commands

    func start() {
        let request = urlRequest
        Self.queue.async { [stubs, self] in
            let match = Result { try stubs.stub(for: request) }
            NetworkThread.shared.perform { _ in self.didMatch(match) }
        }
    }

    func stop() {
        phase = .over
        body?.stop()
    }

    /// Continues after the client has capacity again or is no longer paused.
    func deliverMore() {
        guard !isScheduled, case .receiving = phase else { return }
        schedule(after: 0)
    }

    func receive() {
        awaitsAnswer = false
        deliverMore()
    }

    func cancelReceiving() {
        NetworkThread.shared.perform { _ in self.end(.refused) }
    }

    // MARK: - The request

    private func didMatch(_ match: Result<RequestStub?, any Error>) {
        guard case .matching = phase else { return }
        switch match {
        case .success(let stub?):
            phase = .sending(stub)
            send()
        case .success(nil):
            phase = .over
            didEnd(.unmatched)
        case .failure(let error):
            end(.client(error))
        }
    }

    private func send() {
        guard case .sending(let stub) = phase else { return }
        while body != nil {
            let whenReady: @Sendable () -> Void = { NetworkThread.shared.perform { _ in self.send() } }
            switch body?.next(atMost: 64 * 1024, whenReady: whenReady) {
            case .bytes(let data)?:
                sentBody += data
                client.transferDidSend(data.count)
            case .notYet?:
                return
            case .failed?:
                if case .stream(let stream)? = body?.body, let error = stream.error {
                    return end(error as? TransferError ?? .body(error))
                }
                return end(.refused)
            case .end?, nil:
                body?.stop()
                body = nil
            }
        }
        phase = .answering
        limitWaiting()
        var complete = urlRequest
        if request.body != nil { complete.httpBody = sentBody }
        Self.queue.async { [stubs, complete, self] in
            let answer = Result { try stubs.response(of: stub, to: complete) }
            NetworkThread.shared.perform { _ in self.didAnswer(answer, to: complete) }
        }
    }

    /// Times out if the stub's closure takes longer than the request allows, like a silent server.
    private func limitWaiting() {
        let limit = request.idleTimeout
        guard limit > 0, limit.isFinite else { return }
        DispatchQueue.global().asyncAfter(deadline: .now() + limit) { [weak self] in
            NetworkThread.shared.perform { [weak self] _ in
                guard let self, case .answering = phase else { return }
                end(.idle(seconds: limit))
            }
        }
    }

    /// The request as a server would receive it, without its body if that is a stream.
    private var urlRequest: URLRequest {
        var result = URLRequest(url: request.url)
        result.httpMethod = request.method
        for field in request.fields.fields { result.addValue(field.value, forHTTPHeaderField: field.name) }
        if request.acceptsContentCoding {
            result.setValue(ContentDecoder.acceptEncoding, forHTTPHeaderField: "Accept-Encoding")
        }
        if let cookies = cookies.fieldValue, request.fields["Cookie"] == nil {
            result.setValue(cookies, forHTTPHeaderField: "Cookie")
        }
        if let basic = request.authentication, basic.scheme == .basic {
            let proof = Data("\(basic.user):\(basic.password)".utf8).base64EncodedString()
            result.setValue("Basic \(proof)", forHTTPHeaderField: "Authorization")
        }
        if case .data(let data) = request.body { result.httpBody = data }
        if let length = request.body?.length {
            result.setValue("\(length)", forHTTPHeaderField: "Content-Length")
        }
        return result
    }

    // MARK: - The response

    private func didAnswer(_ answer: Result<StubResponse, any Error>, to request: URLRequest) {
        guard case .answering = phase else { return }
        switch answer {
        case .success(let response):
            self.response = response
            phase = .delayed
            wait(response.delay) { $0.begin(answering: request) }
        case .failure(let error):
            end(.client(error))
        }
    }

    /// Continues after a delay, or times out if the delay is longer than the request allows.
    private func wait(_ seconds: TimeInterval, then next: @escaping @Sendable (StubbedTransfer) -> Void) {
        let limit = request.idleTimeout
        guard seconds > 0 else { return next(self) }
        let isTooLong = limit > 0 && seconds > limit
        // Weak, because the transfer may be stopped and released long before the delay ends.
        DispatchQueue.global().asyncAfter(deadline: .now() + (isTooLong ? limit : seconds)) { [weak self] in
            NetworkThread.shared.perform { [weak self] _ in
                guard let self else { return }
                if case .over = phase { return }
                // A paused transfer does not time out.
                if isTooLong, !isPaused { end(.idle(seconds: limit)) } else { next(self) }
            }
        }
    }

    private func begin(answering request: URLRequest) {
        guard case .delayed = phase else { return }
        let message: StubMessage
        switch response.content {
        case .message(let fixed): message = fixed
        case .representation(let representation): message = representation.message(for: request)
        case .failure(let error): return end(error as? TransferError ?? .client(error))
        }
        var fields = message.fields
        if message.status == 204 || message.status == 304 {
            // These responses have neither a body nor a length.
        } else if !response.sendsLength {
            fields["Content-Length"] = nil
            fields["Transfer-Encoding"] = "chunked"
        } else if fields["Content-Length"] == nil, fields["Transfer-Encoding"] == nil {
            fields["Content-Length"] = "\(message.body.count)"
        }
        let head = ResponseHead(version: "HTTP/1.1", status: message.status, fields: fields)
        let body = IncomingBody(head, answering: self.request)
        incoming = body
        let hasNoBody = body.length == .none
        let changes = cookies.changes(by: fields)
        if self.request.cookies != nil, !changes.isEmpty { client.transferDidReceive(changes) }
        phase = .receiving(hasNoBody ? Data() : message.body, offset: 0)
        let answer = client.transferDidReceive(body.fault == nil ? head : head.withoutBody)
        if let fault = body.fault { return end(answer == .refuse ? .refused : fault) }
        switch answer {
        case .receive: schedule(after: 0)
        case .later:
            awaitsAnswer = true
            // As with a server, a response without a body ends while the client decides.
            if hasNoBody || message.body.isEmpty { schedule(after: 0) }
        case .refuse: end(.refused)
        }
    }

    private func schedule(after seconds: TimeInterval) {
        isScheduled = true
        if seconds > 0 {
            wait(seconds) {
                $0.isScheduled = false; $0.deliver()
            }
        } else {
            NetworkThread.shared.perform { _ in
                self.isScheduled = false
                self.deliver()
            }
        }
    }

    /// Delivers the next pieces.
    private func deliver() {
        guard case .receiving(let body, var offset) = phase else { return }
        let end = min(response.breakOffset ?? body.count, body.count)
        var turn = Self.bytesPerTurn
        while offset < end {
            guard !awaitsAnswer, !isPaused, !client.transferMustWait else { return }
            guard turn > 0 else { return schedule(after: 0) }
            let count = min(response.pieceSize, end - offset)
            let start = body.startIndex + offset
            do throws(TransferError) {
                let isTaken = try incoming?.take(body[start..<start + count].span, of: request) {
                    try client.transferDidReceive($0)
                }
                // The rest of the decoded bytes follows in the next turn.
                guard isTaken != false else { return schedule(after: 0) }
            } catch {
                return self.end(error)
            }
            offset += count
            turn -= count
            phase = .receiving(body, offset: offset)
            if response.interval > 0, offset < end { return schedule(after: response.interval) }
        }
        let isBroken = response.breakOffset.map { $0 < body.count } ?? false
        self.end(isBroken ? brokenConnection : incoming?.lengthError ?? incoming?.codingError)
    }

    private var brokenConnection: TransferError {
        // CURLE_RECV_ERROR
        incoming?.lengthError ?? .curl(CurlError(code: 56, message: "The stub broke the connection."))
    }

    private func end(_ error: TransferError?) {
        if case .over = phase { return }
        stop()
        didEnd(.ended(TransferEnd(id: id, error: error, metrics: metrics)))
    }
}
