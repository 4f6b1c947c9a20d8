public import Foundation
public import FoundationNetworking
internal import OperationNetworkingSystem

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
/// | more than 16 million values, 4 million in property lists | an error                                 |
///
/// A body of more than 16 levels is decoded with a stack of its own, so a type that holds itself decodes down
/// to those 512 levels. A body in another character set is decoded as the response says, as by
/// ``JSONResponseSerializer``. Decoders are objects with settings that can be changed, so one is made for each
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
            return try onStack(ofDepth: list.depth, response, data) {
                try makeDecoder().decode(Value.self, from: list.octets)
            }
        case .other(let decode):
            // A level has two octets at least.
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

    /// Decodes where there is room for so many levels.
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

    /// The body's explanation of an unacceptable status.
    ///
    /// - Throws: that it is malformed, with the status under it, as ``JSONResponseSerializer`` does.
    private func explanation(of message: ReceivedMessage) throws -> (any Sendable)? {
        guard let data = message.data, !data.isEmpty else { return nil }
        if let decodeError,
            // Whether the decoder reads JSON5 is not known.
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

/// The difference between a body and the structure that a `Decodable` type wants, with its place:
/// `users[3].name: expected String, found null`.
///
/// Keys may come from the body, and values are quoted by some types: so both are cut off, and written in
/// printable characters.
struct DecodingDifference: Hashable, CustomStringConvertible {
    /// One sentence of at most a few hundred characters.
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
            // Foundation says this of a number, too, that its type cannot hold.
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

    /// The innermost 16 keys.
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

    /// The kind of value that Foundation found, from its sentence: "Expected to decode String but found
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

/// A stack that is deep enough for decoders.
///
/// A decoder calls itself once for each level of its input, through the decoded type's own code. Foundation
/// stops at 512 levels, but a type that holds itself needs more than the 512 KiB of a dispatch thread well
/// before that, and the process dies.
enum DecodingStack {
    /// 32 KiB for each of Foundation's 512 levels. Untouched pages cost nothing.
    private static let size = 16 << 20

    /// The levels for which the present stack has room.
    static let shallowDepth = 16

    /// Runs `work`, on a thread with such a stack if the input has more levels than a few, and waits for it:
    /// a tenth of a millisecond more.
    ///
    /// - Throws: `URLError.resourceUnavailable` if the process can have no more threads.
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
