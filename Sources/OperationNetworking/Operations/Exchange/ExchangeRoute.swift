import Foundation
import FoundationNetworking

/// The route of a request: the caller's request, as changed by redirects, a new address and a condition. A
/// value.
///
/// Each property is one thing that a hop may change.
struct ExchangeRoute {
    /// The caller's request, with its current address.
    private(set) var request: URLRequest
    /// The URL of this request. Read once, because a request computes it each time.
    private(set) var requestURL: URL?
    /// The request of the next or the running transfer. Set by ``change(to:)``.
    private(set) var hop: URLRequest
    /// The hop as changed by adapters, until it is sent.
    var adapted: URLRequest?
    /// The URL of the last request that was sent, if adapters have changed it.
    private(set) var sentURL: URL?
    /// The address and the method of the hop, and whether it has fields and no stream. Read once, because a
    /// request computes them each time.
    private(set) var address: RequestAddress?
    private(set) var hopMethod: String?
    private var hopHasFields: Bool
    private(set) var hasBodyInMemory: Bool
    /// Whether the hop is still the caller's unchanged request.
    private var isUntouched = true
    /// The body of the caller's request.
    private let body: RequestBody?
    /// The reader of the hop's body, if that is a stream.
    private var streamedBody: RequestBody?
    private(set) var redirectCount = 0
    /// Why the user or password in the hop's URL cannot be sent.
    private var userInformationError: CredentialError?
    /// The redirect to report once its request has begun, or waits for its server: it may fail, or be
    /// complete without a transfer.
    private var pendingRedirect: Redirect?
    /// The condition under which the server sends only a file that differs from the held one.
    private(set) var condition: FileCondition?
    /// Whether the request that was sent last has the caller's `Expect: 100-continue`.
    private var expectsContinue = false
    /// Whether a server rejected the expectation, so that the field is no longer sent.
    private var leavesOutExpectation = false
    /// Whether no byte has arrived since the owner provided another address.
    private(set) var hasFreshURL = false

    /// A redirect that is followed.
    struct Redirect {
        var response: HTTPURLResponse
        var request: URLRequest
    }

    init(_ request: URLRequest, body: RequestBody?) {
        self.request = request
        self.body = body
        hop = request
        streamedBody = body
        let url = request.url
        requestURL = url
        address = url.map { RequestAddress($0) }
        hopMethod = request.httpMethod
        hopHasFields = request.allHTTPHeaderFields?.isEmpty == false
        hasBodyInMemory = request.httpBodyStream == nil
    }

    /// Changes the hop, which adapters have not seen then.
    private mutating func change(to request: URLRequest) {
        hop = request
        address = request.url.map { RequestAddress($0) }
        hopMethod = request.httpMethod
        hopHasFields = request.allHTTPHeaderFields?.isEmpty == false
        hasBodyInMemory = request.httpBodyStream == nil
        adapted = nil
        isUntouched = false
    }

    /// The URL of the hop.
    var hopURL: URL? { address?.url }

    /// The value of a field of the hop.
    func field(_ name: String) -> String? {
        hopHasFields ? hop.value(forHTTPHeaderField: name) : nil
    }

    // MARK: - Hops

    /// Goes back to the first hop.
    mutating func startOver() {
        adapted = nil
        guard !isUntouched else { return }
        change(to: request)
        streamedBody = body
        redirectCount = 0
        pendingRedirect = nil
    }

    mutating func follow(_ redirect: Redirect) {
        pendingRedirect = redirect
        streamedBody = streamedBody(of: redirect.request)
        change(to: redirect.request)
        redirectCount += 1
    }

    /// Takes the redirect that has not been reported to the owner.
    mutating func takePendingRedirect() -> Redirect? {
        defer { pendingRedirect = nil }
        return pendingRedirect
    }

    /// Uses the owner's other address of the same file.
    mutating func move(to url: URL, by policy: RedirectPolicy) {
        isUntouched = false
        hasFreshURL = true
        request = policy.request(request, movedTo: url)
        requestURL = request.url
    }

    /// Records that new bytes have arrived.
    mutating func noteProgress() {
        hasFreshURL = false
    }

    /// Takes the request of the next transfer, and its body as an earlier transfer left it, once.
    /// `isAuthenticated` says that the server has requested credentials, which replace those that adapters may
    /// have set.
    mutating func takeRequest(isAuthenticated: Bool) throws -> (URLRequest, RequestBody?) {
        let isAdapted = adapted != nil
        var (hopRequest, body) = try takeWholeRequest(isAuthenticated: isAuthenticated)
        let expectation = isAdapted ? hopRequest.value(forHTTPHeaderField: "Expect") : field("Expect")
        expectsContinue = expectation?.lowercased() == "100-continue"
        if expectsContinue, leavesOutExpectation {
            hopRequest.setValue(nil, forHTTPHeaderField: "Expect")
            expectsContinue = false
        }
        return (hopRequest, body)
    }

