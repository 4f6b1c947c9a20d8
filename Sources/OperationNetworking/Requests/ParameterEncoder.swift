internal import Foundation

/// Encodes an `Encodable` value as a tree of parameters.
///
/// Never traps: encoding throws if a value requests two kinds of container in one place, or exceeds
/// ``ParameterTree/depthLimit``.
struct ParameterEncoder: Encoder {
    /// The state that all encoders of one tree share.
    private final class Session {
        /// False if the value is only checked.
        let keepsValues: Bool
        /// The dates that are accepted.
        let dates: DateSpan
        let userInfo: [CodingUserInfoKey: Any]
        /// The error of a method that cannot throw.
        var failure: (any Error)?

        init(keepsValues: Bool, dates: DateSpan, userInfo: [CodingUserInfoKey: Any]) {
            self.keepsValues = keepsValues
            self.dates = dates
            self.userInfo = userInfo
        }
    }

    private let session: Session
    /// The node for the value; unused if the session only checks.
    fileprivate let node: EncodedParameter
    private var depth: Int
    let codingPath: [any CodingKey]

    var userInfo: [CodingUserInfoKey: Any] { session.userInfo }

    /// Returns the tree of a value at `depth` levels in the parameters.
    static func tree(of value: some Encodable, depth: Int) throws -> ParameterTree {
        let root = EncodedParameter()
        let session = Session(keepsValues: true, dates: .fourDigitYears, userInfo: [:])
        try ParameterEncoder(session: session, node: root, depth: depth, codingPath: []).write(value)
        return root.tree
    }

    /// Throws if the value is nested too deeply for Foundation's encoders, which would overflow the stack, or
    /// has a date that is not in `dates`, for which the encoder would write another one. Also throws the
    /// value's own errors, which `PropertyListEncoder` would wrap.
    static func check(
        _ value: some Encodable,
        depth: Int,
        dates: DateSpan,
        userInfo: [CodingUserInfoKey: Any]
    ) throws {
        let session = Session(keepsValues: false, dates: dates, userInfo: userInfo)
        let encoder = ParameterEncoder(
            session: session,
            node: EncodedParameter(),
            depth: depth,
            codingPath: []
        )
        try encoder.write(value)
    }

