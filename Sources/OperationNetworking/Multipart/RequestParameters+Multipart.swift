public import Foundation
public import FoundationNetworking

/// A multipart form as parameters: see ``RequestParameters/form(_:constructingBody:)``.
public struct FormParameters: RequestParameters {
    let fields: [String: Any]
    let constructBody: (inout MultipartFormData) throws -> Void

    /// Returns a request with the form, as from
    /// ``RequestSerializer/multipartFormRequest(method:url:parameters:headers:constructingBody:)``.
    public func request(
        method: String,
        url: URL,
        headers: [String: String],
        by serializer: any RequestSerializer
    ) throws -> URLRequest {
        try serializer.multipartFormRequest(
            method: method,
            url: url,
            parameters: fields,
            headers: headers,
            constructingBody: constructBody
        )
    }
}

extension RequestParameters where Self == FormParameters {
    /// A multipart form.
    ///
    /// - Parameters:
    ///   - fields: the first parts.
    ///   - constructBody: appends further parts. Called once, before the verb returns or first suspends. The
    ///     request fails with any error that it throws.
    /// - Returns: the parameters, for one request: a stream among the parts can be read only once.
    public static func form(
        _ fields: [String: Any] = [:],
        constructingBody constructBody: @escaping (inout MultipartFormData) throws -> Void
    ) -> Self {
        FormParameters(fields: fields, constructBody: constructBody)
    }
}

/// A body that is sent as it is: see ``RequestParameters/body(_:)``.
public struct BodyParameters: RequestParameters {
    let source: BodySource

    /// Returns a request with the body. Unless `headers` contains a `Content-Type`, it is the type of the
    /// file extension, or `application/octet-stream`.
    public func request(
        method: String,
        url: URL,
        headers: [String: String],
        by serializer: any RequestSerializer
    ) throws -> URLRequest {
        guard !["GET", "HEAD"].contains(method.uppercased()) else {
            throw RequestBodyError.methodWithoutBody(method)
        }
        var request = try serializer.emptyRequest(method: method, url: url, headers: headers)
        if !headers.keys.contains(where: { $0.isEqualIgnoringASCIICase(to: "Content-Type") }) {
            // The serializer's own type describes parameters, of which there are none.
            try RequestSerializationError.check(name: "Content-Type", value: source.mediaType)
            request.setValue(source.mediaType, forHTTPHeaderField: "Content-Type")
        }
        request.bodySource = source
        return try serializer.request(bySerializing: request, with: nil)
    }
}

extension RequestParameters where Self == BodyParameters {
    /// A file, data or a stream that is sent as it is, with a method that has a body.
    public static func body(_ source: BodySource) -> Self {
        BodyParameters(source: source)
    }
}
