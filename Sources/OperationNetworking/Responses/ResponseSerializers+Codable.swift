internal import Foundation
internal import FoundationXML

// Serializers to be kept: with all settings, as AFNetworking's archives were meant to be. Options are kept as
// the numbers that Foundation gives them.

private enum Key: String, CodingKey {
    case validation
    case options
    case removesNulls
    case children
}

// MARK: - JSON

extension JSONResponseSerializer: Codable {
    /// A serializer with all settings.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        self.init(readingOptions: .init(rawValue: try container.decode(UInt.self, forKey: .options)))
        removesKeysWithNullValues = try container.decode(Bool.self, forKey: .removesNulls)
        validation = try container.decode(HTTPResponseSerializer.self, forKey: .validation)
    }

    /// All settings.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(readingOptions.rawValue, forKey: .options)
        try container.encode(removesKeysWithNullValues, forKey: .removesNulls)
        try container.encode(validation, forKey: .validation)
    }
}

// MARK: - XML

extension XMLDocumentResponseSerializer: Codable {
    /// A serializer with all settings.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        self.init(options: .init(rawValue: try container.decode(UInt.self, forKey: .options)))
        validation = try container.decode(HTTPResponseSerializer.self, forKey: .validation)
    }

    /// All settings.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(options.rawValue, forKey: .options)
        try container.encode(validation, forKey: .validation)
    }
}

// MARK: - Property lists

extension PropertyListResponseSerializer: Codable {
    /// A serializer with all settings.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        self.init(readOptions: .init(rawValue: try container.decode(UInt.self, forKey: .options)))
        validation = try container.decode(HTTPResponseSerializer.self, forKey: .validation)
    }

    /// All settings.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(readOptions.rawValue, forKey: .options)
        try container.encode(validation, forKey: .validation)
    }
}

// MARK: - Several serializers

extension CompoundResponseSerializer: Codable {
    /// A serializer with all children and settings.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        let children = try container.decode([ResponseSerializerArchive].self, forKey: .children)
        self.init(children.map(\.serializer))
        validation = try container.decode(HTTPResponseSerializer.self, forKey: .validation)
    }

    /// All children and settings.
    ///
    /// - Throws: `EncodingError` for a child that is none of this library's kinds and no
    ///   ``ArchivableResponseSerializer``, or holds a closure.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(serializers.map { try ResponseSerializerArchive($0) }, forKey: .children)
        try container.encode(validation, forKey: .validation)
    }
}
