public import Foundation
public import FoundationNetworking

/// Turns what a caller has (method, URL, parameters, fields) into the request that is sent.
///
/// A serializer is a value and keeps nothing between calls, so one can serve every operation of a manager at
/// once. It runs on the thread of the caller that asks for the request.
public protocol RequestSerializer: Sendable {
    /// The request with `parameters` put where this kind of serializer puts them.
    ///
    /// Fields that the request already has stay as they are; the serializer's own are added for the others.
    ///
    /// - Parameters:
    ///   - request: with its method, URL and fields.
    ///   - parameters: a dictionary for most serializers; `nil` when there are none.
    /// - Returns: a request that is ready to be sent.
    /// - Throws: anything; the caller gets what was thrown. Ours throw ``RequestSerializationError``.
    func request(bySerializing request: URLRequest, with parameters: (any Sendable)?) throws -> URLRequest

    /// A request made from its parts.
    ///
    /// - Parameters:
    ///   - method: sent as given, upper case for the methods that HTTP defines.
    ///   - url: absolute.
    ///   - parameters: as for ``request(bySerializing:with:)``.
    ///   - headers: fields of this one request; they win over those of the serializer.
    /// - Returns: a request that is ready to be sent.
    /// - Throws: ``RequestSerializationError`` for a method or a field that cannot be sent, and whatever
    ///   ``request(bySerializing:with:)`` throws.
    func request(
        method: String,
        url: URL,
        parameters: (any Sendable)?,
        headers: [String: String]
    ) throws -> URLRequest
}

extension RequestSerializer {
    /// Makes a plain request of the method, the URL and the headers, and hands it to
    /// ``request(bySerializing:with:)``.
    public func request(
        method: String,
        url: URL,
        parameters: (any Sendable)?,
        headers: [String: String] = [:]
    ) throws -> URLRequest {
        let request = try URLRequest(url: url, method: method, headers: headers)
        return try self.request(bySerializing: request, with: parameters)
    }
}

extension URLRequest {
    /// A request whose method and fields are known to be sendable.
    init(url: URL, method: String, headers: [String: String]) throws(RequestSerializationError) {
        guard method.isHTTPToken else { throw .invalidMethod(method) }
        self.init(url: url)
        httpMethod = method
        // In an order, since of two names that differ in case only the last one counts.
        for (name, value) in headers.sorted(by: { $0.key < $1.key }) {
            try RequestSerializationError.check(name: name, value: value)
            setValue(value, forHTTPHeaderField: name)
        }
    }
}
