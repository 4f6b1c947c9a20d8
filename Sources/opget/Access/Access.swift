import Foundation
import FoundationNetworking
import OperationNetworking

/// The access to servers: trust, proxies, credentials, redirects and cookies.
struct Access: Sendable {
    var trustAnchors = TrustAnchors.system
    var securityPolicy = SecurityPolicy.default
    var clientIdentity: ClientIdentity?
    /// For the servers of all addresses on the command line.
    var credential: Credential?
    /// For the servers in the file.
    var netrc: NetrcFile?
    var proxies = ProxyConfiguration.environment
    var redirects = RedirectPolicy.follow
    /// The cookies of this run, which are saved only if there is a file.
    var cookies = CookieJar()
    /// The cookie file, if any.
    var cookieFile: CookieJarFile?
    /// Warnings about the files that were read, to be shown before the run.
    var warnings: [String] = []

    /// Applies the access to an operation.
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

    /// Returns the credential for an address: `-u`, or else the netrc file's for a host on the command line.
    /// A password in the address, or a different user, takes precedence over both. Servers that a redirect
    /// leads to get none.
    func credential(for url: URL?) -> Credential? {
        if let credential { return credential }
        guard let netrc, let url, let host = url.host, url.password(percentEncoded: true) == nil else {
            return nil
        }
        return netrc.credential(for: host, user: url.user(percentEncoded: false))
    }

    /// Starts saving changed cookies to their file, so that among several runs the last change wins.
    func saveCookiesSoon() {
        cookieFile?.saveSoon()
    }

    /// Saves changed cookies to their file, if there is one.
    /// - Throws: `Failure` with ``Outcome/file`` or ``Outcome/diskFull``.
    func saveCookies() throws {
        guard let cookieFile else { return }
        do {
            try cookieFile.save()
        } catch {
            throw Failure(
                Outcome(error as NSError),
                "The cookies could not be saved: \((error as NSError).localizedDescription)"
            )
        }
    }
}
