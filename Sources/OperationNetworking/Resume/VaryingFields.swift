internal import Foundation
internal import FoundationNetworking

/// The fields of a request that ``RequestRecord`` omits, such as `User-Agent`, `Referer` and `Origin`: they select a
/// representation only if the server's `Vary` names them ([RFC 9110
/// §12.5.5](https://www.rfc-editor.org/rfc/rfc9110#section-12.5.5)).
///
/// Secrets (``RequestIdentity``) and conditions are not among them. Only a digest of the values is stored.
struct VaryingFields: Hashable, Sendable {
    /// The values by lowercase name.
    private let values: [String: String]

    init(_ request: URLRequest) {
        var values: [String: String] = [:]
        for (name, value) in request.allHTTPHeaderFields ?? [:] where Self.mayVary(name.lowercased()) {
            values[name.lowercased()] = value
        }
        self.values = values
    }

    /// Returns a line for each of these fields that the request has.
    func lines(_ names: [String]) -> [String] {
        // A field name contains no space, so no line of another kind looks like it.
        names.compactMap { name in values[name].map { "vary \(name): \($0)" } }
    }

    /// Returns the names of such fields in the `Vary` of a response, sorted; `nil` for `*`, which says that something
    /// other than the fields selects the representation.
    static func names(in fields: HeaderFields) -> [String]? {
        let members = (fields.combined(for: "Vary") ?? "").split(separator: ",")
            .map { Substring($0.utf8.trimmingHTTPWhitespace()).lowercased() }
        return members.contains("*") ? nil : Set(members.filter(mayVary)).sorted()
    }

    private static func mayVary(_ name: String) -> Bool {
        !name.isEmpty && !name.hasPrefix("if-") && !SecretFields.isSecret(name)
            && !SecretFields.marksMessage(name) && !RequestRecord.selects(name)
    }
}
