import Foundation
import FoundationNetworking

/// What an exchange has to do with its jar: a value.
struct CookieWork {
    /// For the next transfer.
    private var read: [Cookie]?
    /// How many changes are on their way to the jar.
    private var stores = 0
    /// The end is decided, and waits for them.
    private var holdsEnd = false

    init(read: [Cookie]?) {
        self.read = read
    }

    var areRead: Bool { read != nil }

    var areStored: Bool { stores == 0 }

    /// What was read, once.
    mutating func take() -> [Cookie]? {
        defer { read = nil }
        return read
    }

    mutating func forget() {
        read = nil
    }

    mutating func willStore() {
        stores += 1
    }

    mutating func holdEnd() {
        holdsEnd = true
    }

    /// - Returns: whether the end waited for this.
    mutating func didStore() -> Bool {
        stores -= 1
        guard holdsEnd, areStored else { return false }
        holdsEnd = false
        return true
    }
}

// Cookies. The jar may wait for a disk: it is read and written on its own queue, in the order in which things happened
// here, so that a redirect sees what its response has set.
extension Exchange {
    /// Whether the cookies of the next transfer have to be read first; then it starts after that.
    func readsCookies() -> Bool {
        guard let (jar, host) = hop.cookieSource(configuration.settings.cookieJar) else {
            cookies.forget()
            return false
        }
        guard !cookies.areRead else { return false }
        phase = .idle
        jar.read(concerning: host) { [round] cookies in
            NetworkThread.shared.perform { transfers in
                guard self.round == round, case .idle = self.phase else { return }
                self.startTransfer(transfers, with: cookies)
            }
        }
        return true
    }

    /// Called from within libcurl, before the head is judged.
    func store(_ changes: CookieChanges) {
        guard let jar = configuration.settings.cookieJar else { return }
        cookies.willStore()
        jar.store(changes) {
            NetworkThread.shared.perform { _ in self.cookiesAreStored() }
        }
    }

    private func cookiesAreStored() {
        guard cookies.didStore(), case .stopping(let decided) = phase else { return }
        end(decided)
    }
}

extension URLRequest {
    /// Where the request's cookies come from, and for which host; `nil`: it has none. One with a `Cookie` field of its own
    /// takes care of them itself.
    ///
    /// A `Host` field names the host that cookies are for, as it does for libcurl.
    func cookieSource(_ jar: CookieJar?) -> (jar: CookieJar, host: String)? {
        guard let jar, httpShouldHandleCookies, let host = value(forHTTPHeaderField: "Host") ?? url?.host,
            value(forHTTPHeaderField: "Cookie") == nil
        else { return nil }
        return (jar, Cookie.canonical(host))
    }
}
