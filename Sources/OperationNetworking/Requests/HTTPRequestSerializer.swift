public import Foundation
public import FoundationNetworking

/// Parameters as a query or as a form, and the fields that all requests of a client share.
///
/// | Method                                 | Parameters                                                    |
/// |----------------------------------------|---------------------------------------------------------------|
/// | ``httpMethodsEncodingParametersInURI`` | go behind the URL's query; empty ones add nothing             |
/// | any other                              | are the body, an `application/x-www-form-urlencoded` one      |
///
/// ``QueryString`` has the rules of the encoding.
public struct HTTPRequestSerializer: RequestSerializer, EncodedParametersTaking, Codable {
    /// Makes the query from the request and its parameters, instead of ``QueryString``.
    public typealias QueryStringSerialization =
        @Sendable (_ request: URLRequest, _ parameters: Any) throws -> String

    private var format = ArchiveFormat()

    /// The character encoding of a form's text. ``QueryString`` is ASCII, so this matters only to a
    /// ``queryStringSerialization`` of your own, and to the text in forms of several parts.
    public var stringEncoding: String.Encoding {
        get { encoding.value }
        set { encoding.value = newValue }
    }
    private var encoding = RawCoded(String.Encoding.utf8)

    /// The methods whose parameters go into the URL, in upper case.
    public var httpMethodsEncodingParametersInURI: Set<String> = ["GET", "HEAD", "DELETE"]

    /// The style in which ``QueryString`` writes arrays.
    public var arrayStyle = QueryString.ArrayStyle.brackets

    /// Replaces the encoding of parameters for URL and body alike. What it throws is what the request throws;
    /// it is not called when there are no parameters.
    ///
    /// A serializer with one cannot be encoded.
    public var queryStringSerialization: QueryStringSerialization? {
        get { queryStringSerializationClosure?.closure }
        set { queryStringSerializationClosure = newValue.map { UncodableClosure($0) } }
    }
    private var queryStringSerializationClosure: UncodableClosure<QueryStringSerialization>?

    /// The time limit, in seconds without progress, of a request made from its parts; `nil` leaves
    /// Foundation's 60.
    public var timeoutInterval: TimeInterval? {
        get { timeout?.value }
        set { timeout = newValue.map { CodedDouble($0) } }
    }
    private var timeout: CodedDouble?

    /// The cache policy of a request made from its parts; `nil` leaves Foundation's. It counts for the
    /// ``TransferConfigurable/cache``, and for the kept images of `ImageCache` and `ImageDownloader` of
    /// `OperationNetworkingImages`.
    public var cachePolicy: URLRequest.CachePolicy? {
        get { policy?.value }
        set { policy = newValue.map { RawCoded($0) } }
    }
    private var policy: RawCoded<URLRequest.CachePolicy>?

    /// Whether a request made from its parts sends the cookies of the operation's cookie jar, and whether
    /// those of its responses are kept there; `nil` leaves Foundation's, which is `true`.
    public var httpShouldHandleCookies: Bool?

    private(set) var fields = DefaultHeaders.ofProcess

    /// A serializer with an `Accept-Language` from the environment's locale and a `User-Agent` that names the
    /// process and the system.
    public init() {}

    // MARK: - Fields of every request

    /// The fields that are added to a request which does not have them.
    public var httpRequestHeaders: [String: String] { fields.dictionary }

    /// The value of a field whatever the case of its name, `nil` when it is not set.
    public func value(forHTTPHeaderField name: String) -> String? {
        fields[name]
    }

    /// Sets a field whatever the case of its name; `nil` removes it.
    ///
    /// - Throws: ``RequestSerializationError/invalidFieldName(_:)`` or
    ///   ``RequestSerializationError/invalidFieldValue(name:)``; the serializer is then as it was.
    @_disfavoredOverload
    public mutating func setValue(
        _ value: String?,
        forHTTPHeaderField name: String
    ) throws(RequestSerializationError) {
        try RequestSerializationError.check(name: name, value: value ?? "")
        fields[name] = value
    }

    /// As ``timeoutInterval``.
    public mutating func setTimeoutInterval(_ seconds: TimeInterval?) {
        timeoutInterval = seconds
    }

