import Foundation
import FoundationNetworking
internal import OperationNetworkingSystem

/// A command line with which curl(1) sends the request of an operation. A value.
struct CurlCommandLine {
    /// The maximum length of an argument: Linux allows 128 KiB.
    private static let longestArgument = 100_000
    /// The maximum timeout in seconds; longer ones are omitted.
    private static let longestTimeout = 1e6

    private var request: TransferRequest
    private let body: BodySource?
    private let isStream: Bool
    private let redacts: Bool
    private let hasCredential: Bool

    /// - Parameters:
    ///   - configuration: the configuration of the operation's exchange.
    ///   - redacts: whether secrets are redacted.
    /// - Throws: the error with which the operation would fail before sending anything.
    init(_ configuration: ExchangeConfiguration, redacts: Bool) throws {
        let hop = configuration.request
        var resumption = Resumption(isAllowed: configuration.resumesByRange, overlap: configuration.overlap)
        let data = hop.httpBody ?? (hop.sendsEmptyBody && hop.httpBodyStream == nil ? Data() : nil)
        let body = data.map { RequestBody.data($0) } ?? (hop.httpBodyStream == nil ? nil : configuration.body)
        request = try configuration.transferRequest(
            for: hop,
            body: body,
            asking: resumption.ask(hop, held: StoredBytes()),
            continues: false
        )
        self.redacts = redacts
        hasCredential =
            configuration.settings.credential != nil || configuration.settings.tokenSource != nil
            || hop.url?.user != nil
        self.body = data.map { .data($0) } ?? hop.bodySource
        isStream =
            hop.httpBodyStream != nil
            && !(self.body?.segments.allSatisfy { if case .stream = $0 { false } else { true } } ?? false)
        if let source = hop.cookieSource(configuration.settings.cookieJar), let url = hop.url {
            let pairs = source.jar.cookies(for: url, host: source.host).map { "\($0.name)=\($0.value)" }
            if !pairs.isEmpty { request.fields["Cookie"] = pairs.joined(separator: "; ") }
        }
    }

    var text: String {
        let options = request.options(nil)
        var words = ["curl", "--disable", "--globoff", "--silent", "--show-error"]
        var source: String?
        switch (options.method, options.body) {
        case ("HEAD", _): words.append("--head")
        case ("GET", .none): break
        case (let method, .none): words += ["--request", method]
        case (let method, _):
            words += ["--request", method]
            if !isStream { source = addBody(to: &words) }
        }
        switch options.version {
        case .automatic: break
        case .http1: words.append("--http1.1")
        case .http2: words.append("--http2")
        case .http2PriorKnowledge: words.append("--http2-prior-knowledge")
        }
        if request.acceptsContentCoding { words.append("--compressed") }
        for line in options.headerLines { words += ["--header", redacted(line)] }
        // Otherwise curl sends its own.
        if request.fields["User-Agent"] == nil { words += ["--header", "User-Agent:"] }
        if let timeout = options.connectTimeout, timeout < Self.longestTimeout {
            words += ["--connect-timeout", Self.seconds(max(0.001, timeout))]
        }
        if request.idleTimeout > 0, request.idleTimeout < Self.longestTimeout {
            words += ["--speed-limit", "1", "--speed-time", String(Int(request.idleTimeout.rounded(.up)))]
        }
        words += connectionWords
        words += ["--url", redacts ? Redaction.text(ofURL: options.url) : options.url]
        let command = words.map(ShellText.word).joined(separator: " ")
        let whole = source.map { $0 + " | " + command } ?? command
        return missing.isEmpty ? whole : whole + " # without " + missing.joined(separator: ", ")
    }

    /// The parts of the request that the command line leaves out.
    private var missing: [String] {
        let domain = request.trustDomain
        var missing: [String] = []
        if isStream { missing.append("the body, which comes from a stream") }
        if domain.identity != nil { missing.append("the client's certificate") }
        if case .certificates = domain.anchors { missing.append("the trusted certificates") }
        if domain.policy.pinningMode == .certificate { missing.append("the pinned certificates") }
        if hasCredential { missing.append("the credential") }
        return missing
    }

    /// The options for trust and proxy. Without them, curl would look for a proxy in the environment.
    private var connectionWords: [String] {
        var words: [String] = []
        switch request.trustDomain.anchors {
        case .file(let url): words += ["--cacert", url.path]
        case .directory(let url): words += ["--capath", url.path]
        case .system, .certificates: break
        }
        let policy = request.trustDomain.policy
        if policy.pinningMode == .publicKey {
            let pins = policy.pinnedPublicKeys.union(
                policy.pinnedCertificates.compactMap { try? PublicKeyPin($0) }
            )
            // curl only checks the server's own key: it rejects a server that matches only an authority's
            // pin.
            words += ["--pinnedpubkey", pins.map(\.description).sorted().joined(separator: ";")]
        }
        if policy.allowInvalidCertificates, !policy.validatesDomainName { words.append("--insecure") }
        let versions = request.trustDomain.versions
        if versions != TLSVersion.defaultRange {
            words += ["--tlsv" + versions.lowerBound.text, "--tls-max", versions.upperBound.text]
        }
        guard let proxy = request.trustDomain.proxy else { return words + ["--noproxy", "*"] }
        words += ["--noproxy", "", "--proxy", proxy.address]
        if proxy.hasCredentials {
            // Without the colon curl would prompt for a password.
            let (user, password) =
                redacts ? (Redaction.mark, Redaction.mark) : (proxy.user ?? "", proxy.password ?? "")
            words += ["--proxy-user", user + ":" + password]
            // As in a transfer, except for Negotiate; without this, curl sends Basic.
            if proxy.kind == .http { words.append("--proxy-anyauth") }
        }
        if let authorization = request.trustDomain.proxyAuthorization {
            words += ["--proxy-header", redacted("Proxy-Authorization: " + authorization)]
        }
        return words
    }

