public import Foundation
public import FoundationNetworking

extension RequestSerializer {
    /// A request whose body is a form of several parts: first the parameters, in the order of
    /// ``QueryString``, then what the closure appends. Without any part it is the request without a body of
    /// parts.
    ///
    /// The request has its body, its `Content-Type` and its `Content-Length` before
    /// ``request(bySerializing:with:)`` gets it, without parameters: a serializer that signs requests signs what
    /// is sent.
    ///
    /// - Parameters:
    ///   - method: one that sends a body: not GET or HEAD.
    ///   - url: absolute.
    ///   - parameters: `Data` is sent as it is, null as an empty part, anything else as its text, in the
    ///     ``HTTPRequestSerializer/stringEncoding`` of the serializer.
    ///   - headers: fields of this one request. `Content-Type` and `Content-Length` are the form's.
    ///   - constructBody: appends parts; called before this returns.
    /// - Returns: a request whose ``FoundationNetworking/URLRequest/bodySource`` is the form.
    /// - Throws: ``RequestSerializationError``, ``RequestBodyError``, and what the closure throws.
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

    /// The same request without its body, which is written to a file: for an API that uploads files.
    ///
    /// - Parameters:
    ///   - request: with a ``FoundationNetworking/URLRequest/bodySource``.
    ///   - file: replaced when it exists; there only when the form is whole.
    /// - Returns: the request, with the fields that describe the form.
    /// - Throws: as ``BodySource/write(to:)``; ``RequestBodyError/noBodySource`` for a request without one.
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

/// The parameters of a form, each with the name it has in a ``QueryString`` and with its value as it is: a
/// part may be bytes, which a query cannot hold.
struct FormLeaves {
    /// A part of the form.
    enum Value {
        case data(Data)
        case text(String)
    }

    private(set) var leaves: [(name: String, value: Value)] = []
    /// The name of what is being written.
    private(set) var name = ""

    private init() {}

    /// The parts, in the order of ``QueryString``.
    ///
    /// - Throws: as ``QueryString/init(_:arrayStyle:)``.
    init(_ parameters: [String: Any], arrayStyle: QueryString.ArrayStyle) throws {
        let tree = try ParameterTree(parameters, for: .form(isEncoded: false))
        guard case .dictionary(let names, let values) = tree else { return }  // it is one
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
