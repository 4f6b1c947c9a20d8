public import Foundation
public import FoundationNetworking

/// Encodes parameters as a query or form, and adds the fields that all requests of a client share.
///
/// | Method                                 | Parameters                                              |
/// |----------------------------------------|---------------------------------------------------------|
/// | ``httpMethodsEncodingParametersInURI`` | are appended to the URL's query; empty ones add nothing |
/// | any other                              | become an `application/x-www-form-urlencoded` body      |
///
/// ``QueryString`` documents the encoding.
public struct HTTPRequestSerializer: RequestSerializer, EncodedParametersTaking, Codable {
    /// Encodes the parameters of a request instead of ``QueryString``.
    public typealias QueryStringSerialization =
        @Sendable (_ request: URLRequest, _ parameters: Any) throws -> String

    private var format = ArchiveFormat()

    /// The character encoding of form text. Defaults to UTF-8. A ``QueryString`` is ASCII, so this only
    /// affects a custom ``queryStringSerialization`` and the text in multipart forms.
    public var stringEncoding: String.Encoding {
        get { encoding.value }
        set { encoding.value = newValue }
    }
    private var encoding = RawCoded(String.Encoding.utf8)

    /// The methods, in upper case, whose parameters are encoded in the URL. Defaults to GET, HEAD and DELETE.
    public var httpMethodsEncodingParametersInURI: Set<String> = ["GET", "HEAD", "DELETE"]

    /// The style of arrays in queries and forms. Defaults to ``QueryString/ArrayStyle/brackets``.
    public var arrayStyle = QueryString.ArrayStyle.brackets

    /// Replaces the encoding of parameters in URLs and bodies. Errors that it throws are passed to the
    /// caller. Not called without parameters.
    ///
    /// A serializer with this closure cannot be encoded.
    public var queryStringSerialization: QueryStringSerialization? {
        get { queryStringSerializationClosure?.closure }
        set { queryStringSerializationClosure = newValue.map { UncodableClosure($0) } }
    }
    private var queryStringSerializationClosure: UncodableClosure<QueryStringSerialization>?

    /// The time limit, in seconds without progress, of requests that the serializer creates. `nil` (the
    /// default) means Foundation's 60.
    public var timeoutInterval: TimeInterval? {
        get { timeout?.value }
        set { timeout = newValue.map { CodedDouble($0) } }
    }
    private var timeout: CodedDouble?

    /// The cache policy of requests that the serializer creates. `nil` (the default) means Foundation's.
    /// Respected by ``TransferConfigurable/cache``, and by `ImageCache` and `ImageDownloader` of
    /// `OperationNetworkingImages`.
    public var cachePolicy: URLRequest.CachePolicy? {
        get { policy?.value }
        set { policy = newValue.map { RawCoded($0) } }
    }
    private var policy: RawCoded<URLRequest.CachePolicy>?

    /// Whether requests that the serializer creates send cookies from, and store cookies in, the operation's
    /// cookie jar. `nil` (the default) means Foundation's `true`.
    public var httpShouldHandleCookies: Bool?

    private(set) var fields = DefaultHeaders.ofProcess

    /// Creates a serializer with an `Accept-Language` from the environment's locale, and a `User-Agent` with
    /// the process and the system.
    public init() {}

    // MARK: - Fields of every request

    /// The fields that are added to requests that do not have them.
    public var httpRequestHeaders: [String: String] { fields.dictionary }

    /// Returns the value of a field, by case-insensitive name; `nil` if it is not set.
    public func value(forHTTPHeaderField name: String) -> String? {
        fields[name]
    }

    /// Sets a field, by case-insensitive name; `nil` removes it.
    ///
    /// - Throws: ``RequestSerializationError/invalidFieldName(_:)`` or
    ///   ``RequestSerializationError/invalidFieldValue(name:)``; the serializer is then unchanged.
    @_disfavoredOverload
    public mutating func setValue(
        _ value: String?,
        forHTTPHeaderField name: String
    ) throws(RequestSerializationError) {
        try RequestSerializationError.check(name: name, value: value ?? "")
        fields[name] = value
    }

    /// Sets ``timeoutInterval``.
    public mutating func setTimeoutInterval(_ seconds: TimeInterval?) {
        timeoutInterval = seconds
    }

    /// Sets ``cachePolicy``.
    public mutating func setCachePolicy(_ policy: URLRequest.CachePolicy?) {
        cachePolicy = policy
    }

    /// Sets ``httpShouldHandleCookies``.
    public mutating func setHTTPShouldHandleCookies(_ handlesCookies: Bool?) {
        httpShouldHandleCookies = handlesCookies
    }

    /// Sets `Authorization` to the Basic scheme of [RFC 7617](https://www.rfc-editor.org/rfc/rfc7617), in
    /// UTF-8. If the user name contains a colon, the server takes the rest of the name as part of the
    /// password.
    public mutating func setAuthorization(username: String, password: String) {
        fields["Authorization"] = basicAuthorization(username, password)
    }

    // MARK: - RequestSerializer

    /// Returns a request with the timeout, cache policy and cookie handling of the serializer.
    public func emptyRequest(method: String, url: URL, headers: [String: String]) throws -> URLRequest {
        var request = try URLRequest(url: url, method: method, headers: headers)
        if let timeoutInterval { request.timeoutInterval = timeoutInterval }
        if let cachePolicy { request.cachePolicy = cachePolicy }
        if let httpShouldHandleCookies { request.httpShouldHandleCookies = httpShouldHandleCookies }
        return request
    }

    /// Returns the request with its parameters as a query or form, and with the serializer's fields that it
    /// does not have. Without parameters a body is kept, and a request without a body gets an empty form.
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

    // MARK: - For body serializers

    func encodesParametersInURI(of request: URLRequest) -> Bool {
        httpMethodsEncodingParametersInURI.contains((request.httpMethod ?? "GET").uppercased())
    }

    /// Adds the fields that the request does not have.
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
    /// Returns the URL with `query` appended to its query, before the fragment. Does not use `URLComponents`,
    /// which traps on an unescaped query.
    fileprivate func appending(query: String) throws(RequestSerializationError) -> URL {
        let text = absoluteString
        let fragment = text.firstIndex(of: "#") ?? text.endIndex
        let base = text[..<fragment]
        // A path may contain `&`, and a query `?` (RFC 3986 §3.3, §3.4).
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