    // MARK: - Encoder

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        become(.keyed)
        return KeyedEncodingContainer(KeyedParameters(encoder: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        become(.unkeyed)
        return UnkeyedParameters(encoder: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        SingleParameter(encoder: self)
    }

    // MARK: - Values

    private func become(_ kind: EncodedParameter.Kind) {
        guard session.keepsValues else { return }
        switch (node.kind, kind) {
        case (.nothing, _): node.kind = kind
        case (.keyed, .keyed), (.unkeyed, .unkeyed): break
        default: fail("Two kinds of container were requested for one value.")
        }
    }

    private func fail(_ sentence: String) {
        guard session.failure == nil else { return }
        let context = EncodingError.Context(codingPath: codingPath, debugDescription: sentence)
        session.failure = EncodingError.invalidValue(codingPath.last?.stringValue ?? "", context)
    }

    /// Returns an encoder for a part of this encoder's value.
    fileprivate func part(_ node: @autoclosure () -> EncodedParameter, _ key: any CodingKey)
        -> ParameterEncoder
    {
        ParameterEncoder(
            session: session,
            node: session.keepsValues ? node() : self.node,
            depth: depth,
            codingPath: codingPath + [key]
        )
    }

    /// The same for a nested container, one level deeper. It cannot throw; beyond the limit the part is
    /// discarded, and the next value that is encoded throws.
    fileprivate func level(_ node: @autoclosure () -> EncodedParameter, _ key: any CodingKey)
        -> ParameterEncoder
    {
        if depth >= ParameterTree.depthLimit, session.failure == nil {
            session.failure = RequestSerializationError.parametersTooDeep(limit: ParameterTree.depthLimit)
        }
        guard session.failure == nil else {
            return ParameterEncoder(
                session: session,
                node: EncodedParameter(),
                depth: depth,
                codingPath: codingPath
            )
        }
        var level = part(node(), key)
        level.depth += 1
        return level
    }

    fileprivate func writeNull() throws {
        if let failure = session.failure { throw failure }
        if session.keepsValues { node.kind = .leaf(.null) }
    }

    fileprivate func write(_ value: some Encodable) throws {
        if let failure = session.failure { throw failure }
        guard let scalar = ParameterTree(scalar: value) else {
            guard depth < ParameterTree.depthLimit else {
                throw RequestSerializationError.parametersTooDeep(limit: ParameterTree.depthLimit)
            }
            try value.encode(
                to: ParameterEncoder(session: session, node: node, depth: depth + 1, codingPath: codingPath)
            )
            if let failure = session.failure { throw failure }
            return
        }
        if session.keepsValues {
            node.kind = .leaf(try scalar.encoded(value, codingPath: codingPath))
        } else if case .date(let date) = scalar, !session.dates.contains(date) {
            throw EncodingError.unwritable(date, "The format cannot represent this Date.", codingPath)
        }
    }
}

extension ParameterTree {
    /// Returns the tree of an encoded scalar in a query or form: dates are ISO 8601, bytes are Base64.
    ///
    /// - Throws: an `EncodingError` for a number that is not finite, and for a date without four digits for its
    ///   year.
    func encoded(_ value: Any, codingPath: [any CodingKey]) throws(EncodingError) -> ParameterTree {
        let isWritable =
            switch self {
            case .real(let number): number.isFinite
            case .decimal(let number): number.isFinite
            case .date(let date): DateSpan.fourDigitYears.contains(date)
            default: true
            }
        guard isWritable else {
            let sentence = "This \(type(of: value)) cannot be represented as text."
            throw .unwritable(value, sentence, codingPath)
        }
        return switch self {
        case .date(let date): .text(date.formatted(.iso8601))
        case .data(let data): .text(data.base64EncodedString())
        default: self
        }
    }
}

extension EncodingError {
    fileprivate static func unwritable(
        _ value: Any,
        _ sentence: String,
        _ codingPath: [any CodingKey]
    ) -> EncodingError {
        let context = EncodingError.Context(codingPath: codingPath, debugDescription: sentence)
        // A date is described by its number, because the description of such a date may trap.
        return .invalidValue((value as? Date)?.timeIntervalSince1970 ?? value, context)
    }
}

// MARK: - Containers

private struct KeyedParameters<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: ParameterEncoder

    var codingPath: [any CodingKey] { encoder.codingPath }

    private func part(_ key: Key) -> ParameterEncoder {
        encoder.part(encoder.node.part(named: key.stringValue), key)
    }

    private func level(_ key: some CodingKey) -> ParameterEncoder {
        encoder.level(encoder.node.part(named: key.stringValue), key)
    }

    func encodeNil(forKey key: Key) throws { try part(key).writeNull() }

    // Also satisfies the requirements for numbers and text.
    func encode(_ value: some Encodable, forKey key: Key) throws { try part(key).write(value) }

    // Except for these two, whose default implementations throw.
    func encode(_ value: Int128, forKey key: Key) throws { try part(key).write(value) }
    func encode(_ value: UInt128, forKey key: Key) throws { try part(key).write(value) }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type,
        forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        level(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        level(key).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { level(ParameterKey(stringValue: "super")) }

    func superEncoder(forKey key: Key) -> any Encoder { level(key) }
}

private struct UnkeyedParameters: UnkeyedEncodingContainer {
    let encoder: ParameterEncoder
    private(set) var count = 0

    var codingPath: [any CodingKey] { encoder.codingPath }

    private mutating func part() -> ParameterEncoder {
        count += 1
        return encoder.part(encoder.node.addElement(), ParameterKey(intValue: count - 1))
    }

    private mutating func level() -> ParameterEncoder {
        count += 1
        return encoder.level(encoder.node.addElement(), ParameterKey(intValue: count - 1))
    }

    mutating func encodeNil() throws { try part().writeNull() }

    mutating func encode(_ value: some Encodable) throws { try part().write(value) }
    mutating func encode(_ value: Int128) throws { try part().write(value) }
    mutating func encode(_ value: UInt128) throws { try part().write(value) }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) -> KeyedEncodingContainer<Nested> {
        level().container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { level().unkeyedContainer() }

    mutating func superEncoder() -> any Encoder { level() }
}

private struct SingleParameter: SingleValueEncodingContainer {
    let encoder: ParameterEncoder

    var codingPath: [any CodingKey] { encoder.codingPath }

    func encodeNil() throws { try encoder.writeNull() }

    func encode(_ value: some Encodable) throws { try encoder.write(value) }
    func encode(_ value: Int128) throws { try encoder.write(value) }
    func encode(_ value: UInt128) throws { try encoder.write(value) }
}

/// The name or position of a part.
struct ParameterKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(stringValue: String) {
        self.stringValue = stringValue
        intValue = nil
    }

    init(intValue: Int) {
        stringValue = "\(intValue)"
        self.intValue = intValue
    }
}

// MARK: - Encoded values

/// A node of the tree that ``ParameterEncoder`` builds. An object, because containers are filled after they
/// are returned.
private final class EncodedParameter {
    enum Kind {
        /// The value encoded nothing.
        case nothing
        case leaf(ParameterTree)
        case keyed
        case unkeyed
    }

    var kind = Kind.nothing
    private var parts: [String: EncodedParameter] = [:]
    private var elements: [EncodedParameter] = []

    var tree: ParameterTree {
        switch kind {
        case .leaf(let leaf): leaf
        case .keyed, .nothing: .dictionary(names: Array(parts.keys), values: parts.values.map(\.tree))
        case .unkeyed: .array(elements.map(\.tree))
        }
    }

    func part(named name: String) -> EncodedParameter {
        if let part = parts[name] { return part }
        let part = EncodedParameter()
        parts[name] = part
        return part
    }

    func addElement() -> EncodedParameter {
        elements.append(EncodedParameter())
        return elements[elements.count - 1]
    }
}
