/// The cookies of a transfer, as far as they are known.
enum CookieReading: Sendable {
    case notYet
    /// `nil`: it has nothing to do with a jar.
    case done(JarCookies?)

    /// Whether any are known that go to the server, perhaps.
    var areSent: Bool {
        switch self {
        case .notYet, .done(nil): false
        case .done(let read?): !read.cookies.isEmpty
        }
    }
}

/// The dealings of an exchange with its jar: a value.
struct CookieWork {
    /// For the next transfer.
    private var reading: CookieReading
    /// The number of changes on their way to the jar.
    private var stores = 0

    init(_ reading: CookieReading) {
        self.reading = reading
    }

    /// Whether they are known as they are at the moment, as far as that can be seen without a wait.
    func areRead(from jar: CookieJar?) -> Bool {
        switch reading {
        case .notYet: false
        case .done(nil): true
        case .done(let read?): jar?.version == read.version
        }
    }

    var areStored: Bool { stores == 0 }

    /// The cookies that were read, once.
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
