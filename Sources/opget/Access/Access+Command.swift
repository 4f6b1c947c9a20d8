import Foundation
import Glibc
import OperationNetworking

extension Access {
    /// Creates the access that the options describe.
    ///
    /// - Parameters:
    ///   - command: the options.
    ///   - environment: the environment variables.
    ///   - ask: prompts for a secret at the terminal; returns `nil` if there is none.
    /// - Throws: `Failure`, mostly with ``Outcome/usage``.
    init(
        _ command: OpgetCommand,
        environment: [String: String],
        ask: (_ question: String) throws -> String?
    ) throws {
        try Self.checkNames(command)
        trustAnchors = try Self.trustAnchors(command, environment)
        securityPolicy = try Self.policy(command)
        clientIdentity = try Self.identity(command, environment, ask)
        credential = try Self.credential(command.user, environment, ask)
        netrc = try Self.netrc(command)
        proxies = try Self.proxies(command, environment, ask)
        if let count = command.maximumRedirects {
            guard count >= 0 else {
                throw Failure(.usage, "--max-redirects needs a number of at least 0, not \(count).")
            }
            redirects.maximumCount = count
        }
        if let path = command.cookieJar {
            // The file is replaced by a new one, and a link should stay a link.
            var file = FilePath(path).url.resolvingSymlinksInPath()
            // A link to a file that does not exist yet, which Foundation does not resolve.
            if let target = try? FileManager.default.destinationOfSymbolicLink(atPath: file.path) {
                file = URL(fileURLWithPath: target, relativeTo: file.deletingLastPathComponent())
                    .resolvingSymlinksInPath()
            }
            if access(file.path, F_OK) == 0,
                try file.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile != true
            {
                throw Failure(.usage, "--cookie-jar needs a file, but \(path) is not one.")
            }
            let (cookieFile, warnings) = try Self.cookies(in: file)
            self.cookieFile = cookieFile
            self.warnings += warnings
            cookies = cookieFile.jar
            let isFetchedThere = command.output.flatMap(OutputDescriptor.number(of:)) == nil
            try Self.checkFolder(of: file, orMade: isFetchedThere ? command.directory : nil)
        }
    }

    /// Checks that a new jar can be created, before anything is fetched. The directory of `-d` is created
    /// later if it is missing.
    private static func checkFolder(of file: URL, orMade directory: String?) throws {
        let folder = FilePath(file.deletingLastPathComponent().path)
        // With ".", this fails for a file.
        guard Glibc.access(folder.appending(".").text, W_OK | X_OK) == 0 else {
            let code = errno
            if code == ENOENT, let directory,
                FilePath(directory).url.resolvingSymlinksInPath().path == folder.text
            {
                return
            }
            throw Failure(
                .file,
                "--cookie-jar: no file can be created in \(folder.text): \(Failure.reason(code))."
            )
        }
    }

    /// An empty name is usually an unset variable of a script, which deserves a clear error.
    private static func checkNames(_ command: OpgetCommand) throws {
        let files = [
            ("--cacert", command.certificates), ("--capath", command.certificateDirectory),
            ("--cert", command.clientCertificate), ("--key", command.clientKey),
            ("--netrc-file", command.netrcFile), ("--cookie-jar", command.cookieJar),
        ]
        for (option, name) in files where name?.isEmpty == true {
            throw Failure(.usage, "\(option) needs a name, not an empty one.")
        }
    }

    /// `--cacert` or `--capath`, else curl's `CURL_CA_BUNDLE`, else the library's default, including
    /// `SSL_CERT_FILE` and `SSL_CERT_DIR`.
    static func trustAnchors(_ command: OpgetCommand, _ environment: [String: String]) throws -> TrustAnchors
    {
        guard command.certificates == nil || command.certificateDirectory == nil else {
            throw Failure(.usage, "--cacert and --capath cannot be combined.")
        }
        if let path = command.certificates {
            guard access(path, R_OK) == 0 else { throw Failure(reading: FilePath(path), errno) }
            return .file(FilePath(path).url)
        }
        if let path = command.certificateDirectory {
            guard access(path, R_OK | X_OK) == 0 else { throw Failure(reading: FilePath(path), errno) }
            return .directory(FilePath(path).directoryURL)
        }
        guard let path = environment["CURL_CA_BUNDLE"], !path.isEmpty else { return .system }
        return .file(FilePath(path).url)
    }

    private static func policy(_ command: OpgetCommand) throws -> SecurityPolicy {
        // An empty pin must not mean that there is none.
        let texts = command.pins.flatMap { $0.split(separator: ";", omittingEmptySubsequences: false) }
        let pins = try texts.map { text in
            do throws(CertificateError) {
                return try PublicKeyPin(String(text))
            } catch {
                throw Failure(.usage, "--pin: \(error)")
            }
        }
        var policy = SecurityPolicy(
            pinningMode: pins.isEmpty ? .none : .publicKey,
            pinnedPublicKeys: Set(pins)
        )
        if command.isInsecure {
            policy.allowInvalidCertificates = true
            policy.validatesDomainName = false
        }
        return policy
    }

