import Foundation
import FoundationNetworking

/// The cookies of a transfer, as far as they are known.
enum CookieReading: Sendable {
    case notYet
    /// `nil`: it has nothing to do with a jar.
    case done([Cookie]?)
}

/// What an exchange has to do with its jar: a value.
struct CookieWork {
    /// For the next transfer.
    private var reading: CookieReading
    /// How many changes are on their way to the jar.
    private var stores = 0
    /// The end is decided, and waits for them.
    private var holdsEnd = false

    init(_ reading: CookieReading) {
        self.reading = reading
    }

    var areRead: Bool {
        switch reading {
        case .notYet: false
        case .done: true
        }
    }

    var areStored: Bool { stores == 0 }

    /// What was read, once.
    mutating func take() -> [Cookie]? {
        defer { reading = .notYet }
        switch reading {
        case .notYet: return nil
        case .done(let cookies): return cookies
        }
    }

    mutating func forget() {
        reading = .notYet
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
        guard !cookies.areRead, let (jar, host) = hop.cookieSource(configuration.settings.cookieJar) else {
            return false
        }
        phase = .idle
        jar.read(concerning: host) { [round] cookies in
            NetworkThread.shared.perform { room in
                guard self.round == round, case .idle = self.phase else { return }
                self.startTransfer(room, with: cookies)
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
    /// The cookies of its first transfer, read now: it may wait for a disk, as the network thread may not. Next to nothing
    /// is done for a jar that is empty.
    func readCookies(_ jar: CookieJar?) -> CookieReading {
        guard let jar, takesCookies else { return .done(nil) }
        guard !jar.isEmpty else { return .done([]) }
        return .done(cookieHost.map { jar.cookies(concerning: $0) })
    }

    /// Where the request's cookies come from, and for which host; `nil`: it has none.
    func cookieSource(_ jar: CookieJar?) -> (jar: CookieJar, host: String)? {
        guard let jar, takesCookies, let host = cookieHost else { return nil }
        return (jar, host)
    }

    /// Whether it wants any. One with a `Cookie` field of its own takes care of them itself.
    private var takesCookies: Bool {
        httpShouldHandleCookies && field("Cookie") == nil
    }

    /// A `Host` field names the host that cookies are for, as it does for libcurl.
    private var cookieHost: String? {
        (field("Host") ?? url?.host).map(Cookie.canonical)
    }

    private func field(_ name: String) -> String? {
        allHTTPHeaderFields?.first { $0.key.isEqualIgnoringASCIICase(to: name) }?.value
    }
}
