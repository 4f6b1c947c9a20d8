public import Foundation
public import FoundationNetworking

extension RequestSerializer {
    /// Creates a request with a multipart form as its body: first the parameters, in the order of
    /// ``QueryString``, then the parts that the closure appends. Without any parts, the request has no form.
    ///
    /// ``request(bySerializing:with:)`` receives the request without parameters, after its body,
    /// `Content-Type` and `Content-Length` are set, so a serializer sees the final type and length. To sign
    /// requests, use a ``RequestAdapter``.
    ///
    /// - Parameters:
    ///   - method: a method that sends a body: not GET or HEAD.
    ///   - url: an absolute URL.
    ///   - parameters: the first parts. `Data` is sent as it is, a null as an empty part, anything else as
    ///     text in the serializer's ``HTTPRequestSerializer/stringEncoding``.
    ///   - headers: fields of this request. `Content-Type` and `Content-Length` are those of the form.
    ///   - constructBody: appends parts; called before this method returns.
    /// - Returns: a request whose ``FoundationNetworking/URLRequest/bodySource`` is the form.
    /// - Throws: ``RequestSerializationError``, ``RequestBodyError``, and any error of the closure.
    public func multipartFormRequest(
        method: String,
        url: URL,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        constructingBody constructBody: (inout MultipartFormData) throws -> Void = { _ in }
    ) throws -> URLRequest {
        guard !["GET", "HEAD"].contains(method.uppercased()) else {
            throw RequestBodyError.methodWithoutBody(method)
        }
        var request = try emptyRequest(method: method, url: url, headers: headers)
        var form = MultipartFormData()
        let leaves = try FormLeaves(parameters ?? [:], arrayStyle: settings?.arrayStyle ?? .brackets)
        try form.append(leaves, settings?.stringEncoding ?? .utf8)
        try constructBody(&form)
        if !form.isEmpty {
            request.bodySource = form.body
            request.setValue(form.contentType, forHTTPHeaderField: "Content-Type")
        }
        return try self.request(bySerializing: request, with: nil)
    }

    /// The settings, if this is one of the library's serializers.
    private var settings: HTTPRequestSerializer? {
        self as? HTTPRequestSerializer ?? (self as? any BodyRequestSerializer)?.base
    }

    /// Writes the request's body to a file and returns the request without it, for APIs that upload files.
    ///
    /// - Parameters:
    ///   - request: a request with a ``FoundationNetworking/URLRequest/bodySource``.
    ///   - file: the location of the file, which is replaced atomically.
    /// - Returns: the request with the fields that describe the form.
    /// - Throws: the errors of ``BodySource/write(to:)``; ``RequestBodyError/noBodySource`` if the request
    ///   has none.
    public func request(
        withMultipartFormRequest request: URLRequest,
        writingStreamContentsToFile file: URL
    ) async throws -> URLRequest {
        guard let body = request.bodySource else { throw RequestBodyError.noBodySource }
        try await body.write(to: file)
        var bare = request
        bare.httpBodyStream = nil
        return bare
    }
}

extension MultipartFormData {
    fileprivate mutating func append(_ leaves: FormLeaves, _ encoding: String.Encoding)
        throws(RequestBodyError)
    {
        for (name, value) in leaves.leaves {
            switch value {
            case .data(let data):
                appendPart(withFormData: data, name: name)
            case .text(let text):
                guard let data = text.data(using: encoding) else {
                    throw .unencodableText(part: name, encoding)
                }
                appendPart(withFormData: data, name: name)
            }
        }
    }
}

/// The parameters of a form, with the names of ``QueryString``. Unlike in a query, a value may be bytes.
struct FormLeaves {
    /// A part of the form.
    enum Value {
        case data(Data)
        case text(String)
    }

    private(set) var leaves: [(name: String, value: Value)] = []
    /// The current name.
    private(set) var name = ""

    private init() {}

    /// The parts, in the order of ``QueryString``.
    ///
    /// - Throws: the errors of ``QueryString/init(_:arrayStyle:)``.
    init(_ parameters: [String: Any], arrayStyle: QueryString.ArrayStyle) throws {
        let tree = try ParameterTree(parameters, for: .form(isEncoded: false))
        guard case .dictionary(let names, let values) = tree else { return }  // always a dictionary
        let walk = ParameterWalk(names: names, values: values, arrayStyle: arrayStyle, to: FormLeaves())
        self = walk.writer
    }
}

// MARK: - ParameterWriter

extension FormLeaves: ParameterWriter {
    static var keepsData: Bool { true }

    mutating func extendName(by text: String) {
        name += text
    }

    mutating func restoreName(_ name: String) {
        self.name = name
    }

    mutating func write(data: Data) {
        leaves.append((name, .data(data)))
    }

    mutating func write(text: String) {
        leaves.append((name, .text(text)))
    }

    mutating func write(list: [String]) {
        write(text: list.joined(separator: ","))
    }

    mutating func writeNull() {
        write(text: "")
    }
}