    private static func identity(
        _ command: OpgetCommand,
        _ environment: [String: String],
        _ ask: (String) throws -> String?
    ) throws -> ClientIdentity? {
        guard let path = command.clientCertificate else {
            guard command.clientKey == nil else { throw Failure(.usage, "--key needs --cert.") }
            return nil
        }
        var passphrase = environment["OPGET_PASSPHRASE"]
        do {
            return try identity(path, key: command.clientKey, passphrase)
        } catch CertificateError.wrongPassphrase where passphrase == nil {
            passphrase = try ask("Passphrase of the key in \(command.clientKey ?? path)")
            guard let passphrase else {
                throw Failure(
                    .usage,
                    "The key in \(command.clientKey ?? path) needs a passphrase: set OPGET_PASSPHRASE."
                )
            }
            return try identity(path, key: command.clientKey, passphrase)
        }
    }

    private static func identity(_ path: String, key: String?, _ passphrase: String?) throws -> ClientIdentity
    {
        let file = FilePath(path).url
        guard ["p12", "pfx"].contains(file.pathExtension.lowercased()) else {
            return try ClientIdentity(
                pemFile: file,
                keyFile: key.map { FilePath($0).url },
                passphrase: passphrase
            )
        }
        guard key == nil else {
            throw Failure(.usage, "\(path) contains its key: --key is for PEM files.")
        }
        return try ClientIdentity(pkcs12File: file, passphrase: passphrase ?? "")
    }

    /// `user:password`; without a password, `OPGET_PASSWORD` or the user's input.
    private static func credential(
        _ text: String?,
        _ environment: [String: String],
        _ ask: (String) throws -> String?
    ) throws -> Credential? {
        guard let text else { return nil }
        let (user, password) = try userAndPassword(text, "OPGET_PASSWORD", "-u", environment, ask)
        return Credential(user: user, password: password)
    }

    private static func userAndPassword(
        _ text: String,
        _ variable: String,
        _ option: String,
        _ environment: [String: String],
        _ ask: (String) throws -> String?
    ) throws -> (user: String, password: String) {
        if let colon = text.firstIndex(of: ":") {
            return (String(text[..<colon]), String(text[text.index(after: colon)...]))
        }
        guard !text.isEmpty else { throw Failure(.usage, "\(option) needs a user.") }
        if let password = environment[variable] { return (text, password) }
        guard let password = try ask("Password of \(text)") else {
            throw Failure(.usage, "\(option) without a password: set \(variable).")
        }
        return (text, password)
    }

    private static func netrc(_ command: OpgetCommand) throws -> NetrcFile? {
        guard command.usesNetrc || command.netrcFile != nil else { return nil }
        do throws(NetrcError) {
            return try NetrcFile(contentsOf: command.netrcFile.map { FilePath($0).url })
        } catch {
            if case .unreadable = error { throw Failure(.file, "\(error)") }
            throw Failure(.usage, "\(error)")
        }
    }

    private static func proxies(
        _ command: OpgetCommand,
        _ environment: [String: String],
        _ ask: (String) throws -> String?
    ) throws -> ProxyConfiguration {
        let exceptions = command.proxyExceptions.map { $0.split(separator: ",").map(String.init) }
        guard let text = command.proxy else {
            guard exceptions == nil, command.proxyUser == nil else {
                throw Failure(.usage, "--noproxy and --proxy-user need --proxy.")
            }
            return .environment
        }
        // As in curl, an empty value means no proxy, even if the environment names one.
        guard !text.isEmpty else { return .none }
        let user = try command.proxyUser.map {
            try userAndPassword($0, "OPGET_PROXY_PASSWORD", "--proxy-user", environment, ask)
        }
        do throws(ProxyError) {
            var proxy = try Proxy(text)
            if let user {
                proxy = try Proxy(
                    kind: proxy.kind,
                    host: proxy.host,
                    port: proxy.port,
                    user: user.user,
                    password: user.password
                )
            }
            return .proxy(proxy, exceptions: exceptions ?? [])
        } catch {
            throw Failure(.usage, "--proxy: \(error)")
        }
    }

    private static func cookies(in file: URL) throws -> (CookieJarFile, warnings: [String]) {
        var lines: [CookieFileError] = []
        do {
            let cookies = try CookieJarFile(file) { lines.append($0) }
            var warnings = lines.prefix(Self.maximumWarnings).map { "\(file.path): \($0) It is skipped." }
            if lines.count > warnings.count {
                warnings.append("\(file.path): \(lines.count - warnings.count) more lines are skipped.")
            }
            return (cookies, warnings)
        } catch {
            throw Failure(.file, "\(file.path): \((error as NSError).localizedDescription)")
        }
    }

    /// The file may have any number of invalid lines.
    private static let maximumWarnings = 10
}
