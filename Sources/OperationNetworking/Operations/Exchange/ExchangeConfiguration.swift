import Foundation
import FoundationNetworking
internal import OperationNetworkingSystem

/// The input of an exchange: the request of an operation, the destination of its body, and the settings. The
/// operation completes it when it starts.
struct ExchangeConfiguration: Sendable {
    var request: URLRequest
    var shared = SharedSettings.standard
    var body: RequestBody?
    var destination = Destination.memory
    /// The maximum length in bytes of a body in memory.
    var memoryLimit: Int64 = 256 << 20
    /// Whether bytes received before a pause may be kept.
    var resumesByRange = false
    /// The number of bytes to compare if there is no strong validator; `nil` to discard such bytes.
    var overlap: Int64?
    /// Whether the owner may provide another address if there is nothing at this one.
    var refreshesURL = false
    /// Rejects a response whose body must not reach the destination.
    var check: (@Sendable (HTTPURLResponse) throws -> Void)?
    /// The maximum length in bytes of a decoded body.
    var maximumDecodedLength: Int64 = 256 << 20
    /// The exchange's priority among those that wait for a connection.
    var priority = TransferPriority.normal
    /// Whether the owner gets a copy of every piece.
    var givesPieces = false
    /// Whether the owner decides, after the head, when the body is received.
    var asksAboutResponse = false

    /// The versions of the certificate authority files at the start; `nil` if they have not been read. The
    /// network thread does not access the disk.
    var anchorVersions: [FileVersion?]?

    /// See ``shared``.
    var settings: TransferSettings {
        _read { yield shared.value }
        _modify { yield &shared.value }
    }

    /// The stream that receives a successful body; `nil` if there is none. Setting it sets the destination.
    var outputStream: OutputStream? {
        get { if case .stream(let stream) = destination { stream } else { nil } }
        set { destination = newValue.map { .stream($0) } ?? .memory }
    }

    /// The file that receives a successful body; `nil` if there is none. Setting it sets the destination.
    var outputFile: URL? {
        get { if case .file(let file) = destination { file } else { nil } }
        set { destination = newValue.map { .file($0) } ?? .memory }
    }

    /// The destination of the body of a 2xx response.
    enum Destination: @unchecked Sendable {
        // @unchecked: a stream is handed over to the sink that writes it, and only the sink uses it until the
        // end.
        case memory
        case file(URL)
        case stream(OutputStream)
        /// The reader of a ``BodyPieces``.
        case pieces(BodyChannel)
        /// A sink of another kind, made when it is needed.
        case custom(@Sendable () -> any ResponseSink)

        /// Whether a file is opened for it once the head of the response has arrived. A stream may be one.
        var opensFile: Bool {
            switch self {
            case .file, .stream: true
            case .memory, .pieces, .custom: false
            }
        }
    }

    /// The maximum number of bytes kept of an error's body if the destination is not memory.
    static let sideBodyLimit: Int64 = 64 * 1024

    /// Returns a new sink for the destination. A sink in memory starts with `data`, from an earlier
    /// operation.
    func makeSink(with data: Data = Data()) -> any ResponseSink {
        switch destination {
        case .memory: MemorySink(limit: memoryLimit, data: data)
        case .file(let url): QueuedSink(FileDestination(url))
        case .stream(let stream): QueuedSink(StreamDestination(stream))
        case .pieces(let channel): QueuedSink(ChannelDestination(channel))
        case .custom(let make): make()
        }
    }

