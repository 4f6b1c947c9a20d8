internal import Foundation
internal import FoundationNetworking

// Serializers to be kept: with all settings but closures, which cannot be. One that has a closure is not
// encoded, rather than come back as another one.

extension HTTPRequestSerializer: Codable {
    private enum Key: String, CodingKey {
        case fields
        case stringEncoding
        case methods
        case arrayStyle
        case timeoutInterval
        case cachePolicy
        case cookies
    }

    /// A serializer with all settings; the fields are those that were kept, also where the environment's
    /// would differ.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        self.init()
        try replaceFields(container.decode([[String]].self, forKey: .fields), decoder)
        stringEncoding = .init(rawValue: try container.decode(UInt.self, forKey: .stringEncoding))
        httpMethodsEncodingParametersInURI = try container.decode(Set<String>.self, forKey: .methods)
        arrayStyle = try container.decode(QueryString.ArrayStyle.self, forKey: .arrayStyle)
        timeoutInterval = try container.decodeIfPresent(ArchivedSeconds.self, forKey: .timeoutInterval)?.value
        cachePolicy = try container.decodeIfPresent(UInt.self, forKey: .cachePolicy)
            .flatMap(URLRequest.CachePolicy.init)
        httpShouldHandleCookies = try container.decodeIfPresent(Bool.self, forKey: .cookies)
    }

    /// All settings.
    ///
    /// - Throws: `EncodingError` for a serializer with a ``queryStringSerialization``.
    public func encode(to encoder: any Encoder) throws {
        guard queryStringSerialization == nil else {
            throw EncodingError.closure(named: "queryStringSerialization", encoder)
        }
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(fields.fields.map { [$0.name, $0.value] }, forKey: .fields)
        try container.encode(stringEncoding.rawValue, forKey: .stringEncoding)
        try container.encode(httpMethodsEncodingParametersInURI, forKey: .methods)
        try container.encode(arrayStyle, forKey: .arrayStyle)
        try container.encodeIfPresent(timeoutInterval.map(ArchivedSeconds.init), forKey: .timeoutInterval)
        try container.encodeIfPresent(cachePolicy?.rawValue, forKey: .cachePolicy)
        try container.encodeIfPresent(httpShouldHandleCookies, forKey: .cookies)
    }

    private mutating func replaceFields(_ pairs: [[String]], _ decoder: any Decoder) throws {
        for name in httpRequestHeaders.keys { setValue(nil, forHTTPHeaderField: name) }
        for pair in pairs {
            guard pair.count == 2 else {
                throw DecodingError.dataCorrupted(
                    .init(codingPath: decoder.codingPath, debugDescription: "A field is a name and a value.")
                )
            }
            // An archive is not trusted: its fields are checked like any others.
            try setValue(pair[1], forHTTPHeaderField: pair[0])
        }
    }
}

extension JSONRequestSerializer: Codable {
    private enum Key: String, CodingKey {
        case base
        case options
    }

    /// A serializer with all settings.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        self.init(writingOptions: .init(rawValue: try container.decode(UInt.self, forKey: .options)))
        base = try container.decode(HTTPRequestSerializer.self, forKey: .base)
    }

    /// All settings.
    ///
    /// - Throws: `EncodingError` for a serializer with a closure.
    public func encode(to encoder: any Encoder) throws {
        guard makeEncoder == nil else { throw EncodingError.closure(named: "makeEncoder", encoder) }
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(base, forKey: .base)
        try container.encode(writingOptions.rawValue, forKey: .options)
    }
}

extension PropertyListRequestSerializer: Codable {
    private enum Key: String, CodingKey {
        case base
        case format
        case options
    }

    /// A serializer with all settings.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        let number = try container.decode(UInt.self, forKey: .format)
        guard let format = PropertyListSerialization.PropertyListFormat(rawValue: number) else {
            throw DecodingError.dataCorruptedError(
                forKey: .format,
                in: container,
                debugDescription: "There is no property list format \(number)."
            )
        }
        self.init(format: format, writeOptions: try container.decode(Int.self, forKey: .options))
        base = try container.decode(HTTPRequestSerializer.self, forKey: .base)
    }

    /// All settings.
    ///
    /// - Throws: `EncodingError` for a serializer with a closure.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(base, forKey: .base)
        try container.encode(format.rawValue, forKey: .format)
        try container.encode(writeOptions, forKey: .options)
    }
}

extension EncodingError {
    fileprivate static func closure(named name: String, _ encoder: any Encoder) -> EncodingError {
        .invalidValue(
            name,
            .init(codingPath: encoder.codingPath, debugDescription: "A closure cannot be kept: \(name).")
        )
    }
}

/// A request serializer of one of this library's kinds, to be kept where the kind is not known beforehand.
enum RequestSerializerArchive: Codable, Sendable {
    case http(HTTPRequestSerializer)
    case json(JSONRequestSerializer)
    case propertyList(PropertyListRequestSerializer)

    /// - Throws: `EncodingError` for a kind of the user's own.
    init(_ serializer: any RequestSerializer) throws {
        switch serializer {
        case let serializer as HTTPRequestSerializer: self = .http(serializer)
        case let serializer as JSONRequestSerializer: self = .json(serializer)
        case let serializer as PropertyListRequestSerializer: self = .propertyList(serializer)
        default:
            throw EncodingError.invalidValue(
                serializer,
                .init(codingPath: [], debugDescription: "A \(type(of: serializer)) cannot be kept.")
            )
        }
    }

    var serializer: any RequestSerializer {
        switch self {
        case .http(let serializer): serializer
        case .json(let serializer): serializer
        case .propertyList(let serializer): serializer
        }
    }
}
