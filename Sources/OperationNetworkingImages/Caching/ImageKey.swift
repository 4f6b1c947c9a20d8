internal import Foundation
internal import FoundationNetworking

/// The key of an image in a cache: an identifier, and the URL unless it stands alone. The two are kept apart,
/// so that no URL with an identifier is another URL.
struct ImageKey: Hashable {
    let url: String?
    let identifier: String?

    init(identifier: String) {
        url = nil
        self.identifier = identifier
    }

    /// `nil` for a request without a URL, which no image comes from.
    init?(_ request: URLRequest, _ identifier: String?) {
        guard let url = request.url?.absoluteString else { return nil }
        self.url = url
        self.identifier = identifier
    }
}
