import Foundation
import FoundationNetworking
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
        operation.credential = credential(for: operation.request.url)
    }

    /// Who asks there: `-u`, else what the netrc file says about the host of an address of the command line. Who stands in
    /// the address itself comes before both. Nobody that a redirect leads to is told anything.
    func credential(for url: URL?) -> Credential? {
        if let credential { return credential }
        guard let netrc, let url, let host = url.host, url.password == nil else { return nil }
        return netrc.credential(for: host, user: url.user)
    }

    /// Writes the cookies to their file, if there is one.
    /// - Throws: `Failure` with ``Outcome/file`` or ``Outcome/diskFull``.
    func saveCookies() throws {
        guard let cookieFile else { return }
        do {
            try cookies.save(to: cookieFile)
        } catch {
            throw Failure(
                Outcome(error as NSError),
                "The cookies could not be saved: \((error as NSError).localizedDescription)"
            )
        }
    }
}
