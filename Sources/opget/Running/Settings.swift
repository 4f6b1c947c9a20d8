import Foundation
import FoundationNetworking
import OperationNetworking

/// How to fetch, as the command line has it.
struct Settings: Sendable {
    /// Transfers at once.
    var concurrency: Int
    var replacesFiles: Bool
    var fields: [HeaderOption]
    var trustAnchors: TrustAnchors

    /// `--cacert`, else what curl takes: `CURL_CA_BUNDLE`, then `SSL_CERT_FILE`; else the system's.
    static func trustAnchors(option: String?, environment: [String: String]) -> TrustAnchors {
        let named = [option, environment["CURL_CA_BUNDLE"], environment["SSL_CERT_FILE"]]
        guard let path = named.compactMap({ $0 }).first(where: { !$0.isEmpty }) else { return .system }
        return .file(URL(fileURLWithPath: path))
    }

    /// The request for an item.
    func request(for url: URL) -> URLRequest {
        var request = URLRequest(url: url)
        if !fields.contains(where: { $0.name.lowercased() == "user-agent" }) {
            request.setValue("opget/\(OpgetCommand.version)", forHTTPHeaderField: "User-Agent")
        }
        for field in fields { request.addValue(field.value, forHTTPHeaderField: field.name) }
        return request
    }
}
