internal import OperationNetworkingSystem

/// A response serializer that archives of operations and managers keep: most of this library's, and those of
/// your own that conform.
///
/// An archive has the name of the kind and the encoded value. A later process has to register a kind of your
/// own, or of another module, before it decodes the archive:
///
/// ```swift
/// ImageResponseSerializer.registerForArchives()
/// let archive = try JSONDecoder().decode(OperationManagerArchive.self, from: data)
/// let manager = OperationManager(archive: archive)
/// ```
public protocol ArchivableResponseSerializer: ResponseSerializer, Codable {
    /// The permanent name of the kind in archives. Defaults to the name of the module and the type.
    static var archiveName: String { get }
}

extension ArchivableResponseSerializer {
    /// The name of the module and the type.
    public static var archiveName: String { String(reflecting: Self.self) }

    /// Lets this process decode archives with serializers of this kind. Of two kinds with one name the last
    /// counts. Callable from any thread, any number of times.
    public static func registerForArchives() {
        ResponseSerializerArchive.kinds.withLock { $0[archiveName] = Self.self }
    }
}

/// A response serializer of any kind, coded as the name of its kind and its value.
struct ResponseSerializerArchive: Codable, Sendable {
    private enum Key: CodingKey {
        case kind, value
    }

    /// The kinds that this process can decode, by their names.
    fileprivate static let kinds = Locked(
        Dictionary(
            uniqueKeysWithValues: ([
                HTTPResponseSerializer.self, JSONResponseSerializer.self, StringResponseSerializer.self,
                XMLParserResponseSerializer.self, XMLDocumentResponseSerializer.self,
                PropertyListResponseSerializer.self, ImageHeadResponseSerializer.self,
                CompoundResponseSerializer.self,
            ] as [any ArchivableResponseSerializer.Type]).map { ($0.archiveName, $0) }
        )
    )

    let serializer: any ResponseSerializer

    /// Any serializer: one that is not archivable is an error when it is encoded.
    init(unchecked serializer: any ResponseSerializer) {
        self.serializer = serializer
    }

    /// - Throws: `EncodingError` if the serializer, or a child of it, is not archivable.
    init(_ serializer: any ResponseSerializer) throws {
        self.init(unchecked: serializer)
        _ = try archivable
        for child in (serializer as? CompoundResponseSerializer)?.serializers ?? [] { _ = try Self(child) }
    }

    private var archivable: any ArchivableResponseSerializer {
        get throws {
            if let serializer = serializer as? any ArchivableResponseSerializer { return serializer }
            let description = "A \(type(of: serializer)) is not an ArchivableResponseSerializer."
            throw EncodingError.invalidValue(
                serializer,
                .init(codingPath: [], debugDescription: description)
            )
        }
    }

    // By hand: only the table says which type the value has.

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        let name = try values.decode(String.self, forKey: .kind)
        guard let kind = Self.kinds.withLock({ $0[name] }) else {
            throw DecodingError.dataCorrupted(
                decoder,
                "The archive has a serializer of the kind \(name), which this process does not know. Call its "
                    + "registerForArchives() first."
            )
        }
        serializer = try kind.init(from: values.superDecoder(forKey: .value))
    }

    func encode(to encoder: any Encoder) throws {
        let serializer = try archivable
        // So that this process can decode it.
        type(of: serializer).registerForArchives()
        var values = encoder.container(keyedBy: Key.self)
        try values.encode(type(of: serializer).archiveName, forKey: .kind)
        try serializer.encode(to: values.superEncoder(forKey: .value))
    }
}
