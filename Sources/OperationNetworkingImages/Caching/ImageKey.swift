internal import Foundation
internal import FoundationNetworking
internal import OperationNetworking

/// The key of an image in a cache: an identifier, and unless it stands alone the URL, the fields that may
/// choose the image, and whom it was requested as. They are kept apart, so that no URL with an identifier is
/// another URL.
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

    /// `nil` for a request without a URL, which no image comes from. Without a context it is as the request
    /// alone says, under the default policy.
    init?(_ request: URLRequest, _ identifier: String?, context: ImageContext? = nil) {
        guard let url = request.url?.absoluteString else { return nil }
        self.url = url
        fields = request.choosingFields
        self.context = context ?? ImageContext(request)
        self.identifier = identifier
    }

    /// Whether it is the key of the same question, of any user.
    func isFor(_ other: ImageKey) -> Bool {
        url == other.url && fields == other.fields && identifier == other.identifier
    }
}

// MARK: - CustomReflectable

extension ImageKey: CustomReflectable {
    /// Without the fields and the user: `dump` would show secrets.
    var customMirror: Mirror { Mirror(self, children: ["identifier": identifier ?? ""]) }
}

extension URLRequest {
    /// The fields by which a server may choose what it answers, or to whom, by names in lower case: all but
    /// those that are known to change no image. A key or a token may be in a field of any name.
    var choosingFields: [String: String] {
        guard let all = allHTTPHeaderFields, !all.isEmpty else { return [:] }
        var fields: [String: String] = [:]
        for (name, value) in all {
            let name = name.lowercased()
            if !Self.neutralFields.contains(name), !SecretFields.marksMessage(name) { fields[name] = value }
        }
        return fields
    }

    /// Formats that the decoder reads anyway, and what caches and connections do.
    private static let neutralFields: Set<String> = [
        "accept", "accept-encoding", "cache-control", "connection", "if-modified-since", "if-none-match",
        "pragma", "priority", "referer", "te", "user-agent",
    ]
}
