internal import Foundation
internal import FoundationXML

// Serializers to be kept: with all settings, as AFNetworking's archives were meant to be. Options are kept as the numbers
// that Foundation gives them.

/// What responses a serializer accepts.
private struct Acceptance: Codable {
    let statusCodes: IndexSet?
    let contentTypes: Set<String>?
}

private protocol Accepting {
    var acceptableStatusCodes: IndexSet? { get set }
    var acceptableContentTypes: Set<String>? { get set }
}

extension Accepting {
    fileprivate var acceptance: Acceptance {
        get { Acceptance(statusCodes: acceptableStatusCodes, contentTypes: acceptableContentTypes) }
        set {
            acceptableStatusCodes = newValue.statusCodes
            acceptableContentTypes = newValue.contentTypes
        }
    }
}

extension JSONResponseSerializer: Accepting {}
extension XMLParserResponseSerializer: Accepting {}
extension XMLDocumentResponseSerializer: Accepting {}
extension PropertyListResponseSerializer: Accepting {}
extension CompoundResponseSerializer: Accepting {}

private enum Key: String, CodingKey {
    case acceptance
    case options
    case removesNulls
    case children
}

// MARK: - JSON

extension JSONResponseSerializer: Codable {
    /// With all settings.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        self.init(readingOptions: .init(rawValue: try container.decode(UInt.self, forKey: .options)))
        removesKeysWithNullValues = try container.decode(Bool.self, forKey: .removesNulls)
        acceptance = try container.decode(Acceptance.self, forKey: .acceptance)
    }

    /// All settings.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(readingOptions.rawValue, forKey: .options)
        try container.encode(removesKeysWithNullValues, forKey: .removesNulls)
        try container.encode(acceptance, forKey: .acceptance)
    }
}

// MARK: - XML

extension XMLParserResponseSerializer: Codable {
    /// With all settings.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        self.init()
        acceptance = try container.decode(Acceptance.self, forKey: .acceptance)
    }

    /// All settings.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(acceptance, forKey: .acceptance)
    }
}

extension XMLDocumentResponseSerializer: Codable {
    /// With all settings.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        self.init(options: .init(rawValue: try container.decode(UInt.self, forKey: .options)))
        acceptance = try container.decode(Acceptance.self, forKey: .acceptance)
    }

    /// All settings.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(options.rawValue, forKey: .options)
        try container.encode(acceptance, forKey: .acceptance)
    }
}

// MARK: - Property lists

extension PropertyListResponseSerializer: Codable {
    /// With all settings.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        self.init(readOptions: .init(rawValue: try container.decode(UInt.self, forKey: .options)))
        acceptance = try container.decode(Acceptance.self, forKey: .acceptance)
    }

    /// All settings.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(readOptions.rawValue, forKey: .options)
        try container.encode(acceptance, forKey: .acceptance)
    }
}

// MARK: - Several serializers

extension CompoundResponseSerializer: Codable {
    /// With all children and settings.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        let children = try container.decode([ResponseSerializerArchive].self, forKey: .children)
        self.init(children.map(\.serializer))
        acceptance = try container.decode(Acceptance.self, forKey: .acceptance)
    }

    /// All children and settings.
    ///
    /// - Throws: `EncodingError` for a child that is not one of this library's kinds, or holds a closure.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(serializers.map { try ResponseSerializerArchive($0) }, forKey: .children)
        try container.encode(acceptance, forKey: .acceptance)
    }
}
