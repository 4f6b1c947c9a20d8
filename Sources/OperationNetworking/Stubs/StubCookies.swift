import Foundation
import FoundationNetworking

/// The cookies of a stubbed transfer, which libcurl does not handle.
struct StubCookies {
    private let known: [Cookie]
    private let url: URL

    /// `known` are the cookies that may match the server.
    init(_ known: [Cookie], for url: URL) {
        self.known = known
        self.url = url
    }

    /// The value of the request's `Cookie` field; `nil` if no cookie matches the request.
    var fieldValue: String? { known.fieldValue(for: url) }

    /// Returns the changes that a response with these fields makes to cookies. The jar checks public
    /// suffixes.
    func changes(by fields: HeaderFields) -> CookieChanges {
        var prefixes = CookiePrefix()
        var erasures = CookieErasures()
        var after = known
        var names: Set<String> = []
        let host = Cookie.canonical(url.host ?? "")
        let isSecure = Cookie.isSecure(host: host, isTLS: url.isTLS)
        for line in fields.values(for: "Set-Cookie") {
            prefixes.read(line)
            erasures.read(line)
            names.insert(CookiePrefix.name(of: line))
            let path = path(of: line)
            for new in HTTPCookie.cookies(withResponseHeaderFields: ["Set-Cookie": line], for: url) {
                guard let cookie = Cookie(new)?.at(path: path), cookie.concerns(host: host),
                    isSecure || !cookie.isSecure
                else { continue }
                after.removeAll { $0.identity == cookie.identity }
                after.append(cookie)
            }
        }
        return CookieChanges(
            from: known,
            to: after,
            naming: names,
            refusing: prefixes.brokenNames,
            by: host,
            isSecure: isSecure,
            erasing: erasures,
            ofRequestTo: url.path(percentEncoded: true)
        )
    }

    /// The path of the line's cookies. Without a `Path` it is the directory of the request; Foundation on
    /// Linux uses `/`.
    private func path(of line: String) -> String {
        let named = CookiePrefix.attributes(of: line).last {
            $0.name.lowercased() == "path" && !$0.value.isEmpty
        }
        guard let path = named?.value else {
            return String(CookieErasures.directory(of: url.path(percentEncoded: true)))
        }
        return path.hasPrefix("/") ? String(path) : "/"
    }
}
