public import Foundation
public import FoundationNetworking

/// The body as it came, once the status code and the media type are acceptable.
///
/// The object is always a `Data`, empty when there was no body (204, HEAD). The error of an unacceptable
/// response has the body as its ``ResponseSerializationError/responseObject``.
public struct HTTPResponseSerializer: MessageSerializer, Hashable, ArchivableResponseSerializer {
    private var format = ArchiveFormat()

    /// 200 to 299 unless set; `nil` accepts any.
    public var acceptableStatusCodes: IndexSet? {
        get {
            statusCodes?.reduce(into: IndexSet()) { set, range in
                // A set of other integers ends the process, and an archive may name them.
                let range = range.clamped(to: 0..<Int.max - 1)
                if !range.isEmpty { set.insert(integersIn: range) }
            }
        }
        set { statusCodes = newValue.map { Array($0.rangeView) } }
    }
    private var statusCodes: [Range<Int>]? = Self.successful

    /// The acceptable media types, such as `text/html`, `text/*` or `application/*+json`, in any case; `nil`,
    /// as it is unless set, accepts any. The type of an empty body does not matter.
    public var acceptableContentTypes: Set<String>?

    /// Made once: an array is an object.
    private static let successful = [200..<300]

    /// A serializer that accepts 200 to 299 and these media types, or any.
    public init(acceptableContentTypes: Set<String>? = nil) {
        self.acceptableContentTypes = acceptableContentTypes
    }

    /// The same as setting ``acceptableStatusCodes``.
    public mutating func setAcceptableStatusCodes(_ statusCodes: IndexSet?) {
        acceptableStatusCodes = statusCodes
    }

    /// The same as setting ``acceptableContentTypes``.
    public mutating func setAcceptableContentTypes(_ contentTypes: Set<String>?) {
        acceptableContentTypes = contentTypes
    }

    // MARK: - ResponseSerializer

    /// The body of an acceptable response.
    ///
    /// - Parameters:
    ///   - response: the head.
    ///   - data: the whole body.
    /// - Returns: a `Data`, empty when there is no body.
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

    /// Judges a response by its media type and its status code, without looking into the body.
    ///
    /// Serializers of your own begin with this.
    ///
    /// - Parameters:
    ///   - response: the head; without one there is nothing to judge.
    ///   - data: the whole body.
    /// - Throws: an error for the status, with the one for the media type under it if both are unacceptable.
    public func validate(_ response: HTTPURLResponse?, data: Data?) throws(ResponseSerializationError) {
        try validate(ReceivedMessage(response, data))
    }

    func validate(_ message: ReceivedMessage) throws(ResponseSerializationError) {
        guard let response = message.response else { return }
        try validate(response, data: message.data, hasBody: message.data?.isEmpty == false)
    }

    /// Judges a response whose body is still to come.
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
