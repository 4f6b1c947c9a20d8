import Foundation
import FoundationNetworking
import OperationNetworking

/// The access to servers: trust, proxies, credentials, redirects and cookies.
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
    /// The cookies of this run; none is kept for a later one unless there is a file.
    var cookies = CookieJar()
    /// The file that keeps the cookies; `nil`: there is none.
    var cookieFile: CookieJarFile?
    /// The warnings about the files that were read, to be told before the run.
    var warnings: [String] = []

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

    /// The credential for an address: `-u`, else the netrc file's for the host of an address of the command
    /// line. A password in the address itself comes before both, and so does a user in it who is another one.
    /// A server that a redirect leads to gets none.
    func credential(for url: URL?) -> Credential? {
        if let credential { return credential }
        guard let netrc, let url, let host = url.host, url.password(percentEncoded: true) == nil else {
            return nil
        }
        return netrc.credential(for: host, user: url.user(percentEncoded: false))
    }

    /// Begins to write the cookies that changed to their file, so that of several runs the change that came
    /// last is the last one there.
    func saveCookiesSoon() {
        cookieFile?.saveSoon()
    }

    /// Writes the cookies that changed to their file, if there is one.
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
