public import Foundation
public import FoundationNetworking
internal import OperationNetworkingSystem

/// A serializer that decodes the body as a `Value`, from JSON by default.
///
/// | Response                                      | Result                                              |
/// |-----------------------------------------------|-----------------------------------------------------|
/// | acceptable, decodes                           | the `Value`                                         |
/// | empty body, or one space                      | ``EmptyResponseRepresentable/emptyResponse()``, which is `nil` for optional values; an error if `Value` has none |
/// | any body, for an ``EmptyResponse``            | the ``EmptyResponse``: only the status is validated, neither the media type nor the body |
/// | body that is not JSON                         | an error, `malformedBody`                           |
/// | JSON of another structure                     | an error, `unexpectedStructure`, that names the place: `users[3].name: expected String, found null`; its underlying error is the `DecodingError` |
/// | unacceptable status, JSON body                | the error for the status, with the tree as its `responseObject`, as from ``JSONResponseSerializer`` |
/// | the same, after ``decodingErrors(as:makeDecoder:)`` | the error for the status, with the decoded value as its `responseObject`, or the tree if decoding fails |
/// | unacceptable media type                       | an error; the body is not decoded                   |
/// | more than 512 levels of containers, 256 in property lists | an error                                |
/// | more than 16 million values, 4 million in property lists | an error                                 |
///
/// A body of more than 16 levels is decoded on a thread with a larger stack, which is enough for recursive types of
/// 512 levels. A body in another character set is decoded as the response says, as by
/// ``JSONResponseSerializer``. Decoders are objects with mutable settings, so a new one is made for each
/// response:
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
    /// The validation. Defaults to 200 to 299 and the media types of the format.
    public var validation: HTTPResponseSerializer

    /// Creates a serializer of JSON that accepts 200 to 299 and every media type of JSON.
    ///
    /// - Parameters:
    ///   - type: the type to decode.
    ///   - makeDecoder: makes a decoder. It is called synchronously on any thread, once per response, so it
    ///     cannot use the state of an actor.
    public init(
        _ type: Value.Type = Value.self,
        makeDecoder: @escaping @Sendable () -> JSONDecoder = { JSONDecoder() }
    ) {
        source = .json(makeDecoder)
        validation = HTTPResponseSerializer(
            acceptableContentTypes: JSONResponseSerializer().acceptableContentTypes
        )
    }

    /// Creates a serializer of property lists that accepts 200 to 299 and `application/x-plist`. Bodies are
    /// checked as by ``PropertyListResponseSerializer``.
    ///
    /// - Parameters:
    ///   - type: the type to decode.
    ///   - makeDecoder: makes a decoder. It is called synchronously on any thread, once per response, so it
    ///     cannot use the state of an actor.
    public init(
        propertyList type: Value.Type,
        makeDecoder: @escaping @Sendable () -> PropertyListDecoder = { PropertyListDecoder() }
    ) {
        source = .propertyList(makeDecoder)
        validation = HTTPResponseSerializer(
            acceptableContentTypes: PropertyListResponseSerializer().acceptableContentTypes
        )
    }

    /// Creates a serializer of another format.
    ///
    /// - Parameters:
    ///   - type: the type to decode.
    ///   - acceptableContentTypes: as in ``HTTPResponseSerializer/acceptableContentTypes``.
    ///   - decode: decodes the unchanged body, on any thread. The depth of the body is not limited: check it
    ///     if the decoder does not. A `DecodingError` becomes an error that names the place; a
    ///     ``ResponseSerializationError`` is not changed.
    public init(
        _ type: Value.Type = Value.self,
        acceptableContentTypes: Set<String>?,
        decode: @escaping @Sendable (Data) throws -> Value
    ) {
        source = .other(decode)
        validation = HTTPResponseSerializer(acceptableContentTypes: acceptableContentTypes)
    }

    // MARK: - Decoding errors

    /// Returns a copy that decodes the JSON body of a response with an unacceptable status, and stores the
    /// value in the error's ``ResponseSerializationError/responseObject``.
    ///
    /// - Parameters:
    ///   - type: the type of the server's error descriptions.
    ///   - makeDecoder: makes a decoder. It is called synchronously on any thread, once per response, so it
    ///     cannot use the state of an actor.
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

    /// Returns the value of an acceptable response, as an operation's `responseObject`.
    ///
    /// - Parameters:
    ///   - response: the head.
    ///   - data: the whole body; `nil` if it was delivered elsewhere. Then only the response is validated.
    /// - Returns: a `Value`. `nil` if that is an optional without a value, or if the body was delivered
    ///   elsewhere.
    /// - Throws: ``ResponseSerializationError``; `URLError.resourceUnavailable` if a deep body needs a thread
    ///   and the process cannot create one.
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

    /// Returns the value of an acceptable response.
    ///
    /// - Parameters:
    ///   - response: the head.
    ///   - data: the whole body.
    /// - Returns: the decoded value, or the value that represents an empty body.
    /// - Throws: ``ResponseSerializationError``; `URLError.resourceUnavailable` if a deep body needs a thread
    ///   and the process cannot create one.
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

    /// Whether only the status matters. A custom decoding closure is called all the same.
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
            return try onStack(ofDepth: list.depth, response, data) {
                try makeDecoder().decode(Value.self, from: list.octets)
            }
        case .other(let decode):
            // A level takes at least two octets.
            return try onStack(ofDepth: data.count / 2, response, data) { try decode(data) }
        case .json(let makeDecoder):
            let decoder = makeDecoder()
            let text = try JSONText(
                data,
                response: response,
                makesTree: false,
                isJSON5: decoder.allowsJSON5
            )
            return try onStack(ofDepth: text.depth, response, data) {
                do {
                    return try decoder.decode(Value.self, from: text.octets)
                } catch {
                    guard let fault = text.fault(foundBy: error, decoder: decoder) else { throw error }
                    throw ResponseSerializationError(
                        .malformedBody(.json, fault),
                        response: response,
                        data: data,
                        underlyingError: error
                    )
                }
            }
        }
    }

    /// Decodes on a stack that is large enough for the depth.
    private func onStack(
        ofDepth depth: Int,
        _ response: ReceivedResponse?,
        _ data: Data,
        _ decode: @escaping @Sendable () throws -> Value
    ) throws -> Value {
        switch try DecodingStack.run(depth: depth, for: response?.value?.url, decode) {
        case .success(let value): return value
        case .failure(let error): throw structureError(error, response, data)
        }
    }

    private func structureError(
        _ error: any Error,
        _ response: ReceivedResponse?,
        _ data: Data
    ) -> ResponseSerializationError {
        if let error = error as? ResponseSerializationError { return error }
        let difference = (error as? DecodingError).map { DecodingDifference($0).description }
        return ResponseSerializationError(
            .unexpectedStructure(type: "\(Value.self)", difference ?? error.localizedDescription),
            response: response,
            data: data,
            underlyingError: error
        )
    }

    /// Returns the object with which the server explains an unacceptable status.
    ///
    /// - Throws: an error for a malformed body, with the one for the status as underlying error, as
    ///   ``JSONResponseSerializer`` does.
    private func explanation(of message: ReceivedMessage) throws -> (any Sendable)? {
        guard let data = message.data, !data.isEmpty else { return nil }
        if let decodeError,
            // The decoder may read JSON5.
            let text = try? JSONText(data, response: message.response, makesTree: false, isJSON5: true),
            case .success(let value)? = try? DecodingStack.run(
                depth: text.depth,
                for: nil,
                { try decodeError(text.octets) }
            )
        {
            return value
        }
        var json = JSONResponseSerializer(readingOptions: .fragmentsAllowed)
        switch source {
        case .json:
            json.validation = validation
            json.acceptableContentTypes = nil
        case .propertyList, .other:
            // The format is unknown, but errors are often explained in JSON.
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

/// The difference between a body and the structure that a `Decodable` type expects, with its place:
/// `users[3].name: expected String, found null`.
///
/// Keys may come from the body, and some types quote values. So both are shortened and written in printable
/// characters.
struct DecodingDifference: Hashable, CustomStringConvertible {
    /// A sentence of at most a few hundred characters.
    let description: String

    init(_ error: DecodingError) {
        switch error {
        case .typeMismatch(let type, let context):
            let found = DecodingDifference.found(in: context.debugDescription)
            self.init(context.codingPath, "expected \(DecodingDifference.name(of: type)), found \(found)")
        case .valueNotFound(let type, let context):
            let isAtEnd = context.debugDescription.contains("at end")
            self.init(
                context.codingPath,
                "expected \(DecodingDifference.name(of: type)), found \(isAtEnd ? "the end of the array" : "null")"
            )
        case .keyNotFound(let key, let context):
            self.init(context.codingPath + [key], "expected a value, found nothing")
        case .dataCorrupted(let context):
            // Foundation reports the same error for a number that its type cannot represent.
            let isNotJSON = context.debugDescription == "The given data was not valid JSON."
            let sentence = isNotJSON ? "a value does not fit into its type" : context.debugDescription
            self.init(context.codingPath, DecodingDifference.printable(sentence, limit: 200))
        @unknown default:
            self.init([], DecodingDifference.printable("\(error)", limit: 200))
        }
    }

    private init(_ path: [any CodingKey], _ difference: String) {
        let path = DecodingDifference.text(of: path)
        description = path.isEmpty ? difference : "\(path): \(difference)"
    }

    // MARK: - Private

    /// The 16 innermost keys.
    private static func text(of path: [any CodingKey]) -> String {
        var text = path.count > 16 ? "…" : ""
        for key in path.suffix(16) {
            if let index = key.intValue {
                text += "[\(index)]"
            } else {
                text += (text.isEmpty ? "" : ".") + printable(key.stringValue, limit: 64)
            }
        }
        return text
    }

    private static func name(of type: Any.Type) -> String {
        if type == [String: Any].self { return "an object" }
        if type == [Any].self { return "an array" }
        return String(describing: type)
    }

    /// The kind of value that Foundation found, taken from its sentence "Expected to decode String but found
    /// number instead."
    private static func found(in sentence: String) -> String {
        guard let start = sentence.range(of: "but found "),
            let end = sentence.range(of: " instead", options: .backwards),
            start.upperBound < end.lowerBound
        else { return printable(sentence, limit: 200) }
        return switch sentence[start.upperBound..<end.lowerBound] {
        case "number", "a number": "a number"
        case "bool", "a boolean": "a boolean"
        case "null", "null value": "null"
        case "a dictionary": "an object"
        case let found: printable(String(found), limit: 64)
        }
    }

    private static func printable(_ text: String, limit: Int) -> String {
        var printable = ""
        for scalar in text.excerpt(limit).unicodeScalars {
            printable += scalar.changesLayout ? scalar.escaped(asASCII: true) : String(scalar)
        }
        return printable
    }
}

/// A thread with a stack that is large enough for decoders.
///
/// A decoder calls itself for each level of its input, through the code of the decoded type. Foundation stops
/// at 512 levels, but a recursive type exceeds the 512 KiB of a dispatch thread long before, which crashes
/// the process.
enum DecodingStack {
    /// 32 KiB for each of Foundation's 512 levels. Pages that are not used cost nothing.
    private static let size = 16 << 20

    /// The number of levels for which the current stack is large enough.
    static let shallowDepth = 16

    /// Runs `work` and waits for it. If the input has more than a few levels, a new thread runs it, which
    /// costs a tenth of a millisecond.
    ///
    /// - Throws: `URLError.resourceUnavailable` if the process cannot create a thread.
    static func run<Value: Sendable>(
        depth: Int,
        for url: URL?,
        _ work: @escaping @Sendable () throws -> Value
    ) throws(URLError) -> Result<Value, any Error> {
        guard depth > shallowDepth else { return Result(catching: work) }
        let result = Locked<Result<Value, any Error>?>(nil)
        do throws(SystemError) {
            try DeepStack.run(size: size) {
                let outcome = Result(catching: work)
                result.withLock { $0 = outcome }
            }
        } catch {
            throw URLError(
                .resourceUnavailable,
                url: url,
                sentence: URLError.hasNoThreads + "the body could not be decoded",
                underlying: NSError(domain: NSPOSIXErrorDomain, code: Int(error.code))
            )
        }
        return result.withLock { $0 } ?? Result(catching: work)
    }
}
