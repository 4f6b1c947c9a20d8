public import Foundation
public import FoundationNetworking

/// The body as a `Value`, decoded from JSON unless something else is said.
///
/// | Response                                      | Result                                              |
/// |-----------------------------------------------|-----------------------------------------------------|
/// | acceptable, decodes                           | the `Value`                                         |
/// | empty body, or one space                      | ``EmptyResponseRepresentable/emptyResponse()``, which is `nil` for optional values; for others an error that says so |
/// | any body, for an ``EmptyResponse``            | the ``EmptyResponse``: only the status is judged, neither the media type nor the body |
/// | body that is not JSON                         | an error, `malformedBody`                           |
/// | JSON of another structure                     | an error, `unexpectedStructure`, that says where: `users[3].name: expected String, found null`; the `DecodingError` is under it |
/// | unacceptable status, JSON body                | the error for the status, with the tree as its `responseObject`, as of ``JSONResponseSerializer`` |
/// | the same, after ``decodingErrors(as:makeDecoder:)`` | the error for the status, with the decoded value as its `responseObject`; the tree when it does not decode |
/// | unacceptable media type                       | an error; the body is not decoded                   |
/// | more than 512 levels of containers, 256 in property lists | an error                                |
/// | more than 16 million values, 6 million in property lists | an error                                 |
///
/// Decoding has a stack of its own, so a type that holds itself decodes down to those 512 levels. A body in
/// another character set is decoded as the response says, as by ``JSONResponseSerializer``. Decoders are
/// objects with settings that can be changed, so one is made for each response:
///
/// ```swift
/// let serializer = DecodableResponseSerializer([User].self) {
///     let decoder = JSONDecoder()
///     decoder.keyDecodingStrategy = .convertFromSnakeCase
///     return decoder
/// }
/// ```
public struct DecodableResponseSerializer<Value: Decodable & Sendable>:
    ValidatingResponseSerializer, MessageSerializer
{
    private enum Source: Sendable {
        case json(@Sendable () -> JSONDecoder)
        case propertyList(@Sendable () -> PropertyListDecoder)
        case other(@Sendable (Data) throws -> Value)
    }

    private let source: Source
    private var decodeError: (@Sendable (Data) throws -> any Sendable)?
    /// 200 to 299 and the media types of the format unless set.
    public var validation: HTTPResponseSerializer

    /// A serializer that accepts 200 to 299 and every media type of JSON.
    ///
    /// - Parameters:
    ///   - type: what to decode.
    ///   - makeDecoder: makes a decoder; called once for each response, on any thread, and at once: so it
    ///     cannot use what belongs to an actor.
    public init(
        _ type: Value.Type = Value.self,
        makeDecoder: @escaping @Sendable () -> JSONDecoder = { JSONDecoder() }
    ) {
        source = .json(makeDecoder)
        validation = HTTPResponseSerializer(
            acceptableContentTypes: JSONResponseSerializer().acceptableContentTypes
        )
    }

    /// A serializer of property lists, which accepts 200 to 299 and `application/x-plist`. Bodies are checked
    /// as by ``PropertyListResponseSerializer``.
    ///
    /// - Parameters:
    ///   - type: what to decode.
    ///   - makeDecoder: makes a decoder; called once for each response, on any thread, and at once: so it
    ///     cannot use what belongs to an actor.
    public init(
        propertyList type: Value.Type,
        makeDecoder: @escaping @Sendable () -> PropertyListDecoder = { PropertyListDecoder() }
    ) {
        source = .propertyList(makeDecoder)
        validation = HTTPResponseSerializer(
            acceptableContentTypes: PropertyListResponseSerializer().acceptableContentTypes
        )
    }

    /// A serializer of another format.
    ///
    /// - Parameters:
    ///   - type: what to decode.
    ///   - acceptableContentTypes: as in ``HTTPResponseSerializer/acceptableContentTypes``.
    ///   - decode: decodes the body as it came, from any thread. The depth of the body is not bounded here:
    ///     look at it first when the decoder does not. A `DecodingError` becomes one that says where, a
    ///     ``ResponseSerializationError`` stays what it is.
    public init(
        _ type: Value.Type = Value.self,
        acceptableContentTypes: Set<String>?,
        decode: @escaping @Sendable (Data) throws -> Value
    ) {
        source = .other(decode)
        validation = HTTPResponseSerializer(acceptableContentTypes: acceptableContentTypes)
    }

    // MARK: - Errors as values

    /// A copy that decodes the JSON body of an unacceptable status, and puts the value into the error's
    /// ``ResponseSerializationError/responseObject``.
    ///
    /// - Parameters:
    ///   - type: what the server explains its errors with.
    ///   - makeDecoder: makes a decoder; called once for each response, on any thread, and at once: so it
    ///     cannot use what belongs to an actor.
    /// - Returns: the copy.
    public func decodingErrors<ErrorValue: Decodable & Sendable>(
        as type: ErrorValue.Type,
        makeDecoder: @escaping @Sendable () -> JSONDecoder = { JSONDecoder() }
    ) -> DecodableResponseSerializer {
        var copy = self
        copy.decodeError = { try makeDecoder().decode(type, from: $0) }
        return copy
    }

    // MARK: - ResponseSerializer

    /// The value of an acceptable response, as an operation's `responseObject`.
    ///
    /// - Parameters:
    ///   - response: the head.
    ///   - data: the whole body; `nil`: it went elsewhere, and only the response is judged.
    /// - Returns: a `Value`; `nil` when that is an optional without a value, or the body went elsewhere.
    /// - Throws: ``ResponseSerializationError``; `URLError.resourceUnavailable` if a deep body needs a
    ///   thread, and the process can have none.
    public func responseObject(for response: HTTPURLResponse?, data: Data?) throws -> (any Sendable)? {
        try responseObject(of: ReceivedMessage(response, data))
    }

    func responseObject(of message: ReceivedMessage) throws -> (any Sendable)? {
        guard message.data != nil else {
            try validation.validate(message)
            return nil
        }
        let value = try value(of: message)
        guard let optional = value as? any Flattening else { return value }
        return optional.flattened.flatMap(handingOver)
    }

    /// The value of an acceptable response.
    ///
    /// - Parameters:
    ///   - response: the head.
    ///   - data: the whole body.
    /// - Returns: what the body decodes to, or stands for when it is empty.
    /// - Throws: ``ResponseSerializationError``; `URLError.resourceUnavailable` if a deep body needs a
    ///   thread, and the process can have none.
    public func value(for response: HTTPURLResponse?, data: Data?) throws -> Value {
        try value(of: ReceivedMessage(response, data))
    }

    // MARK: - Private

    private func value(of message: ReceivedMessage) throws -> Value {
        do {
            try validation.validate(message)
        } catch {
            if ignoresBody, case .unacceptableContentType = error.reason {
                return try emptyValue(of: message)
            }
            guard !error.concernsContentType else { throw error }
            var error = error
            error.responseObject = try explanation(of: message)
            throw error
        }
        guard !ignoresBody, let data = message.data, !data.isEmpty, data != Data([UInt8(ascii: " ")])
        else { return try emptyValue(of: message) }
        return try decoded(data, message.response)
    }

    /// Whether the status says everything. A closure that decodes is asked all the same.
    private var ignoresBody: Bool {
        guard Value.self == EmptyResponse.self else { return false }
        return switch source {
        case .json, .propertyList: true
        case .other: false
        }
    }

    private func emptyValue(of message: ReceivedMessage) throws(ResponseSerializationError) -> Value {
        if let type = Value.self as? any EmptyResponseRepresentable.Type,
            let value = type.emptyResponse() as? Value
        {
            return value
        }
        throw ResponseSerializationError(
            .unexpectedStructure(type: "\(Value.self)", "expected a value, found an empty body"),
            response: message.response,
            data: message.data
        )
    }

    private func decoded(_ data: Data, _ response: ReceivedResponse?) throws -> Value {
        switch source {
        case .propertyList(let makeDecoder):
            let list = try PropertyListResponseSerializer.checked(
                data,
                response: response,
                validationError: nil
            )
            do {
                return try DecodingStack.run(on: list) { try makeDecoder().decode(Value.self, from: $0) }
            } catch {
                throw try structureError(error, response, data)
            }
        case .other(let decode):
            do {
                return try DecodingStack.run(on: data, decode)
            } catch {
                throw try structureError(error, response, data)
            }
        case .json(let makeDecoder):
            guard let text = JSONText.parseable(data, charset: response?.charset) else {
                throw ResponseSerializationError(
                    .undecodableText(charset: response?.charset ?? "UTF-8"),
                    response: response,
                    data: data
                )
            }
            if let refusal = JSONWeight.decoded.refusal(of: text) {
                throw ResponseSerializationError(
                    .malformedBody(.json, refusal),
                    response: response,
                    data: data
                )
            }
            do {
                return try DecodingStack.run(onJSON: text) { try makeDecoder().decode(Value.self, from: $0) }
            } catch {
                if let shortage = error as? DecodingStack.Shortage {
                    throw shortage.error(for: response?.value?.url)
                }
                guard let fault = JSONText.fault(in: text, foundBy: error, decoder: makeDecoder()) else {
                    throw try structureError(error, response, data)
                }
                throw ResponseSerializationError(
                    .malformedBody(.json, fault),
                    response: response,
                    data: data,
                    underlyingError: error
                )
            }
        }
    }

    private func structureError(
        _ error: any Error,
        _ response: ReceivedResponse?,
        _ data: Data
    ) throws -> ResponseSerializationError {
        if let shortage = error as? DecodingStack.Shortage { throw shortage.error(for: response?.value?.url) }
        if let error = error as? ResponseSerializationError { return error }
        let difference = (error as? DecodingError).map { DecodingDifference($0).description }
        return ResponseSerializationError(
            .unexpectedStructure(type: "\(Value.self)", difference ?? error.localizedDescription),
            response: response,
            data: data,
            underlyingError: error
        )
    }

    /// The body's explanation of an unacceptable status.
    ///
    /// - Throws: that it is malformed, with the status under it, as ``JSONResponseSerializer`` does.
    private func explanation(of message: ReceivedMessage) throws -> (any Sendable)? {
        guard let data = message.data, !data.isEmpty else { return nil }
        if let decodeError, let text = JSONText.parseable(data, charset: message.response?.charset),
            JSONWeight.decoded.refusal(of: text) == nil,
            let value = try? DecodingStack.run(onJSON: text, decodeError)
        {
            return value
        }
        var json = JSONResponseSerializer(readingOptions: .fragmentsAllowed)
        switch source {
        case .json:
            json.acceptableContentTypes = nil
            json.acceptableStatusCodes = acceptableStatusCodes
        case .propertyList, .other:
            // In a format that is not known here; an explanation in JSON is common all the same.
            break
        }
        do {
            return try json.responseObject(of: message)
        } catch let error as ResponseSerializationError {
            if case .unacceptableStatusCode = error.reason { return error.responseObject }
            if case .json = source { throw error }
            return nil
        }
    }
}
