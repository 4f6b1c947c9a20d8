internal import Foundation
internal import FoundationNetworking
internal import OperationNetworking

/// The key of an image in a cache: either an identifier alone, or an identifier, the URL, the fields that may
/// affect the image, and the identity of the request. The parts are separate, so that a URL with an
/// identifier never equals another URL.
struct ImageKey: Hashable {
    let url: String?
    let fields: [String: String]
    let context: ImageContext
    let identifier: String?

    init(identifier: String) {
        url = nil
        fields = [:]
        context = .standard
        self.identifier = identifier
    }

    /// `nil` for a request without a URL. Without a context, that of the request alone is used.
    init?(_ request: URLRequest, _ identifier: String?, context: ImageContext? = nil) {
        guard let url = request.url?.absoluteString else { return nil }
        self.url = url
        fields = request.choosingFields
        self.context = context ?? ImageContext(request)
        self.identifier = identifier
    }

    /// Whether the keys are equal, ignoring the user.
    func isFor(_ other: ImageKey) -> Bool {
        url == other.url && fields == other.fields && identifier == other.identifier
    }
}

// MARK: - CustomReflectable

extension ImageKey: CustomReflectable {
    /// Without the fields and the user, so that `dump` shows no secrets.
    var customMirror: Mirror { Mirror(self, children: ["identifier": identifier ?? ""]) }
}

extension URLRequest {
    /// The fields that may affect the response, by lowercase name: all except those that are known not to
    /// affect an image. A key or token may be in any field.
    var choosingFields: [String: String] {
        guard let all = allHTTPHeaderFields, !all.isEmpty else { return [:] }
        var fields: [String: String] = [:]
        for (name, value) in all {
            let name = name.lowercased()
            if !Self.neutralFields.contains(name), !SecretFields.marksMessage(name) { fields[name] = value }
        }
        return fields
    }

    /// Fields about formats, all of which the decoder supports, and about caches and connections.
    private static let neutralFields: Set<String> = [
        "accept", "accept-encoding", "cache-control", "connection", "if-modified-since", "if-none-match",
        "pragma", "priority", "referer", "te", "user-agent",
    ]
}
