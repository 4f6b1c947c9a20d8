import FoundationNetworking
internal import OperationNetworkingSystem

// Request adapters: run before each transfer to the origin of the caller's request.
extension Exchange {
    /// Runs the adapters if there are any. Returns whether the transfer has to wait for them.
    func waitsForAdapters() -> Bool {
        let adapters = configuration.settings.requestAdapters
        guard !adapters.isEmpty, route.adapted == nil, authentication.isAtHome, let owner else {
            return false
        }
        owner.exchangeLasts()
        sink.flush()
        let request = nextRequest
        let decide = waitWithoutSlot(.answer) { (exchange, answer: Result<URLRequest, any Error>, network) in
            exchange.cancelPending = nil
            do {
                let adapted = try answer.get()
                try RequestAdapterError.check(adapted, of: request)
                exchange.route.adapted = adapted
                exchange.prepare(network)
            } catch {
                exchange.fail(error)
            }
        }
        cancelPending = owner.exchangeAdapts(
            request,
            number: meters.log.sum.transferCount + 1,
            by: adapters,
            decide: decide
        )
        return true
    }

    /// The hop with the method of the next request, which a signature may cover.
    private var nextRequest: URLRequest {
        var request = route.hop
        if let method = resumption.nextMethod(of: request) { request.httpMethod = method }
        return request
    }

    /// Whether the adapters received a different method from the one to be sent, because the request has
    /// changed since.
    func isAdaptedForAnother(_ asked: ResumeRequest) -> Bool {
        guard let adapted = route.adapted else { return false }
        return adapted.httpMethod != asked.method ?? route.hop.httpMethod
    }
}

extension RequestAdapterError {
    /// The fields that only the library may set.
    private static let fields = [
        "Range", "If-Range", "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since",
        "Cookie",
        "Host",
    ]

    /// - Throws: ``RequestAdapterError``.
    fileprivate static func check(_ adapted: URLRequest, of request: URLRequest) throws(RequestAdapterError) {
        guard let url = adapted.url, let old = request.url, Origin(url) == Origin(old) else {
            throw .originChanged(adapted.url)
        }
        guard adapted.httpMethod == request.httpMethod else { throw .methodChanged(adapted.httpMethod) }
        guard adapted.httpBodyStream === request.httpBodyStream else { throw .bodyStreamChanged }
        guard (adapted.httpBody == nil) == (request.httpBody == nil) else { throw .bodyAddedOrRemoved }
        for name in fields
        where adapted.value(forHTTPHeaderField: name) != request.value(forHTTPHeaderField: name) {
            throw .fieldChanged(name)
        }
    }
}
