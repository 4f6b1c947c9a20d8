import Foundation
import FoundationNetworking

/// The way of a request: the caller's, and what redirects, a new address and a condition have made of it. A
/// value.
///
/// Each property says one thing that a hop may change.
struct ExchangeRoute {
    /// The caller's request, at the address that it has now.
    private(set) var request: URLRequest
    /// The request of the next transfer, or of the one that runs.
    private(set) var hop: URLRequest {
        didSet {
            look()
            adapted = nil
            isUntouched = false
        }
    }
    /// The hop as adapters have made it, until it is sent.
    var adapted: URLRequest?
    /// The URL of the last request that was sent, if adapters have made it another one than the hop's.
    private(set) var sentURL: URL?
    /// The URL of the hop. A request works it out each time that it is asked.
    private(set) var hopURL: URL?
    private var hopHasFields = true
    /// Whether nothing was changed yet: the hop is the caller's request.
    private var isUntouched = true
    /// Of the caller's request.
    private let body: RequestBody?
    /// The reader of the hop's body, if that is a stream.
    private var streamedBody: RequestBody?
    private(set) var redirectCount = 0
    /// Why the user, or the password, that the hop's URL named cannot be sent.
    private var userInformationError: CredentialError?
    /// Told when its request has begun, or waits for its server: it may fail, or be complete without a
    /// transfer.
    private var untoldRedirect: Redirect?
    /// Under which only another file than the one that is held is sent.
    private(set) var condition: FileCondition?
    /// Whether the request that was sent last asks for leave to send its body, by a field of the caller's.
    private var asksForLeave = false
    /// Whether its servers have none to give: the field is not sent any more.
    private var leavesOutExpectation = false
    /// Whether no byte has come since the owner gave another address.
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
        look()
    }

    private mutating func look() {
        hopURL = hop.url
        hopHasFields = hop.allHTTPHeaderFields?.isEmpty == false
    }

    /// The value of a field of the hop.
    func field(_ name: String) -> String? {
        hopHasFields ? hop.value(forHTTPHeaderField: name) : nil
    }

    // MARK: - Hops

    /// The next hop is the first one.
    mutating func startOver() {
        adapted = nil
        guard !isUntouched else { return }
        hop = request
        streamedBody = body
        redirectCount = 0
        untoldRedirect = nil
    }

    mutating func follow(_ redirect: Redirect) {
        untoldRedirect = redirect
        streamedBody = streamedBody(of: redirect.request)
        hop = redirect.request
        redirectCount += 1
    }

    /// The redirect that the owner has not been told of, once.
    mutating func takeUntoldRedirect() -> Redirect? {
        defer { untoldRedirect = nil }
        return untoldRedirect
    }

    /// The owner knows another address of the same file.
    mutating func move(to url: URL, by policy: RedirectPolicy) {
        isUntouched = false
        hasFreshURL = true
        request = policy.request(request, movedTo: url)
    }

    /// Bytes have come that were not there before.
    mutating func noteProgress() {
        hasFreshURL = false
    }

    /// The request of the next transfer, and its body, once. `isAuthenticated`: the server has asked for
    /// other credentials than the adapters may have set.
    mutating func takeQuestion(isAuthenticated: Bool) throws -> (URLRequest, RequestBody?) {
        var (question, body) = try takeWholeQuestion(isAuthenticated: isAuthenticated)
        asksForLeave = question.value(forHTTPHeaderField: "Expect")?.lowercased() == "100-continue"
        if asksForLeave, leavesOutExpectation {
            question.setValue(nil, forHTTPHeaderField: "Expect")
            asksForLeave = false
        }
        return (question, body)
    }

    private mutating func takeWholeQuestion(isAuthenticated: Bool) throws -> (URLRequest, RequestBody?) {
        if let userInformationError { throw userInformationError }
        guard var question = takeAdapted() else { return (hop, try requestBody()) }
        if isAuthenticated { question.setValue(nil, forHTTPHeaderField: "Authorization") }
        guard let data = question.httpBody else { return (question, try requestBody()) }
        return (question, .data(data))
    }

    private mutating func takeAdapted() -> URLRequest? {
        defer { adapted = nil }
        sentURL = adapted?.url
        return adapted
    }

    /// The hop at the address that was asked: what a `Location` is relative to (RFC 9110 §10.2.2).
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
    var method: String { (hop.httpMethod ?? "GET").normalizedMethod }

    /// Takes out of the hop's URL the user and password in it: the server does not need to see them. If they
    /// cannot be decoded, ``takeQuestion(isAuthenticated:)`` says so.
    mutating func takeUserInformation() -> URLUserInformation? {
        userInformationError = nil
        guard let url = hopURL, url.mayHaveUserInformation else { return nil }
        let plain = url.withoutUserInformation
        if plain != url { hop.url = plain }
        do throws(CredentialError) {
            return try url.userInformation()
        } catch {
            userInformationError = error
            return nil
        }
    }

    /// The server answered 417.
    /// - Returns: whether the same may be asked again, without the field ([RFC 9110
    ///   §10.1.1](https://www.rfc-editor.org/rfc/rfc9110#section-10.1.1)); once.
    mutating func dropExpectation() -> Bool {
        guard asksForLeave, canSendBodyAgain else { return false }
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

    /// Adapters are not asked again for it.
    private mutating func setField(_ name: String, _ value: String?) {
        var adapted = adapted
        adapted?.setValue(value, forHTTPHeaderField: name)
        request.setValue(value, forHTTPHeaderField: name)
        hop.setValue(value, forHTTPHeaderField: name)
        self.adapted = adapted
    }

    // MARK: - The body

    /// The body of the hop: a redirect may have dropped it, a redirect closure may have put in another one.
    func requestBody() throws -> RequestBody? {
        if let data = hop.httpBody { return .data(data) }
        guard hop.httpBodyStream != nil, let body = streamedBody else {
            return hop.sendsEmptyBody ? .data(Data()) : nil
        }
        guard let fresh = body.fromStart() else { throw unsentBody }
        return fresh
    }

    var hasBodyInMemory: Bool { hop.httpBodyStream == nil }

    /// Whether the hop can be sent once more.
    var canSendBodyAgain: Bool {
        hop.httpBody != nil || hop.httpBodyStream == nil || streamedBody?.canStartAgain != false
    }

    /// Whether the caller's own request can be sent once more.
    var canStartOver: Bool { body?.canStartAgain ?? true }

    /// Whether the hop may be sent without its body first, as libcurl does for NTLM. A server that takes that
    /// for the whole request does harm; so only a body that could not be sent a second time is held back, or
    /// one that is not there.
    var canAskWithoutBody: Bool {
        if hop.httpBody != nil { return false }
        guard hop.httpBodyStream != nil else { return !hop.sendsEmptyBody }
        return streamedBody?.isRepeatable == false
    }

    /// There is a reason to send the body again, and nothing left to send.
    var unsentBody: any Error { TransferError.bodyNotRepeatable.error(for: url) }

    /// The reader of the stream, which knows whether it was used; a new one if a redirect closure put the
    /// stream in.
    private func streamedBody(of request: URLRequest) -> RequestBody? {
        guard let stream = request.httpBodyStream else { return nil }
        for known in [streamedBody, body] {
            if case .stream(let body) = known, body.reads(stream) { return known }
        }
        return BodyStream(of: request).map { .stream($0) }
    }
}
