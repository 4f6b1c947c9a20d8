internal import OperationNetworkingSystem

/// The body of a request on its way: where it is read, and the count of its bytes.
struct OutgoingBody {
    private(set) var bytesSent: Int64 = 0
    /// Whether it waits until the proxy has seen the head.
    private(set) var awaitsProxy: Bool
    private var reader: RequestBodyReader?
    /// The place in the body of the next byte.
    private(set) var position: Int64 = 0
    private var hasEnded = false

    init(of request: TransferRequest, demand: ProxyDemand) {
        reader = request.body.map { RequestBodyReader($0) }
        awaitsProxy = request.body != nil && request.holdsBody(demand)
    }

    /// The proxy has spoken; the server need not be asked for leave as well.
    /// - Returns: whether the body waited for that.
    mutating func release() -> Bool {
        defer { awaitsProxy = false }
        return awaitsProxy
    }

    /// The next piece. After `.notYet`, `whenReady` is called, on any thread, when there is something.
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

    /// Whether all of it was taken. libcurl does not ask for the end of a body whose length it knows.
    var isAtEnd: Bool {
        guard let body = reader?.body else { return true }
        return hasEnded || body.length.map { position >= $0 } ?? false
    }

    /// Nothing more is read.
    func stop() {
        reader?.stop()
    }

    /// Why its stream cannot be read.
    var error: (any Error)? {
        if case .stream(let stream) = reader?.body { stream.error } else { nil }
    }
}
