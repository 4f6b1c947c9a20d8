import Foundation
import OperationNetworking

/// Which servers are talked to, by which way, and as whom.
struct Access: Sendable {
    var trustAnchors = TrustAnchors.system
    var securityPolicy = SecurityPolicy.default
    var clientIdentity: ClientIdentity?
    /// For every server that an address of the command line names.
    var credential: Credential?
    /// For the servers that it names.
    var netrc: NetrcFile?
    var proxies = ProxyConfiguration.environment
    var redirects = RedirectPolicy.follow
    /// Of this run; nothing is kept for a later one unless there is a file.
    var cookies = CookieJar()
    /// Where the cookies are kept.
    var cookieFile: URL?

    /// Gives an operation all of it.
    func configure(_ operation: ConnectionOperation) {
        operation.trustAnchors = trustAnchors
        operation.securityPolicy = securityPolicy
        operation.clientIdentity = clientIdentity
        operation.proxyConfiguration = proxies
        operation.redirectPolicy = redirects
        operation.cookieJar = cookies
        operation.shouldUseCredentialStorage = false
        operation.credential = credential
        guard let netrc else { return }
        operation.setAuthenticationChallenge { _, challenge in
            guard challenge.previousFailureCount == 0, let known = netrc.credential(for: challenge.host)
            else {
                return .performDefaultHandling
            }
            return .use(known)
        }
    }

    /// Writes the cookies to their file, if there is one.
    /// - Throws: `Failure` with ``Outcome/file``.
    func saveCookies() throws {
        guard let cookieFile else { return }
        do {
            try cookies.save(to: cookieFile)
        } catch {
            throw Failure(.file, "The cookies could not be saved: \((error as NSError).localizedDescription)")
        }
    }
}
