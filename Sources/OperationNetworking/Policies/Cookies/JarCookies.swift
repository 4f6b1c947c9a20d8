/// The cookies of a jar that may concern a host, as they were at one time.
struct JarCookies: Sendable {
    var cookies: [Cookie]
    /// See ``CookieJar/version``.
    var version: Int
}
