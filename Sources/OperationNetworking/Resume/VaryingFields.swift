internal import Foundation
internal import FoundationNetworking

/// The fields of a request that ``RequestRecord`` leaves out, such as `User-Agent`, `Referer` and `Origin`:
/// they select a representation only where the server's `Vary` names them
/// ([RFC 9110 §12.5.5](https://www.rfc-editor.org/rfc/rfc9110#section-12.5.5)).
///
/// Secrets are not among them (``RequestIdentity``), nor are conditions. Values are never written down, only
/// their digest.
struct VaryingFields: Hashable, Sendable {
    /// The fields that a `Vary` names.
    struct Selection: Hashable, Sendable {
        /// In lower case, sorted; the request need not have them.
        let names: [String]
        /// A line for each of them that the request has.
        let lines: [String]

        static let none = Selection(names: [], lines: [])

        /// The digest that a later process compares with its own; `nil`: the request has none of them.
        var digest: SaltedDigest? { lines.isEmpty ? nil : try? SaltedDigest(of: text) }

        /// Whether it is the one whose ``digest`` this is.
        func isSelection(of digest: SaltedDigest?) -> Bool {
            guard let digest else { return lines.isEmpty }
            return (try? digest.isDigest(of: text)) ?? false
        }

        private var text: String { lines.joined(separator: "\n") }
    }

    /// By lowercase name.
    private let values: [String: String]

    init(_ request: URLRequest) {
        var values: [String: String] = [:]
        for (name, value) in request.allHTTPHeaderFields ?? [:] where Self.mayVary(name.lowercased()) {
            values[name.lowercased()] = value
        }
        self.values = values
    }

    func selection(by names: [String]) -> Selection {
        // A field has no space in its name: no line of another kind looks like it.
        let lines = names.compactMap { name in values[name].map { "vary \(name): \($0)" } }
        return Selection(names: names, lines: lines)
    }

    /// `fields`: of the response.
    func selection(by fields: HeaderFields) -> Selection {
        selection(by: Self.names(in: fields) ?? [])
    }

    /// The names of such fields in the `Vary` of a response, sorted; `nil`: it is `*`, so that something
    /// besides the request's fields selects.
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
