internal import Foundation
internal import FoundationNetworking

/// The parts of a request that select its response's bytes: enough to tell later whether another one asks for
/// the same.
///
/// No field is written down that is, or looks like, a secret: only its name.
struct RequestRecord: Hashable, Codable, Sendable {
    /// The address that the caller gave, without the fragment.
    let url: String
    let method: String
    /// Whether it had a body (P15).
    let hasBody: Bool
    /// The fields that may select one of several representations, by lowercase name.
    let selectingFields: [String: String]
    /// The lowercase names of the fields whose values are not written down, sorted.
    let secretFields: [String]

    init(_ request: URLRequest) {
        url = RequestRecord.address(of: request)
        method = request.httpMethod ?? "GET"
        hasBody = !(request.httpBody ?? Data()).isEmpty || request.httpBodyStream != nil
        var selecting: [String: String] = [:]
        var secret: [String] = []
        for (name, value) in request.allHTTPHeaderFields ?? [:] {
            let name = name.lowercased()
            if SecretFields.isSecret(name) {
                secret.append(name)
            } else if RequestRecord.selects(name) {
                selecting[name] = value
            }
        }
        selectingFields = selecting
        secretFields = secret.sorted()
    }

    /// The request, without what was not written down; `nil` if its address is none.
    var request: URLRequest? {
        guard let url = URL(string: url) else { return nil }
        var request = URLRequest(url: url)
        request.httpMethod = method
        request.allHTTPHeaderFields = selectingFields
        return request
    }

    /// Whether both ask the same, apart from the address (P15, P16).
    func selectsTheSame(as other: RequestRecord) -> Bool {
        method == other.method && hasBody == other.hasBody && secretFields == other.secretFields
            && selectingFields.count == other.selectingFields.count
            && selectingFields.allSatisfy { name, value in
                other.selectingFields[name].map { $0.utf8.elementsEqual(value.utf8) } ?? false
            }
    }

    private static func address(of request: URLRequest) -> String {
        let text = request.url?.withoutUserInformation.absoluteString ?? ""
        return text.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).first.map(
            String.init
        ) ?? ""
    }

    /// Fields that say nothing about which representation is wanted, or are another value in each request.
    private static func selects(_ name: String) -> Bool {
        if name.hasPrefix("if-") || name.hasPrefix("sec-") || name.hasPrefix("proxy-") { return false }
        return !unselectingFields.contains(name)
    }

    private static let unselectingFields: Set<String> = [
        "accept-encoding", "cache-control", "connection", "content-length", "content-type", "date", "expect",
        "host",
        "keep-alive", "origin", "pragma", "priority", "referer", "te", "traceparent", "tracestate",
        "transfer-encoding", "upgrade", "user-agent", "via", "x-correlation-id", "x-request-id",
    ]
}
