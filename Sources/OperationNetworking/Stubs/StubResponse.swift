public import Foundation

/// A response or failure of ``RequestStubs``, and its timing.
///
/// ```swift
/// let responses: [StubResponse] = [
///     .json(["id": 1, "name": "Ann"]).delayed(by: 0.2),
///     .content(data, entityTag: "\"v1\"").breaking(after: 1000),
///     .failure(URLError(.notConnectedToInternet)),
/// ]
/// ```
public struct StubResponse: Sendable {
    enum Content: Sendable {
        case message(StubMessage)
        /// Bytes that support conditions and ranges.
        case representation(StubRepresentation)
        case failure(any Error)
    }

    private(set) var content: Content
    private(set) var delay: TimeInterval = 0
    private(set) var pieceSize = 64 * 1024
    private(set) var interval: TimeInterval = 0
    /// The number of body bytes after which the connection breaks.
    private(set) var breakOffset: Int?
    private(set) var sendsLength = true

    private init(_ content: Content) {
        self.content = content
    }

    // MARK: - Kinds

    /// A status, header fields and a body. `Content-Length` is added automatically.
    public static func response(
        _ statusCode: Int = 200,
        headers: [String: String] = [:],
        body: Data = Data()
    ) -> StubResponse {
        StubResponse(
            .message(StubMessage(status: statusCode, fields: HeaderFields(headers), body: body))
        )
    }

    /// UTF-8 text of type `text/plain`.
    public static func text(
        _ text: String,
        statusCode: Int = 200,
        headers: [String: String] = [:]
    ) -> StubResponse {
        typed("text/plain; charset=utf-8", statusCode, headers, Data(text.utf8))
    }

    /// A dictionary of mixed values as `application/json`, encoded like ``JSONRequestSerializer``. If it
    /// cannot be encoded, the request fails.
    public static func json(
        _ object: [String: Any],
        statusCode: Int = 200,
        headers: [String: String] = [:]
    ) -> StubResponse {
        json(of: object, statusCode, headers)
    }

    /// An array of mixed values as JSON.
    public static func json(
        _ array: [Any],
        statusCode: Int = 200,
        headers: [String: String] = [:]
    ) -> StubResponse {
        json(of: array, statusCode, headers)
    }

    /// An encoded value as JSON.
    public static func json(
        _ value: some Encodable,
        statusCode: Int = 200,
        headers: [String: String] = [:]
    ) -> StubResponse {
        json(of: value, statusCode, headers)
    }

    /// JSON text that is sent as it is.
    public static func json(
        text: String,
        statusCode: Int = 200,
        headers: [String: String] = [:]
    ) -> StubResponse {
        typed("application/json", statusCode, headers, Data(text.utf8))
    }

    /// A redirect without a body. `location` is a URL, absolute or relative to the request's.
    public static func redirect(to location: String, statusCode: Int = 302) -> StubResponse {
        response(statusCode, headers: ["Location": location])
    }

    /// Bytes that support range and conditional requests: a range is answered with 206 or 416, conditions
    /// with 304 or 412, as in [RFC 9110 §13 and §14](https://www.rfc-editor.org/rfc/rfc9110#section-13).
    ///
    /// `data` is the whole body. The other parameters are the values of `Content-Type`, `ETag` (with quotes)
    /// and `Last-Modified` (to the second); `nil` omits the field. `headers` are further fields of responses
    /// with 200, 206 and 304; a `Content-Type` or `Accept-Ranges` in them, or in ``header(_:_:)``, takes
    /// precedence.
    public static func content(
        _ data: Data,
        contentType: String? = "application/octet-stream",
        entityTag: String? = nil,
        lastModified: Date? = nil,
        headers: [String: String] = [:]
    ) -> StubResponse {
        StubResponse(
            .representation(
                StubRepresentation(
                    body: data,
                    contentType: contentType,
                    entityTag: entityTag,
                    lastModified: lastModified.map { HTTPDate($0) },
                    fields: HeaderFields(headers)
                )
            )
        )
    }

    /// A transport failure with this error, such as a `URLError`.
    public static func failure(_ error: any Error) -> StubResponse {
        StubResponse(.failure(error))
    }

    // MARK: - Refinements

    /// Adds a field to the response. Keeps others with the same name, such as another `Set-Cookie`.
    public func header(_ name: String, _ value: String) -> StubResponse {
        changed { response in
            switch response.content {
            case .message(var message):
                if message.hasDefaultType, name.isEqualIgnoringASCIICase(to: "Content-Type") {
                    message.fields["Content-Type"] = nil
                    message.hasDefaultType = false
                }
                message.fields.append(name: name, value: value)
                response.content = .message(message)
            case .representation(var representation):
                representation.fields.append(name: name, value: value)
                response.content = .representation(representation)
            case .failure:
                break
            }
        }
    }

    /// Delays the head, or the failure, by this many seconds. A request with a shorter `timeoutInterval`
    /// times out.
    public func delayed(by seconds: TimeInterval) -> StubResponse {
        changed { $0.delay = max(0, seconds) }
    }

    /// Delivers the body in pieces of at most `size` bytes, with this many seconds between them.
    public func inPieces(of size: Int, every seconds: TimeInterval = 0) -> StubResponse {
        changed { response in
            response.pieceSize = max(1, size)
            response.interval = max(0, seconds)
        }
    }

    /// Breaks the connection after this many bytes of the body; the request fails as if the server had closed
    /// it.
    public func breaking(after count: Int) -> StubResponse {
        changed { $0.breakOffset = max(0, count) }
    }

    /// Omits `Content-Length`, as in a chunked response.
    public func withoutLength() -> StubResponse {
        changed { $0.sendsLength = false }
    }

    private func changed(_ change: (inout StubResponse) -> Void) -> StubResponse {
        var response = self
        change(&response)
        return response
    }

    private static func json(
        of value: Any,
        _ statusCode: Int,
        _ headers: [String: String]
    ) -> StubResponse {
        do {
            let body = try JSONRequestSerializer(writingOptions: .fragmentsAllowed).body(of: value)
            return typed("application/json", statusCode, headers, body)
        } catch {
            return .failure(error)
        }
    }

    private static func typed(
        _ type: String,
        _ statusCode: Int,
        _ headers: [String: String],
        _ body: Data
    ) -> StubResponse {
        var fields = HeaderFields(headers)
        let hasDefaultType = fields["Content-Type"] == nil
        if hasDefaultType { fields["Content-Type"] = type }
        let message = StubMessage(
            status: statusCode,
            fields: fields,
            body: body,
            hasDefaultType: hasDefaultType
        )
        return StubResponse(.message(message))
    }
}

/// The status, fields and body of a response.
struct StubMessage: Sendable {
    var status: Int
    var fields: HeaderFields
    var body: Data
    /// Whether the `Content-Type` is the default, which a caller's field replaces.
    var hasDefaultType = false
}
