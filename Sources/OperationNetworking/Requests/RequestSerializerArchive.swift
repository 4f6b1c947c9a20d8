/// The request serializers that can be archived.
enum RequestSerializerArchive: Codable, Sendable {
    case http(HTTPRequestSerializer)
    case json(JSONRequestSerializer)
    case propertyList(PropertyListRequestSerializer)

    /// - Throws: `EncodingError` for any other kind.
    init(_ serializer: any RequestSerializer) throws {
        switch serializer {
        case let serializer as HTTPRequestSerializer: self = .http(serializer)
        case let serializer as JSONRequestSerializer: self = .json(serializer)
        case let serializer as PropertyListRequestSerializer: self = .propertyList(serializer)
        default:
            throw EncodingError.invalidValue(
                serializer,
                .init(codingPath: [], debugDescription: "A \(type(of: serializer)) cannot be archived.")
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
