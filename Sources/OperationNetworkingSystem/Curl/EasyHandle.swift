import COperationNetworking

/// A libcurl transfer: a `CURL *`; see libcurl-easy(3).
///
/// Used only on the thread that drives its ``MultiHandle``. Creating a handle costs a tenth of a small
/// request, so a handle that ``leavesNothing`` of its transfer is reused with the same ``PersistentOptions``.
package final class EasyHandle {
    /// In bytes. libcurl sends one buffer each time the socket is writable, and a pass of the event loop
    /// costs too much for its default of 64 KiB.
    private static let largeBuffer = 256 * 1024
    /// The read size. With libcurl's default of 16 KiB, two system calls per buffer cost more than the rest
    /// of a fast download. Unused pages take no memory, and below 128 KiB malloc(3) does not use a separate
    /// mapping. libcurl reads up to 100 buffers before it serves other transfers.
    package static let receiveBuffer = 100 * 1024
    private static let largeBody = 4 * 1024 * 1024
    /// Bits of CURLOPT_PROXYAUTH(3).
    private static let basic = Int(CLIBCURL_AUTH_BASIC)
    private static let betterThanBasic = Int(CLIBCURL_AUTH_DIGEST | CLIBCURL_AUTH_NTLM)

    let pointer: OpaquePointer
    /// Where bytes of the response go.
    enum BodyPlace {
        /// To the delegate.
        case taken
        /// The delegate has no capacity: libcurl buffers them.
        case held
        case dropped
    }

    @exclusivity(unchecked) var body = BodyPlace.taken
    /// An identifier for the caller.
    @exclusivity(unchecked) package var tag: UInt64 = 0
    /// Whether it is in a ``MultiHandle``.
    @exclusivity(unchecked) var isRunning = false
    /// The sockets of its ``MultiHandle``, while it is in one.
    var sockets: ConnectionSockets?
    /// The receiver of all events; retained until ``releaseDelegate()``.
    @exclusivity(unchecked) private(set) var delegate: (any EasyHandleDelegate)?
    /// Decides about the server of the next TLS connection.
    @exclusivity(unchecked) var judge: (any ServerJudge)?
    /// Whether the server sent a TLS close notification; known only after ``watchForCloseNotify()``.
    package private(set) var hasCloseNotify = false
    private var watchesForCloseNotify = false
    /// Why no socket could be opened, an `errno`, which libcurl does not report.
    private var socketError: Int32 = 0
    /// Set when the handle is first prepared; `nil` if it cannot be reused.
    @exclusivity(unchecked) private var persistent: PersistentOptions?
    @exclusivity(unchecked) var trace = HandleTrace()
    @exclusivity(unchecked) var foldWatch = FoldWatch.off
    @exclusivity(unchecked) private var retained = Retained()
    private let errorText: UnsafeMutablePointer<CChar>
    private let sessions: TLSSessions?

    /// Whether libcurl was given cookies.
    var hasCookies = false

    /// Retained for libcurl, which reads them in place.
    private struct Retained {
        var fields: HeaderList?
        var proxyFields: HeaderList?
        var url: ParsedURL?
    }

    var raw: UnsafeMutableRawPointer { UnsafeMutableRawPointer(pointer) }

    /// - Parameter sessions: the shared TLS sessions; `nil` for its own.
    /// - Throws: if out of memory.
    package init(sessions: TLSSessions? = nil) throws(CurlError) {
        CurlLibrary.initialize()
        guard let made = curl_easy_init() else { throw CurlError(code: Int32(CURLE_OUT_OF_MEMORY.rawValue)) }
        pointer = OpaquePointer(made)
        errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        errorText.pointee = 0
        self.sessions = sessions
        if let sessions {
            let share = UnsafeMutableRawPointer(sessions.pointer)
            clibcurl_easy_setopt_pointer(made, CURLOPT_SHARE, share)
        }
    }

    /// Returns the object of a prepared handle.
    static func of(_ raw: UnsafeMutableRawPointer) -> EasyHandle? {
        var context: UnsafeMutableRawPointer?
        guard clibcurl_easy_getinfo_pointer(raw, CURLINFO_PRIVATE, &context) == CURLE_OK, let context else {
            return nil
        }
        return Unmanaged<EasyHandle>.fromOpaque(context).takeUnretainedValue()
    }

    deinit {
        curl_easy_cleanup(raw)
        errorText.deallocate()
    }

    /// Releases the delegate, which retains the handle. Called after the transfer is removed from its
    /// ``MultiHandle``.
    package func releaseDelegate() {
        delegate = nil
        judge = nil
    }

    // MARK: - Reuse

    /// Whether a used handle can be prepared for these options.
    package func serves(_ options: TransferOptions) -> Bool {
        persistent?.serve(options) ?? false
    }

    /// Whether the transfer, which has succeeded, left no state that can affect another one; see
    /// ``HandleTrace``.
    package var leavesNothing: Bool {
        persistent != nil
            && trace.leavesNothing(
                connectionCount: connectionCount,
                systemError: long(CURLINFO_OS_ERRNO),
                status: long(CURLINFO_RESPONSE_CODE),
                isHTTP1: long(CURLINFO_HTTP_VERSION) == CURL_HTTP_VERSION_1_1
            )
    }

    /// Releases the state of the transfer. Called after it is removed from its ``MultiHandle``.
    package func releaseTransferState() {
        releaseDelegate()
        if trace.watchesForExcess { clibcurl_easy_setopt_long(raw, CURLOPT_VERBOSE, 0) }
        trace = HandleTrace(isFirst: false)
        if CurlLibrary.remembersFreedFields { foldWatch = .statusLine }
        clibcurl_easy_setopt_list(raw, CURLOPT_HTTPHEADER, nil)
        retained.fields = nil
    }

    // MARK: - Results

    /// Returns `nil` for `CURLE_OK`, or else an error with libcurl's message about this transfer.
    package func error(for code: Int32) -> CurlError? {
        guard code != 0 else { return nil }
        let text = String(cString: errorText)
        let systemError = Int32(long(CURLINFO_OS_ERRNO))
        return CurlError(
            code: code,
            message: text.isEmpty ? nil : text,
            systemError: systemError == 0 && code == CURLE_COULDNT_CONNECT.rawValue
                ? socketError : systemError
        )
    }

    /// The HTTP version of the last response, as in `1.1` or `2`, if there was one.
    package var httpVersion: String? {
        guard trace.hasBegun else { return nil }
        return switch long(CURLINFO_HTTP_VERSION) {
        case CURL_HTTP_VERSION_1_0: "1.0"
        case CURL_HTTP_VERSION_1_1: "1.1"
        case CURL_HTTP_VERSION_2_0: "2"
        default: nil
        }
    }

    /// The number of connections that this transfer opened.
    package var connectionCount: Int { trace.hasBegun ? long(CURLINFO_NUM_CONNECTS) : 0 }

    /// The times in microseconds, from the start, at which the name was resolved, the connection and TLS were
    /// established, and the first byte was received; 0 for events that did not happen.
    package var moments: (name: Int64, connection: Int64, tls: Int64, firstByte: Int64, total: Int64) {
        // Until libcurl begins, they are those of the previous transfer.
        guard trace.hasBegun else { return (0, 0, 0, 0, 0) }
        return (
            offset(CURLINFO_NAMELOOKUP_TIME_T), offset(CURLINFO_CONNECT_TIME_T),
            offset(CURLINFO_APPCONNECT_TIME_T),
            offset(CURLINFO_STARTTRANSFER_TIME_T), offset(CURLINFO_TOTAL_TIME_T)
        )
    }

    /// The bytes of requests that connections have accepted so far, heads and possibly bodies, including
    /// repetitions (CURLINFO_REQUEST_SIZE(3)). Callable from within the delegate.
    package var requestBytesTaken: Int { long(CURLINFO_REQUEST_SIZE) }

    /// The body bytes that connections have accepted so far (CURLINFO_SIZE_UPLOAD_T(3)).
    package var bodyBytesTaken: Int64 { offset(CURLINFO_SIZE_UPLOAD_T) }

    /// The status of the proxy's last answer to CONNECT; 0 if there was none (CURLINFO_HTTP_CONNECTCODE(3)).
    package var tunnelStatus: Int { long(CURLINFO_HTTP_CONNECTCODE) }

    /// Whether a TLS handshake has begun on the last opened socket, so that any answer to CONNECT is
    /// complete.
    package var hasBegunTLS: Bool { trace.hasBegunTLS }

    /// The error of a SOCKS proxy, a `CURLproxycode` (CURLINFO_PROXY_ERROR(3)).
    package var proxyCode: Int { long(CURLINFO_PROXY_ERROR) }

    /// Whether a proxy that requested credentials during this transfer offers stronger schemes than Basic;
    /// `nil` if none did (CURLINFO_PROXYAUTH_AVAIL(3)).
    package var proxyOffersMoreThanBasic: Bool? {
        let offered = long(CURLINFO_PROXYAUTH_AVAIL)
        if offered & Self.betterThanBasic != 0 { return true }
        return offered & Self.basic == 0 ? nil : false
    }

    private func long(_ info: CURLINFO) -> Int {
        var value = 0
        clibcurl_easy_getinfo_long(raw, info, &value)
        return value
    }

    private func offset(_ info: CURLINFO) -> Int64 {
        var value: curl_off_t = 0
        clibcurl_easy_getinfo_offset(raw, info, &value)
        return Int64(value)
    }

    // MARK: - Commands

    /// Sets all options of a transfer.
    ///
    /// - Parameters:
    ///   - options: the options.
    ///   - url: the parsed URL of the options.
    ///   - fields: the header lines of the options.
    ///   - delegate: the receiver of all events.
    /// - Throws: the error of `curl_easy_setopt`, for example for an invalid URL.
    package func prepare(
        _ options: TransferOptions,
        url: ParsedURL?,
        fields: HeaderList,
        delegate: any EasyHandleDelegate
    ) throws(CurlError) {
        self.delegate = delegate
        if persistent == nil {
            try setPersistentOptions(options)
        } else {
            assert(serves(options), "a reused handle was given options that differ from its persistent ones")
        }
        // First, because since 8.12 it releases the text. libcurl prefers it if it is set.
        try check(clibcurl_easy_setopt_url(raw, url?.pointer))
        retained.url = url
        try set(CURLOPT_URL, options.url)
        try set(fields, CURLOPT_HTTPHEADER)
        retained.fields = fields
        trace.namesHost = fields.namesHost
        if let lines = options.cookieLines { try setCookies(lines) }
        try set(CURLOPT_CONNECTTIMEOUT_MS, Self.milliseconds(options.connectTimeout))
        judge = options.tls?.judge
    }

    /// Sets the options that stay for all transfers of the handle.
    private func setPersistentOptions(_ options: TransferOptions) throws(CurlError) {
        try setConstants()
        try setMethod(options)
        try setProxy(options)
        try setVersion(options)
        if options.cookieLines != nil { try startCookies() }
        if let authentication = options.authentication { try setAuthentication(authentication) }
        if let tls = options.tls { try setTLS(tls) }
        if options.opensConnection { try set(CURLOPT_FRESH_CONNECT, 1) }
        persistent = PersistentOptions(options)
    }

    /// Replaces the fields of requests from now on. Callable from within
    /// ``EasyHandleDelegate/easyHandleWillSendRequest(over:)``, before libcurl writes the request.
    package func replaceHeaderLines(_ lines: [String], octetLine: String?) throws(CurlError) {
        let list = try HeaderList(lines, octetLine: octetLine)
        try set(list, CURLOPT_HTTPHEADER)
        retained.fields = list
    }

    /// Pauses receiving until ``resumeReceiving()``. Callable from within the delegate, after it has accepted
    /// the bytes.
    package func holdReceiving() {
        trace.wasHeld = true
        curl_easy_pause(raw, CURLPAUSE_RECV)
    }

    /// Resumes after ``ReceiveAnswer/full`` or ``holdReceiving()``; may call the delegate synchronously.
    package func resumeReceiving() {
        body = .taken
        curl_easy_pause(raw, CURLPAUSE_CONT)
    }

    /// Discards the bytes that libcurl buffers of a paused response. Called before the transfer is removed:
    /// libcurl 7.88 would otherwise leak them (a buffer and more) if the connection continues to serve
    /// others, as in HTTP/2.
    func dropHeldBytes() {
        guard body == .held else { return }
        body = .dropped
        curl_easy_pause(raw, CURLPAUSE_CONT)
    }

    /// Resumes after ``SendAnswer/notYet``; may call the delegate synchronously.
    package func resumeSending() {
        curl_easy_pause(raw, CURLPAUSE_CONT)
    }

    /// Enables ``hasCloseNotify``. Callable from within the delegate, once it is known to matter: it costs a
    /// call for every piece of the body.
    package func watchForCloseNotify() {
        watchesForCloseNotify = true
        reportProgress()
    }

    /// Enables ``EasyHandleDelegate/easyHandleDidProgress(received:)``. Callable from within the delegate.
    package func reportProgress() {
        trace.reportsProgress = true
        clibcurl_easy_setopt_long(raw, CURLOPT_NOPROGRESS, 0)
    }

    func didProgress(received: Int64) -> Bool {
        if watchesForCloseNotify, ctls_has_close_notify(raw) { hasCloseNotify = true }
        return delegate?.easyHandleDidProgress(received: received) ?? true
    }

    /// - Parameters:
    ///   - socket: the socket; -1 if it could not be opened.
    ///   - code: the `errno` in that case.
    func didOpenSocket(_ socket: Int32, _ code: Int32) {
        trace.hasMoved = true
        trace.hasBegunTLS = false
        if socket < 0 { socketError = code } else { trace.openedSockets.append(socket) }
        delegate?.easyHandleWillConnect()
    }

    // MARK: - Options

    private func setConstants() throws(CurlError) {
        let context = Unmanaged.passUnretained(self).toOpaque()
        try check(clibcurl_easy_setopt_pointer(raw, CURLOPT_PRIVATE, context))
        try check(clibcurl_easy_setopt_pointer(raw, CURLOPT_ERRORBUFFER, errorText))
        try check(clibcurl_easy_setopt_pointer(raw, CURLOPT_WRITEDATA, context))
        try check(clibcurl_easy_setopt_data_callback(raw, CURLOPT_WRITEFUNCTION, EasyHandle.didReceiveBody))
        try check(clibcurl_easy_setopt_pointer(raw, CURLOPT_HEADERDATA, context))
        try check(
            clibcurl_easy_setopt_data_callback(raw, CURLOPT_HEADERFUNCTION, EasyHandle.didReceiveHeaderLine)
        )
        try check(clibcurl_easy_setopt_pointer(raw, CURLOPT_OPENSOCKETDATA, context))
        try check(clibcurl_easy_setopt_open_socket_callback(raw, EasyHandle.openSocket))
        try check(clibcurl_easy_setopt_pointer(raw, CURLOPT_PREREQDATA, context))
        try check(clibcurl_easy_setopt_before_request_callback(raw, EasyHandle.willSendRequest))
        try check(clibcurl_easy_setopt_pointer(raw, CURLOPT_XFERINFODATA, context))
        try check(clibcurl_easy_setopt_progress_callback(raw, EasyHandle.didProgress))
        try check(clibcurl_easy_setopt_pointer(raw, CURLOPT_DEBUGDATA, context))
        try check(clibcurl_easy_setopt_log_callback(raw, EasyHandle.didLog))
        // Cancelling a transfer that is resolving a name must not wait for the resolver's thread, which would
        // block every other transfer. No signals either, in an application's process.
        try set(CURLOPT_QUICK_EXIT, 1)
        try set(CURLOPT_NOSIGNAL, 1)
        try check(clibcurl_easy_setopt_web_protocols(raw))
        try set(CURLOPT_HTTP09_ALLOWED, 0)
        // Users and passwords come only from `TransferOptions`, for this server.
        try set(CURLOPT_DISALLOW_USERNAME_IN_URL, 1)
        try set(CURLOPT_UNRESTRICTED_AUTH, 0)
        // The library handles redirects, statuses and content codings itself.
        try set(CURLOPT_FOLLOWLOCATION, 0)
        try set(CURLOPT_FAILONERROR, 0)
        // A proxy's answer to CONNECT is not the server's.
        try set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
    }

    /// libcurl's own default is 5 minutes. The library implements other timeouts, measured since the last
    /// progress.
    private static func milliseconds(_ timeout: Double?) -> Int {
        // libcurl treats 0 as its default, and uses an int.
        Int(max(1, min(Double(Int32.max), (timeout ?? .infinity) * 1000)))
    }

    private func setMethod(_ options: TransferOptions) throws(CurlError) {
        switch (options.method, options.body) {
        case ("HEAD", _):
            try set(CURLOPT_NOBODY, 1)
        case ("GET", .none):
            try set(CURLOPT_HTTPGET, 1)
        case (let method, .none):
            try set(CURLOPT_HTTPGET, 1)
            try set(CURLOPT_CUSTOMREQUEST, method)
        case (let method, let body):
            let context = Unmanaged.passUnretained(self).toOpaque()
            try set(CURLOPT_UPLOAD, 1)
            try set(CURLOPT_CUSTOMREQUEST, method)
            try check(clibcurl_easy_setopt_pointer(raw, CURLOPT_READDATA, context))
            try check(clibcurl_easy_setopt_data_callback(raw, CURLOPT_READFUNCTION, EasyHandle.needsBody))
            try check(clibcurl_easy_setopt_pointer(raw, CURLOPT_SEEKDATA, context))
            try check(clibcurl_easy_setopt_seek_callback(raw, EasyHandle.seeksBody))
            if case .length(let length) = body {
                if length >= Self.largeBody { setIfSupported(CURLOPT_UPLOAD_BUFFERSIZE, Self.largeBuffer) }
                try check(clibcurl_easy_setopt_offset(raw, CURLOPT_INFILESIZE_LARGE, curl_off_t(length)))
            }
        }
    }

    private func set(_ list: HeaderList, _ option: CURLoption) throws(CurlError) {
        try check(clibcurl_easy_setopt_list(raw, option, list.pointer))
    }

    private func setProxy(_ options: TransferOptions) throws(CurlError) {
        // An empty name keeps libcurl from reading the environment, which the library has already evaluated.
        if let proxy = options.proxy { try set(CURLOPT_PROXY, proxy.url) } else { try clear(CURLOPT_PROXY) }
        try clear(CURLOPT_NOPROXY)
        guard let proxy = options.proxy else { return }
        // The request's fields are for the server, and not sent to a proxy that opens a tunnel.
        try set(CURLOPT_HEADEROPT, Int(CURLHEADER_SEPARATE))
        let list = try HeaderList(proxy.headerLines)
        try set(list, CURLOPT_PROXYHEADER)
        retained.proxyFields = list
        // HTTP/2 without TLS is tunneled as well, since it is end-to-end. libcurl always tunnels https.
        try set(CURLOPT_HTTPPROXYTUNNEL, options.version == .http2PriorKnowledge ? 1 : 0)
        try set(CURLOPT_SOCKS5_AUTH, Int(CLIBCURL_AUTH_BASIC))
        guard proxy.user != nil || proxy.password != nil else { return }
        try set(CURLOPT_PROXYUSERNAME, proxy.user ?? "")
        try set(CURLOPT_PROXYPASSWORD, proxy.password ?? "")
        // Only for these: with NTLM included, libcurl 7.88 never reuses a connection through SOCKS.
        guard proxy.url.hasPrefix("http://") else { return }
        switch proxy.authentication {
        case .afterChallenge: try set(CURLOPT_PROXYAUTH, Self.basic | Self.betterThanBasic)
        case .basic: try set(CURLOPT_PROXYAUTH, Self.basic)
        }
    }

    private func setVersion(_ options: TransferOptions) throws(CurlError) {
        setIfSupported(CURLOPT_BUFFERSIZE, Self.receiveBuffer)
        switch options.version {
        case .automatic, .http2:
            // Not CURLOPT_PIPEWAIT: in libcurl 7.88 one waiting host blocks all others.
            try set(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2TLS)
        case .http1:
            try set(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1)
        case .http2PriorKnowledge:
            try set(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE)
        }
    }

    /// Sets exactly one scheme, so that libcurl never falls back to a weaker one.
    private func setAuthentication(_ authentication: CurlAuthentication) throws(CurlError) {
        let scheme =
            switch authentication.scheme {
            case .basic: CLIBCURL_AUTH_BASIC
            case .ntlm: CLIBCURL_AUTH_NTLM
            case .negotiate: CLIBCURL_AUTH_NEGOTIATE
            }
        try set(CURLOPT_HTTPAUTH, scheme)
        try set(CURLOPT_USERNAME, authentication.user)
        try set(CURLOPT_PASSWORD, authentication.password)
    }

    /// Sets an option that only improves performance, and ignores failure.
    private func setIfSupported(_ option: CURLoption, _ value: Int) {
        clibcurl_easy_setopt_long(raw, option, value)
    }

    func set(_ option: CURLoption, _ value: Int) throws(CurlError) {
        try check(clibcurl_easy_setopt_long(raw, option, value))
    }

    /// Removes a string, because libcurl does not treat an empty one as none.
    private func clear(_ option: CURLoption) throws(CurlError) {
        try check(clibcurl_easy_setopt_empty(raw, option))
    }

    func set(_ option: CURLoption, _ value: String) throws(CurlError) {
        try check(clibcurl_easy_setopt_string(raw, option, value))
    }
}
