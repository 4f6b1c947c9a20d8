/// A response serializer of one of this library's kinds, or of a registered one, to be kept where the kind is
/// not known beforehand.
indirect enum ResponseSerializerArchive: Codable, Sendable {
    case http(HTTPResponseSerializer)
    case json(JSONResponseSerializer)
    case string(StringResponseSerializer)
    case xmlParser(XMLParserResponseSerializer)
    case xmlDocument(XMLDocumentResponseSerializer)
    case propertyList(PropertyListResponseSerializer)
    case imageHead(ImageHeadResponseSerializer)
    case compound(CompoundResponseSerializer)
    case foreign(ForeignSerializerArchive)

    /// - Throws: `EncodingError` for a kind that cannot be made again: one of the user's own that is no
    ///   ``ArchivableResponseSerializer``, or one that decodes values of a type.
    init(_ serializer: any ResponseSerializer) throws {
        switch serializer {
        case let serializer as HTTPResponseSerializer: self = .http(serializer)
        case let serializer as JSONResponseSerializer: self = .json(serializer)
        case let serializer as StringResponseSerializer: self = .string(serializer)
        case let serializer as XMLParserResponseSerializer: self = .xmlParser(serializer)
        case let serializer as XMLDocumentResponseSerializer: self = .xmlDocument(serializer)
        case let serializer as PropertyListResponseSerializer: self = .propertyList(serializer)
        case let serializer as ImageHeadResponseSerializer: self = .imageHead(serializer)
        case let serializer as CompoundResponseSerializer:
            for child in serializer.serializers { _ = try ResponseSerializerArchive(child) }
            self = .compound(serializer)
        case let serializer as any ArchivableResponseSerializer: self = .foreign(.init(serializer))
        default:
            throw EncodingError.invalidValue(
                serializer,
                .init(
                    codingPath: [],
                    debugDescription: "A \(type(of: serializer)) cannot be kept: it is no "
                        + "ArchivableResponseSerializer."
                )
            )
        }
    }

    var serializer: any ResponseSerializer {
        switch self {
        case .http(let serializer): serializer
        case .json(let serializer): serializer
        case .string(let serializer): serializer
        case .xmlParser(let serializer): serializer
        case .xmlDocument(let serializer): serializer
        case .propertyList(let serializer): serializer
        case .imageHead(let serializer): serializer
        case .compound(let serializer): serializer
        case .foreign(let archive): archive.serializer
        }
    }
}