    // MARK: - The body

    /// - Returns: the command to pipe into curl, if the body is not an argument.
    private func addBody(to words: inout [String]) -> String? {
        let segments = body?.segments ?? []
        words.append("--data-binary")
        if segments.count == 1, case .file(let path, _) = segments[0] {
            words.append("@" + path)
            return nil
        }
        if segments.count <= 1, let text = argument(segments.first) {
            words.append(text)
            return nil
        }
        words.append("@-")
        let parts = segments.map { segment in
            switch segment {
            case .data(let data): ShellText.printing(shown(data))
            case .file(let path, _): "cat -- " + ShellText.word(path)
            case .stream: ":"
            }
        }
        return parts.count == 1 ? parts[0] : "{ " + parts.joined(separator: "; ") + "; }"
    }

    /// Returns a body that is text and can be an argument; curl would read a leading `@` as a file.
    private func argument(_ segment: BodySegment?) -> String? {
        guard let segment else { return "" }
        guard case .data(let data) = segment, data.count <= Self.longestArgument,
            let text = String(validating: shown(data), as: UTF8.self), !text.hasPrefix("@"),
            !text.utf8.contains(0)
        else { return nil }
        return text
    }

    // MARK: - Secrets

    private func redacted(_ line: String) -> String {
        guard redacts, let colon = line.firstIndex(of: ":") else { return line }
        let name = String(line[..<colon])
        // The address of another page, which may contain secrets, too.
        if name.isEqualIgnoringASCIICase(to: "Referer") {
            return name + Redaction.text(ofURL: String(line[colon...]))
        }
        guard Redaction.isSecret(name), colon < line.index(before: line.endIndex) else { return line }
        return name + ": " + Redaction.mark
    }

    private func shown(_ data: Data) -> Data {
        guard redacts, let type = request.fields["Content-Type"]?.lowercased() else { return data }
        if type.hasPrefix("application/x-www-form-urlencoded") { return Redaction.form(data) }
        if type.contains("json") { return Redaction.json(data) }
        return data
    }

    private static func seconds(_ seconds: Double) -> String {
        seconds.rounded() == seconds ? String(Int(seconds)) : String(seconds)
    }
}

/// Quotes words of a command line for `sh`.
enum ShellText {
    /// Returns the text as one word. No shell supports a NUL in a word.
    static func word(_ text: String) -> String {
        let isPlain =
            !text.isEmpty
            && text.utf8.allSatisfy {
                $0.isASCIIDigit || ($0.lowercasedASCII &- UInt8(ascii: "a")) < 26 || plain.contains($0)
            }
        return isPlain ? text : "'" + text.replacingOccurrences(of: "'", with: "'\\''") + "'"
    }

    private static let plain = Set("-_./:@%+,=".utf8)

    /// Returns a command that prints these bytes: `printf` with octal escapes, which is built into every
    /// shell.
    static func printing(_ data: Data) -> String {
        var text = ""
        for octet in data {
            let isPlain =
                octet.isASCIIDigit || (octet.lowercasedASCII &- UInt8(ascii: "a")) < 26 || octet == 0x20
            if isPlain {
                text.unicodeScalars.append(Unicode.Scalar(octet))
            } else {
                text += "\\" + String(octet + 0, radix: 8).leftPadded(to: 3)
            }
        }
        return "printf '\(text)'"
    }
}

extension String {
    fileprivate func leftPadded(to count: Int) -> String {
        String(repeating: "0", count: Swift.max(0, count - self.count)) + self
    }
}

extension ConnectionOperation {
    /// Returns a command line for `sh` with which curl(1) sends the operation's request: method, URL, header
    /// fields, body, HTTP version, timeouts, certificate authorities and proxy, but not the client's
    /// certificate. It can be pasted as it is.
    ///
    /// Bytes that do not fit into an argument are piped into curl; files are read by curl itself. A body from
    /// a stream is left out, with a comment. Redirects are not followed. If a proxy offers Negotiate, curl
    /// uses that instead of the user and password.
    ///
    /// - Parameter redactingSecrets: whether to replace secrets by `REDACTED`: user and password of the URL,
    ///   its fragment, and everything with a name that indicates a secret: fields such as `Authorization` and
    ///   `Cookie`, values of the query or a form, and strings and numbers of JSON. JSON that is not UTF-8 is
    ///   not shown. Other bodies are shown as they are.
    /// - Returns: the command, or a comment with the reason if the request cannot be sent.
    public func curlCommand(redactingSecrets: Bool = true) -> String {
        let (configuration, request) = state.withLock { state in
            var configuration = state.configuration
            complete(&configuration, state)
            return (configuration, state.request)
        }
        do {
            return try CurlCommandLine(configuration, redacts: redactingSecrets).text
        } catch {
            return "# " + Redaction.text(of: error, in: request)
        }
    }
}
