internal import Foundation

/// Turns an `Encodable` into a tree of parameters.
///
/// Nothing here traps: a value that asks for two kinds of container in one place, or goes deeper than
/// ``ParameterShape/depthLimit``, makes the encoding throw.
struct ParameterEncoder: Encoder {
    /// State that all encoders of one tree share.
    private final class Session {
        /// `false` for a run that only checks a value.
        let keepsValues: Bool
        /// The dates that pass a check.
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
    /// The node that the value becomes; unused when the session keeps nothing.
    fileprivate let node: EncodedParameter
    private var depth: Int
    let codingPath: [any CodingKey]

    var userInfo: [CodingUserInfoKey: Any] { session.userInfo }

    /// The tree that the value encodes.
    static func tree(of value: some Encodable) throws -> EncodedParameter {
        let root = EncodedParameter()
        let session = Session(keepsValues: true, dates: .fourDigitYears, userInfo: [:])
        try ParameterEncoder(session: session, node: root, depth: 0, codingPath: []).write(value)
        return root
    }

    /// Throws when the value goes too deep for an encoder of Foundation, which would run out of stack; when
    /// it has a date that is not in `dates`, for which the encoder would write another one; and what the
    /// value throws, which Foundation's encoder of property lists hides in an error of its own.
    static func check(
        _ value: some Encodable,
        dates: DateSpan,
        userInfo: [CodingUserInfoKey: Any]
    ) throws {
        let session = Session(keepsValues: false, dates: dates, userInfo: userInfo)
        let encoder = ParameterEncoder(session: session, node: EncodedParameter(), depth: 0, codingPath: [])
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
        guard session.keepsValues, node.kind != kind else { return }
        if node.kind == .nothing {
            node.kind = kind
        } else {
            fail("Two kinds of container were asked for in one place.")
        }
    }

    private func fail(_ sentence: String) {
        guard session.failure == nil else { return }
        let context = EncodingError.Context(codingPath: codingPath, debugDescription: sentence)
        session.failure = EncodingError.invalidValue(codingPath.last?.stringValue ?? "", context)
    }

    /// Encodes a part of this encoder's value.
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

    /// The same for a part that the value fills step by step, which is one level more. Nothing can be thrown
    /// there; past the limit the part leads nowhere, and the next value that is encoded throws.
    fileprivate func level(_ node: @autoclosure () -> EncodedParameter, _ key: any CodingKey)
        -> ParameterEncoder
    {
        if depth >= ParameterShape.depthLimit, session.failure == nil {
            session.failure = RequestSerializationError.parametersTooDeep(limit: ParameterShape.depthLimit)
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
        if session.keepsValues { node.kind = .null }
    }

    fileprivate func write(_ value: some Encodable) throws {
        if let failure = session.failure { throw failure }
        guard let leaf = EncodedParameter.Leaf(value) else {
            guard depth < ParameterShape.depthLimit else {
                throw RequestSerializationError.parametersTooDeep(limit: ParameterShape.depthLimit)
            }
            try value.encode(
                to: ParameterEncoder(session: session, node: node, depth: depth + 1, codingPath: codingPath)
            )
            if let failure = session.failure { throw failure }
            return
        }
        guard session.keepsValues else {
            guard case .all = session.dates else { return try check(date: value) }
            return
        }
        guard case .text(let text) = leaf else {
            throw unwritable(value, "This \(type(of: value)) has no text that a server could read.")
        }
        node.kind = .text(text)
    }

    private func check(date value: some Encodable) throws {
        guard let date = value as? Date, !session.dates.contains(date) else { return }
        throw unwritable(date, "The format cannot hold this Date.")
    }

    private func unwritable(_ value: some Encodable, _ sentence: String) -> EncodingError {
        let context = EncodingError.Context(codingPath: codingPath, debugDescription: sentence)
        // The number of a date, since the description of such a date may trap.
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

    // For numbers and text as well: it is as good a witness for their requirements.
    func encode(_ value: some Encodable, forKey key: Key) throws { try part(key).write(value) }

    // But for these two, which have a witness that throws.
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

/// The name of a part that the value did not name.
private struct ParameterKey: CodingKey {
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

// MARK: - What was encoded

/// One value of the tree that a ``ParameterEncoder`` makes. An object, as encoders hand out containers that
/// are filled later.
final class EncodedParameter: ParameterParts {
    enum Kind: Equatable {
        /// The value encoded nothing.
        case nothing
        case null
        case text(String)
        case keyed
        case unkeyed
    }

    fileprivate(set) var kind = Kind.nothing
    private var parts: [String: EncodedParameter] = [:]
    private var elements: [EncodedParameter] = []

    var parameterShape: ParameterShape {
        switch kind {
        case .null: .null
        case .text(let text): .leaf(text)
        case .keyed, .nothing: parts.parameterShape
        case .unkeyed: elements.parameterShape
        }
    }

    fileprivate func part(named name: String) -> EncodedParameter {
        if let part = parts[name] { return part }
        let part = EncodedParameter()
        parts[name] = part
        return part
    }

    fileprivate func addElement() -> EncodedParameter {
        elements.append(EncodedParameter())
        return elements[elements.count - 1]
    }

    /// A value without parts.
    fileprivate enum Leaf {
        case text(String)
        case unwritable

        /// `nil` for a value that has to be asked what it encodes.
        init?(_ value: some Encodable) {
            switch value {
            case let text as String: self = .text(text)
            case let number as Double where !number.isFinite: self = .unwritable
            case let number as Float where !number.isFinite: self = .unwritable
            case let number as Decimal: self = number.isFinite ? .text(number.description) : .unwritable
            case let date as Date: self = Leaf.iso8601(date).map(Leaf.text) ?? .unwritable
            case let data as Data: self = .text(data.base64EncodedString())
            case let url as URL: self = .text(url.absoluteString)
            case is Bool, is Double, is Float: self = .text(ParameterScalar.text(of: value))
            case let number as any BinaryInteger: self = .text("\(number)")
            default: return nil
            }
        }

        /// `nil` for a date that the format cannot hold.
        private static func iso8601(_ date: Date) -> String? {
            DateSpan.fourDigitYears.contains(date) ? date.formatted(.iso8601) : nil
        }
    }
}
