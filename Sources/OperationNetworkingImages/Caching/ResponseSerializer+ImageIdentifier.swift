internal import OperationNetworking

extension ResponseSerializer {
    /// The identifier of the serializer's images in a cache: different serializers decode different pixels
    /// from the same bytes.
    ///
    /// | Serializer                      | Identifier                                   |
    /// |---------------------------------|----------------------------------------------|
    /// | ``ImageResponseSerializer``     | ``ImageDecoder/cacheIdentifier``             |
    /// | compound of these, at any depth | their identifier; all of them if they differ |
    /// | any other                       | the name of its type                         |
    var imageIdentifier: String? {
        let identifiers = imageIdentifiers
        guard let first = identifiers.first else { return String(reflecting: Self.self) }
        // Which of them decodes an image depends on the response.
        guard identifiers.contains(where: { $0 != first }) else { return first }
        return identifiers.map { $0 ?? "stored" }.joined(separator: ", ")
    }

    /// The identifiers of the ``ImageResponseSerializer``s in this serializer.
    private var imageIdentifiers: [String?] {
        switch self {
        case let images as ImageResponseSerializer: [images.decoder.cacheIdentifier]
        case let compound as CompoundResponseSerializer: compound.serializers.flatMap(\.imageIdentifiers)
        default: []
        }
    }
}
