import Foundation
internal import OperationNetworkingSystem

/// All that one transfer needs, decided before it starts.
struct TransferRequest: Sendable {
    var url: URL
    var method: String
    var fields: HeaderFields
    var body: RequestBody?
    var trustDomain: TrustDomain
    /// What libcurl proves to the server; the exchange sends tokens as a field.
    var authentication: CurlAuthentication?
    var version: TransferOptions.HTTPVersion
    /// Whether to ask for a content coding, and undo it.
    var acceptsContentCoding: Bool
    /// Whether the request may be sent again, by libcurl, when a connection that was used before died without a byte of
    /// an answer: the server may have acted on it
    /// ([RFC 9112 §9.3.1](https://www.rfc-editor.org/rfc/rfc9112#section-9.3.1)).
    var mayBeSentAgain: Bool
    /// Seconds without a byte in either direction after which the transfer fails; 0 or less: never.
    var idleTimeout: Double
    /// Seconds until the connection has to stand, TLS included; `nil`: for ever.
    var connectTimeout: Double?
    /// Bytes that a body may have after its content coding was undone.
    var maximumDecodedLength = Int64.max
    /// All of them hold for the request's body.
    var uploadLimits: [BandwidthLimit] = []
    /// All of them hold for the response's body.
    var downloadLimits: [BandwidthLimit] = []

    /// libcurl's form of it.
    var options: TransferOptions {
        TransferOptions(
            url: url.absoluteString,
            method: method,
            headerLines: headerLines,
            body: bodyLength,
            version: version,
            authoritiesFile: authoritiesFile,
            connectTimeout: connectTimeout,
            authentication: authentication
        )
    }

    private var bodyLength: TransferOptions.Body {
        guard let body else { return .none }
        return body.length.map { .length($0) } ?? .unknownLength
    }

    private var authoritiesFile: String? {
        switch trustDomain.anchors {
        case .system: nil
        case .file(let url): url.path
        }
    }

    private var headerLines: [String] {
        var lines = fields.fields.map { $0.value.isEmpty ? $0.name + ";" : $0.name + ": " + $0.value }
        if acceptsContentCoding { lines.append("Accept-Encoding: " + ContentDecoder.acceptEncoding) }
        // Added by libcurl otherwise: a pause of a second before a large body, and its own idea of a type.
        if body != nil {
            if fields["Expect"] == nil { lines.append("Expect:") }
            if fields["Content-Type"] == nil { lines.append("Content-Type:") }
        }
        if fields["Accept"] == nil { lines.append("Accept: */*") }
        return lines
    }
}

/// Names one transfer for as long as the process lives.
struct TransferID: Hashable, Sendable {
    private let number: UInt64

    private static let last = Locked<UInt64>(0)

    /// One that was not used before. Callable from any thread.
    static func next() -> TransferID {
        TransferID(
            number: last.withLock { last in
                last += 1
                return last
            }
        )
    }
}
