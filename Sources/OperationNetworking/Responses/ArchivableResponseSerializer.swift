internal import OperationNetworkingSystem

/// A response serializer that archives of operations and managers include. Most serializers of this library
/// conform, and your own can.
///
/// An archive contains the name of the kind and the encoded value. If the kind is your own, or from another
/// module, the process that decodes the archive has to register it first:
///
/// ```swift
/// ImageResponseSerializer.registerForArchives()
/// let archive = try JSONDecoder().decode(OperationManagerArchive.self, from: data)
/// let manager = OperationManager(archive: archive)
/// ```
public protocol ArchivableResponseSerializer: ResponseSerializer, Codable {
    /// The permanent name of the kind in archives. Defaults to the names of the module and the type.
    static var archiveName: String { get }
}

extension ArchivableResponseSerializer {
    /// The names of the module and the type.
    public static var archiveName: String { String(reflecting: Self.self) }

    /// Registers the kind, so that this process can decode archives with such serializers. Of two kinds with
    /// the same name, the last one registered is used. Callable from any thread, any number of times.
    public static func registerForArchives() {
        ResponseSerializerArchive.kinds.withLock { $0[archiveName] = Self.self }
    }
}

/// A response serializer of any kind, encoded as the name of its kind and its value.
struct ResponseSerializerArchive: Codable, Sendable {
    private enum Key: CodingKey {
        case kind, value
    }

    /// The kinds that this process can decode, by name.
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

    /// Accepts any serializer. Encoding one that is not archivable throws an error.
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

    // Decoded by hand: only the table knows the type of the value.

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
        // This process can decode the kind from now on.
        type(of: serializer).registerForArchives()
        var values = encoder.container(keyedBy: Key.self)
        try values.encode(type(of: serializer).archiveName, forKey: .kind)
        try serializer.encode(to: values.superEncoder(forKey: .value))
    }
}
