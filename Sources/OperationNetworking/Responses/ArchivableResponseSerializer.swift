internal import OperationNetworkingSystem

/// A response serializer of your own, or of another module, that archives of operations and managers keep.
///
/// An archive names the kind and has the encoded value. A later process has to know the kind before it
/// decodes the archive:
///
/// ```swift
/// ImageResponseSerializer.registerForArchives()
/// let archive = try JSONDecoder().decode(OperationManagerArchive.self, from: data)
/// let manager = OperationManager(archive: archive)
/// ```
public protocol ArchivableResponseSerializer: ResponseSerializer, Codable {
    /// Names the kind in archives, for ever; the name of the module and the type unless you say otherwise.
    static var archiveName: String { get }
}

extension ArchivableResponseSerializer {
    /// The name of the module and the type.
    public static var archiveName: String { String(reflecting: Self.self) }

    /// Lets this process decode archives with serializers of this kind. Of two kinds with one name the last
    /// counts. Callable from any thread, any number of times.
    public static func registerForArchives() {
        ArchivableKinds.known.withLock { $0[archiveName] = Self.self }
    }
}

private enum ArchivableKinds {
    static let known = Locked<[String: any ArchivableResponseSerializer.Type]>([:])
}

/// A serializer of a registered kind, in an archive.
struct ForeignSerializerArchive: Codable, Sendable {
    private enum Key: CodingKey {
        case name, value
    }

    let serializer: any ArchivableResponseSerializer

    /// Makes the kind known in this process.
    init(_ serializer: any ArchivableResponseSerializer) {
        type(of: serializer).registerForArchives()
        self.serializer = serializer
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        let name = try container.decode(String.self, forKey: .name)
        guard let kind = ArchivableKinds.known.withLock({ $0[name] }) else {
            throw DecodingError.dataCorruptedError(
                forKey: .name,
                in: container,
                debugDescription: "The archive has a serializer of the kind \(name), which this process does "
                    + "not know: call its registerForArchives() before."
            )
        }
        serializer = try kind.init(from: container.superDecoder(forKey: .value))
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(type(of: serializer).archiveName, forKey: .name)
        try serializer.encode(to: container.superEncoder(forKey: .value))
    }
}