    /// Returns the transfer of one hop.
    /// - Parameters:
    ///   - hop: the request, as changed by redirects.
    ///   - address: the address of the hop, if it has been parsed.
    ///   - body: the hop's body.
    ///   - asked: the fields that request the missing bytes.
    ///   - continues: whether they request the rest after the held bytes.
    ///   - cookies: the cookies that may be sent; `nil` to neither send nor store cookies.
    ///   - authentication: the credentials to send, if any.
    ///   - digest: the digest session, with the server's nonce.
    ///   - isAtHome: whether the hop goes to the origin of the caller's own request.
    ///   - exceptions: servers that the challenge closure trusts although the policy does not.
    ///   - anchorVersions: the versions of the certificate authority files, if they have been read.
    ///   - expiry: the time after which the request is not sent.
    ///   - retriedStatuses: see ``TransferRequest/retriedStatuses``.
    /// - Returns: everything the transfer needs.
    /// - Throws: `URLError` for a URL, ``RequestSerializationError`` for a method or a field that cannot be
    ///   sent, ``ProxyError`` for a proxy that cannot be used, ``CredentialError`` for the credentials,
    ///   ``OutputFileError`` for a destination that is not a file.
    func transferRequest(
        for hop: URLRequest,
        at address: RequestAddress? = nil,
        body: RequestBody?,
        asking asked: ResumeRequest,
        continues: Bool,
        cookies: JarCookies? = nil,
        authentication: Authentication.Proof? = nil,
        digest: DigestSession? = nil,
        isAtHome: Bool = true,
        trusting exceptions: Set<TrustException> = [],
        anchorVersions: [FileVersion?]? = nil,
        expiry: Date? = nil,
        retriedStatuses: Set<Int> = []
    ) throws -> TransferRequest {
        let address = try hop.checkedAddress(address)
        let (url, origin) = (address.url, address.origin)
        try settings.securityPolicy.check(url)
        if case .file(let file) = destination {
            guard file.namesLocalFile else { throw OutputFileError.notAFileURL(file) }
            guard !FileName.isReserved(file.path) else { throw OutputFileError.reservedName(file) }
        }
        let ownFields = hop.allHTTPHeaderFields ?? [:]
        var fields = HeaderFields(ownFields)
        for field in fields.fields {
            try RequestSerializationError.check(name: field.name, value: field.value)
        }
        try fields.leaveFraming(to: body)
        let cachePolicy = hop.cachePolicy
        try fields.ask(by: cachePolicy, hasCache: settings.layers[.cache] != nil, url: url)
        var trustDomain = shared.trustDomain
        // The client identity was meant for one origin.
        if !isAtHome, trustDomain.identity != nil { trustDomain.identity = nil }
        if !exceptions.isEmpty { trustDomain.exceptions = exceptions }
        if origin.isTLS, let anchorVersions, !anchorVersions.isEmpty {
            trustDomain.anchorVersions = anchorVersions
        }
        if let proxy = try settings.proxyConfiguration.proxy(for: url) {
            trustDomain.proxy = proxy
            // The field is for a proxy; servers never see it.
            if proxy.kind == .http, let authorization = fields["Proxy-Authorization"] {
                trustDomain.proxyAuthorization = authorization
            }
        }
        fields["Proxy-Authorization"] = nil
        let method = try hop.checkedMethod()
        // A redirect closure may have chosen other fields.
        let acceptsContentCoding =
            acceptsContentCoding && !continues && (ownFields.isEmpty || !Self.choosesCoding(hop))
        if !acceptsContentCoding {
            // The caller's own Accept-Encoding selected the representation, so it is sent again.
            for field in asked.fields.fields
            where field.name != "Accept-Encoding" || fields[field.name] == nil {
                fields[field.name] = field.value
            }
        }
        if let authentication {
            try authentication.credential.check(for: authentication.scheme)
            fields["Authorization"] =
                try digest.map { try authentication.fieldValue($0, method, url, body) }
                ?? authentication.fieldValue
            // A connection authenticated for one credential is not used for another.
            if authentication.scheme.isConnectionBased { trustDomain.credential = authentication.credential }
        }
        return TransferRequest(
            url: url,
            origin: origin,
            method: method,
            fields: fields,
            body: body,
            shared: shared,
            trustDomain: trustDomain,
            authentication: authentication?.curlAuthentication,
            credential: authentication?.credential,
            expiry: expiry,
            version: authentication?.scheme.isConnectionBased == true ? .http1 : version,
            acceptsContentCoding: acceptsContentCoding,
            hasLatin1Authorization: digest?.challenge.isLatin1 == true,
            mayBeSentAgain: RetryPolicy.maySendAgain(method, policy: settings.retryPolicy),
            idleTimeout: hop.timeoutInterval,
            maximumDecodedLength: maximumDecodedLength,
            priority: priority,
            holdsFiles: opensFiles || (continues && destination.opensFile),
            opensDestination: destination.opensFile,
            cookies: cookies?.cookies,
            cookieVersion: cookies?.version ?? 0,
            cachePolicy: cachePolicy,
            retriedStatuses: retriedStatuses
        )
    }

