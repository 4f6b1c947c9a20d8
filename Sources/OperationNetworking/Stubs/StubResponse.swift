public import Foundation

/// A response that ``RequestStubs`` give, or a failure, and how it comes.
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
        /// Bytes that conditions and ranges are about.
        case representation(StubRepresentation)
        case failure(any Error)
    }

    private(set) var content: Content
    private(set) var delay: TimeInterval = 0
    private(set) var pieceSize = 64 * 1024
    private(set) var interval: TimeInterval = 0
    /// The number of bytes of the body after which the connection breaks.
    private(set) var breakOffset: Int?
    private(set) var tellsLength = true

    private init(_ content: Content) {
        self.content = content
    }

    // MARK: - Kinds

    /// A status, header fields and a body. `Content-Length` is added.
    public static func response(
        _ statusCode: Int = 200,
        headers: [String: String] = [:],
        body: Data = Data()
    ) -> StubResponse {
        StubResponse(
            .message(StubMessage(status: statusCode, fields: HeaderFields(headers), body: body))
        )
    }

    /// A text in UTF-8, of the type `text/plain`.
    public static func text(
        _ text: String,
        statusCode: Int = 200,
        headers: [String: String] = [:]
    ) -> StubResponse {
        typed("text/plain; charset=utf-8", statusCode, headers, Data(text.utf8))
    }

    /// A dictionary as JSON, of the type `application/json`: mixed values, written as ``JSONRequestSerializer``
    /// writes them. What cannot be written is the failure of the request.
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

    /// A text that is JSON, and is sent as it is.
    public static func json(
        text: String,
        statusCode: Int = 200,
        headers: [String: String] = [:]
    ) -> StubResponse {
        typed("application/json", statusCode, headers, Data(text.utf8))
    }

    /// A redirect without a body. `location` is a URL, or a reference that is relative to the request's.
    public static func redirect(to location: String, statusCode: Int = 302) -> StubResponse {
        response(statusCode, headers: ["Location": location])
    }

    /// Bytes that can be asked for in part, and under conditions: one range is answered by 206 or 416,
    /// conditions by 304 or 412, as [RFC 9110 §13 and §14](https://www.rfc-editor.org/rfc/rfc9110#section-13)
    /// have it.
    ///
    /// `data` is the whole. The others are the values of `Content-Type`, `ETag`, with its quotes, and
    /// `Last-Modified`, to the second; `nil` sends none. `headers` are further fields of the responses 200,
    /// 206 and 304; a `Content-Type` or an `Accept-Ranges` among them, or of ``header(_:_:)``, is what is
    /// sent.
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

    /// No response: the transport fails with this error, such as a `URLError`.
    public static func failure(_ error: any Error) -> StubResponse {
        StubResponse(.failure(error))
    }

    // MARK: - Refinements

    /// Adds a field to the response, beside others of the same name, such as another `Set-Cookie`.
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

    /// Lets the head, or the failure, come after this many seconds. A request whose `timeoutInterval` is
    /// shorter times out.
    public func delayed(by seconds: TimeInterval) -> StubResponse {
        changed { $0.delay = max(0, seconds) }
    }

    /// Lets the body come in pieces of at most `size` bytes, with this many seconds before each but the
    /// first.
    public func inPieces(of size: Int, every seconds: TimeInterval = 0) -> StubResponse {
        changed { response in
            response.pieceSize = max(1, size)
            response.interval = max(0, seconds)
        }
    }

    /// Breaks the connection after this many bytes of the body: the request fails as with a server that hangs
    /// up.
    public func breaking(after count: Int) -> StubResponse {
        changed { $0.breakOffset = max(0, count) }
    }

    /// Leaves `Content-Length` out, as a response in chunks does.
    public func withoutLength() -> StubResponse {
        changed { $0.tellsLength = false }
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

/// The status, the fields and the body of one response.
struct StubMessage: Sendable {
    var status: Int
    var fields: HeaderFields
    var body: Data
    /// Whether the `Content-Type` is that of the kind of body, for which a field of the caller's stands.
    var hasDefaultType = false
}
