internal import OperationNetworkingSystem

/// The body of a request being sent: its reader, and the number of its bytes.
struct OutgoingBody {
    private(set) var bytesSent: Int64 = 0
    /// Whether the body waits until the proxy has responded to the head.
    private(set) var awaitsProxy: Bool
    private var reader: RequestBodyReader?
    /// The position of the next byte in the body.
    private(set) var position: Int64 = 0
    private var hasEnded = false

    init(of request: borrowing TransferRequest, demand: ProxyDemand) {
        reader = request.body.map { RequestBodyReader($0) }
        awaitsProxy = request.body != nil && request.holdsBody(demand)
    }

    /// Releases the body after the proxy's response; the server need not send `100 Continue` as well.
    /// - Returns: whether the body was waiting for it.
    mutating func release() -> Bool {
        defer { awaitsProxy = false }
        return awaitsProxy
    }

    /// Returns the next piece. After `.notYet`, `whenReady` is called, on any thread, when there is one.
    mutating func next(atMost count: Int, whenReady: @escaping @Sendable () -> Void) -> SendAnswer {
        guard let answer = reader?.next(atMost: count, whenReady: whenReady) else { return .end }
        switch answer {
        case .bytes(let data):
            bytesSent += Int64(data.count)
            position += Int64(data.count)
        case .end: hasEnded = true
        case .notYet, .failed: break
        }
        return answer
    }

    mutating func seek(to offset: Int64) -> Bool {
        position = offset
        hasEnded = false
        return reader?.seek(to: offset) ?? false
    }

    /// Whether all of the body has been read. libcurl does not read the end of a body whose length it knows.
    var isAtEnd: Bool {
        guard let body = reader?.body else { return true }
        return hasEnded || body.length.map { position >= $0 } ?? false
    }

    /// Stops reading.
    func stop() {
        reader?.stop()
    }

    /// Why the body's stream cannot be read.
    var error: (any Error)? {
        if case .stream(let stream) = reader?.body { stream.error } else { nil }
    }
}
