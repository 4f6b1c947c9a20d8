/// The cookies of a transfer, if they have been read.
enum CookieReading: Sendable {
    case notYet
    /// `nil` if the transfer does not use a jar.
    case done(JarCookies?)

    /// Whether there are cookies that may be sent to the server.
    var areSent: Bool {
        switch self {
        case .notYet, .done(nil): false
        case .done(let read?): !read.cookies.isEmpty
        }
    }
}

/// An exchange's reading and writing of its cookie jar: a value.
struct CookieWork {
    /// The cookies for the next transfer.
    private var reading: CookieReading
    /// The number of changes that the jar has not stored yet.
    private var stores = 0

    init(_ reading: CookieReading) {
        self.reading = reading
    }

    /// Whether the cookies have been read and are current, as far as that can be seen without blocking.
    func areRead(from jar: CookieJar?) -> Bool {
        switch reading {
        case .notYet: false
        case .done(nil): true
        case .done(let read?): jar?.version == read.version
        }
    }

    var areStored: Bool { stores == 0 }

    /// Takes the cookies that were read, once.
    mutating func take() -> JarCookies? {
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

    mutating func didStore() {
        stores -= 1
    }
}
