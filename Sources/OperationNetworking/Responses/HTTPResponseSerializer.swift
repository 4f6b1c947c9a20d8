public import Foundation
public import FoundationNetworking

/// A serializer that validates the status code and the media type, and returns the body unchanged.
///
/// The object is always a `Data`, which is empty if the response has no body (204, HEAD). The error for an
/// unacceptable response has the body as its ``ResponseSerializationError/responseObject``.
public struct HTTPResponseSerializer: MessageSerializer, Hashable, ArchivableResponseSerializer {
    private var format = ArchiveFormat()

    /// The acceptable status codes. Defaults to 200 to 299; `nil` accepts any.
    public var acceptableStatusCodes: IndexSet? {
        get {
            statusCodes?.reduce(into: IndexSet()) { set, range in
                // Other integers in the set would trap, and an archive may contain them.
                let range = range.clamped(to: 0..<Int.max - 1)
                if !range.isEmpty { set.insert(integersIn: range) }
            }
        }
        set { statusCodes = newValue.map { Array($0.rangeView) } }
    }
    private var statusCodes: [Range<Int>]? = Self.successful

    /// The acceptable media types, such as `text/html`, `text/*` or `application/*+json`, in any case. `nil`
    /// (the default) accepts any type. The type of an empty body is ignored.
    public var acceptableContentTypes: Set<String>?

    /// Shared, because an array is an allocated object.
    private static let successful = [200..<300]

    /// Creates a serializer that accepts 200 to 299 and these media types, or any.
    public init(acceptableContentTypes: Set<String>? = nil) {
        self.acceptableContentTypes = acceptableContentTypes
    }

    /// Equivalent to setting ``acceptableStatusCodes``.
    public mutating func setAcceptableStatusCodes(_ statusCodes: IndexSet?) {
        acceptableStatusCodes = statusCodes
    }

    /// Equivalent to setting ``acceptableContentTypes``.
    public mutating func setAcceptableContentTypes(_ contentTypes: Set<String>?) {
        acceptableContentTypes = contentTypes
    }

    // MARK: - ResponseSerializer

    /// Returns the body of an acceptable response.
    ///
    /// - Parameters:
    ///   - response: the head.
    ///   - data: the whole body.
    /// - Returns: a `Data`, which is empty if the response has no body.
    /// - Throws: ``ResponseSerializationError``.
    public func responseObject(for response: HTTPURLResponse?, data: Data?) throws -> (any Sendable)? {
        try responseObject(of: ReceivedMessage(response, data))
    }

    func responseObject(of message: ReceivedMessage) throws -> (any Sendable)? {
        do {
            try validate(message)
        } catch {
            var error = error
            error.responseObject = message.data ?? Data()
            throw error
        }
        return message.data ?? Data()
    }

    func isQuick(byteCount: Int?) -> Bool { true }

    /// Validates the media type and the status code of a response, without reading the body.
    ///
    /// Call this first in serializers of your own.
    ///
    /// - Parameters:
    ///   - response: the head. Without one, everything is valid.
    ///   - data: the whole body.
    /// - Throws: an error for the status or the media type. If both are unacceptable, the error for the media
    ///   type is the underlying error of that for the status.
    public func validate(_ response: HTTPURLResponse?, data: Data?) throws(ResponseSerializationError) {
        try validate(ReceivedMessage(response, data))
    }

    func validate(_ message: ReceivedMessage) throws(ResponseSerializationError) {
        guard let response = message.response else { return }
        try validate(response, data: message.data, hasBody: message.data?.isEmpty == false)
    }

    /// Validates a response whose body has not arrived yet.
    func validateHead(_ response: HTTPURLResponse) throws(ResponseSerializationError) {
        try validate(ReceivedResponse(response), data: nil, hasBody: true)
    }

    private func validate(
        _ response: ReceivedResponse,
        data: Data?,
        hasBody: Bool
    ) throws(ResponseSerializationError) {
        let contentTypeError = hasBody ? contentTypeError(for: response, data: data) : nil
        if let statusCodes, !statusCodes.contains(where: { $0.contains(response.statusCode) }) {
            throw ResponseSerializationError(
                .unacceptableStatusCode(response.statusCode),
                response: response,
                data: data,
                underlyingError: contentTypeError
            )
        }
        if let contentTypeError { throw contentTypeError }
    }

    private func contentTypeError(
        for response: ReceivedResponse,
        data: Data?
    ) -> ResponseSerializationError? {
        guard let acceptableContentTypes else { return nil }
        let type = response.mediaType
        if let type {
            if acceptableContentTypes.contains(type.essence) { return nil }
            if acceptableContentTypes.contains(where: type.matches) { return nil }
        }
        return ResponseSerializationError(
            .unacceptableContentType(type?.essence),
            response: response,
            data: data
        )
    }
}