    private mutating func takeWholeRequest(isAuthenticated: Bool) throws -> (URLRequest, RequestBody?) {
        if let userInformationError { throw userInformationError }
        guard var hopRequest = takeAdapted() else { return (hop, requestBody) }
        if isAuthenticated { hopRequest.setValue(nil, forHTTPHeaderField: "Authorization") }
        guard let data = hopRequest.httpBody else { return (hopRequest, requestBody) }
        return (hopRequest, .data(data))
    }

    private mutating func takeAdapted() -> URLRequest? {
        defer { adapted = nil }
        sentURL = adapted?.url
        return adapted
    }

    /// The address that was sent.
    var sentAddress: RequestAddress? { sentURL.map { RequestAddress($0) } ?? address }

    /// The hop with the URL that was sent, which a `Location` is relative to (RFC 9110 §10.2.2).
    var sentHop: URLRequest {
        guard let sentURL else { return hop }
        var sent = hop
        sent.url = sentURL
        return sent
    }

    // MARK: - Fields and addresses

    /// The address of the hop, for responses and errors. A request without one fails before anything is
    /// sent.
    var url: URL { hopURL ?? URL(fileURLWithPath: "/") }

    /// The method of the hop, as it is sent.
    var method: String { (hopMethod ?? "GET").normalizedMethod }

    /// Removes the user and password from the hop's URL, which the server does not need to see. If they
    /// cannot be decoded, ``takeRequest(isAuthenticated:)`` throws.
    mutating func takeUserInformation() -> URLUserInformation? {
        userInformationError = nil
        guard let address, address.mayHaveUserInformation else { return nil }
        let url = address.url
        let plain = url.withoutUserInformation
        if plain != url {
            var request = hop
            request.url = plain
            change(to: request)
        }
        do throws(CredentialError) {
            return try url.userInformation()
        } catch {
            userInformationError = error
            return nil
        }
    }

    /// Records that the server answered 417.
    /// - Returns: whether the request may be repeated without the field ([RFC 9110
    ///   §10.1.1](https://www.rfc-editor.org/rfc/rfc9110#section-10.1.1)); once.
    mutating func dropExpectation() -> Bool {
        guard expectsContinue, canSendBodyAgain else { return false }
        leavesOutExpectation = true
        return true
    }

    /// Adds a condition to each request, the next one included.
    mutating func add(_ condition: FileCondition) {
        self.condition = condition
        setField(condition.name, condition.value)
    }

    mutating func dropCondition() {
        guard let condition else { return }
        setField(condition.name, nil)
        self.condition = nil
    }

    /// Sets a field without running the adapters again.
    private mutating func setField(_ name: String, _ value: String?) {
        var adapted = adapted
        adapted?.setValue(value, forHTTPHeaderField: name)
        request.setValue(value, forHTTPHeaderField: name)
        var hop = hop
        hop.setValue(value, forHTTPHeaderField: name)
        change(to: hop)
        self.adapted = adapted
    }

    // MARK: - The body

    /// The body of the hop, as an earlier transfer left it. A redirect may have dropped it, and a redirect closure
    /// may have replaced it.
    var requestBody: RequestBody? {
        if let data = hop.httpBody { return .data(data) }
        guard !hasBodyInMemory, let body = streamedBody else {
            return sendsEmptyBody ? .data(Data()) : nil
        }
        return body
    }

    /// Whether the hop can be sent again.
    var canSendBodyAgain: Bool {
        hop.httpBody != nil || hasBodyInMemory || streamedBody?.canStartAgain != false
    }

    /// Whether the caller's own request can be sent again.
    var canStartOver: Bool { body?.canStartAgain ?? true }

    /// Whether the hop may be sent without its body first, as libcurl does for NTLM. A server may mistake
    /// that for the whole request, so it is done only for a body that cannot be sent twice, or if there is
    /// none.
    var canSendWithoutBody: Bool {
        if hop.httpBody != nil { return false }
        guard !hasBodyInMemory else { return !sendsEmptyBody }
        return streamedBody?.isRepeatable == false
    }

    private var sendsEmptyBody: Bool { hopMethod != "GET" && hop.sendsEmptyBody }

    /// The error if the body has to be sent again and cannot be.
    var unsentBody: any Error { TransferError.bodyNotRepeatable.error(for: url) }

    /// The reader of the stream, which records whether it was used; a new one for a stream from a redirect
    /// closure.
    private func streamedBody(of request: URLRequest) -> RequestBody? {
        guard let stream = request.httpBodyStream else { return nil }
        for known in [streamedBody, body] {
            if case .stream(let body) = known, body.reads(stream) { return known }
        }
        return BodyStream(of: request).map { .stream($0) }
    }
}