    /// As ``cachePolicy``.
    public mutating func setCachePolicy(_ policy: URLRequest.CachePolicy?) {
        cachePolicy = policy
    }

    /// As ``httpShouldHandleCookies``.
    public mutating func setHTTPShouldHandleCookies(_ handlesCookies: Bool?) {
        httpShouldHandleCookies = handlesCookies
    }

    /// Sets `Authorization` to the Basic scheme of [RFC 7617](https://www.rfc-editor.org/rfc/rfc7617), in
    /// UTF-8. A user name with a colon cannot be told from its password by the server.
    public mutating func setAuthorization(username: String, password: String) {
        fields["Authorization"] = basicAuthorization(username, password)
    }

    // MARK: - RequestSerializer

    /// A request with the time-out, cache policy and cookie rule that were set.
    public func emptyRequest(method: String, url: URL, headers: [String: String]) throws -> URLRequest {
        var request = try URLRequest(url: url, method: method, headers: headers)
        if let timeoutInterval { request.timeoutInterval = timeoutInterval }
        if let cachePolicy { request.cachePolicy = cachePolicy }
        if let httpShouldHandleCookies { request.httpShouldHandleCookies = httpShouldHandleCookies }
        return request
    }

    /// The request with its parameters as a query or as a form, and the serializer's fields where it has
    /// none. Without parameters a body stays as it is, and a request without one gets an empty form.
    public func request(
        bySerializing request: URLRequest,
        with parameters: Any?
    ) throws -> URLRequest {
        var serialized = try addingFields(to: request)
        let query = try parameters.map { try encode($0, for: request) } ?? ""
        if encodesParametersInURI(of: request) {
            if !query.isEmpty { serialized.url = try request.url.map { try $0.appending(query: query) } }
        } else if parameters != nil || (request.httpBody == nil && request.httpBodyStream == nil) {
            if serialized.value(forHTTPHeaderField: "Content-Type") == nil {
                serialized.setValue("application/x-www-form-urlencoded", forHTTPHeaderField: "Content-Type")
            }
            guard let body = query.data(using: stringEncoding) else {
                throw RequestSerializationError.unencodableBody(stringEncoding)
            }
            serialized.httpBody = body
        }
        return serialized
    }

    // MARK: - For serializers with a body of their own

    func encodesParametersInURI(of request: URLRequest) -> Bool {
        httpMethodsEncodingParametersInURI.contains((request.httpMethod ?? "GET").uppercased())
    }

    /// The request with the fields that it does not have.
    func addingFields(to request: URLRequest) throws(RequestSerializationError) -> URLRequest {
        let method = request.httpMethod ?? "GET"
        guard method.isHTTPToken else { throw .invalidMethod(method) }
        for (name, value) in request.allHTTPHeaderFields ?? [:] {
            try RequestSerializationError.check(name: name, value: value)
        }
        var request = request
        for field in fields.fields where request.value(forHTTPHeaderField: field.name) == nil {
            request.setValue(field.value, forHTTPHeaderField: field.name)
        }
        return request
    }

    // MARK: - Private

    private func encode(_ parameters: Any, for request: URLRequest) throws -> String {
        if let queryStringSerialization {
            return try queryStringSerialization(request, EncodedParameters.unwrapped(parameters))
        }
        return try QueryString(untyped: parameters, arrayStyle: arrayStyle).description
    }
}

extension URL {
    /// The URL with `query` behind its own query and before its fragment. Not by `URLComponents`, which traps
    /// on a query that is not escaped.
    fileprivate func appending(query: String) throws(RequestSerializationError) -> URL {
        let text = absoluteString
        let fragment = text.firstIndex(of: "#") ?? text.endIndex
        let base = text[..<fragment]
        // A path may have a `&` in it, and a query a `?` (RFC 3986 §3.3, §3.4).
        let separator =
            if let mark = base.firstIndex(of: "?") {
                base.index(after: mark) == base.endIndex || base.last == "&" ? "" : "&"
            } else {
                "?"
            }
        let whole = base + separator + query + text[fragment...]
        guard let url = URL(reference: String(whole)) else { throw .invalidURL(String(whole)) }
        return url
    }
}