    /// The domain of transfers without a connection-based credential.
    var trustDomain: TrustDomain { shared.trustDomain }

    /// Ranges count bytes as sent, after any content coding, so a body that may be resumed must not be coded.
    var acceptsContentCoding: Bool {
        guard case .memory = destination else { return false }
        return !Self.choosesCoding(request)
    }

    /// Whether the fields of a request choose the content coding, by name or by requesting a range.
    private static func choosesCoding(_ request: URLRequest) -> Bool {
        guard request.allHTTPHeaderFields?.isEmpty == false else { return false }
        return request.value(forHTTPHeaderField: "Accept-Encoding") != nil
            || request.value(forHTTPHeaderField: "Range") != nil
    }

    /// The HTTP version. A full sink or a bandwidth limit holds the transfer, and a held HTTP/2 stream
    /// buffers up to 32 MB in libcurl 7.88.
    var version: TransferOptions.HTTPVersion {
        guard case .memory = destination, !givesPieces, !asksAboutResponse, settings.downloadLimits.isEmpty
        else {
            return .http1
        }
        return .automatic
    }

    /// Whether the sink opens files before the request is known. The transfer then uses HTTP/1.1.
    var opensFiles: Bool {
        if case .custom = destination { true } else { false }
    }

    /// Whether the body of an unsuccessful response is only an explanation.
    var bodyExplains: Bool {
        if case .memory = destination { false } else { true }
    }

    /// The maximum number of bytes kept of the body of an unsuccessful response.
    var sideBodyLimit: Int64 { bodyExplains ? Self.sideBodyLimit : memoryLimit }
}

extension HeaderFields {
    /// Adds the fields by which the policy controls caches along the way, unless the caller has set them.
    ///
    /// - Throws: `URLError.resourceUnavailable` if only a stored response is wanted, and there is no cache.
    fileprivate mutating func ask(by policy: URLRequest.CachePolicy, hasCache: Bool, url: URL) throws {
        switch policy {
        case .reloadIgnoringLocalAndRemoteCacheData:
            guard self["Cache-Control"] == nil else { return }
            self["Cache-Control"] = "no-cache"
            if self["Pragma"] == nil { self["Pragma"] = "no-cache" }
        case .returnCacheDataDontLoad:
            guard hasCache else { throw URLError.nothingStored(for: url) }
        default:
            break
        }
    }

    /// Removes the caller's framing of the body: libcurl sets it from the actual body. With any other
    /// framing, a server would take the rest of the body for the next request ([RFC 9112
    /// §6.3](https://www.rfc-editor.org/rfc/rfc9112#section-6.3)).
    ///
    /// - Throws: an error for a transfer coding that cannot be made here.
    fileprivate mutating func leaveFraming(to body: RequestBody?) throws(RequestSerializationError) {
        self["Content-Length"] = nil
        guard let coding = self["Transfer-Encoding"] else { return }
        // libcurl 7.88 never ends a chunked body that it knows to be empty.
        guard let body, body.length != 0 else { return self["Transfer-Encoding"] = nil }
        guard coding.isEqualIgnoringASCIICase(to: "chunked") else {
            throw .invalidFieldValue(name: "Transfer-Encoding")
        }
    }
}
