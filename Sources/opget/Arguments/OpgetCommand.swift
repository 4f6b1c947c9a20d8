import ArgumentParser

/// The options of `opget`. ``Plan`` and ``Settings`` decide what they mean together.
struct OpgetCommand: ParsableCommand {
    static let version = "0.1.0"

    // ``HelpText`` replaces the generated help: examples come first, and exit codes last.
    static let configuration = CommandConfiguration(commandName: "opget", helpNames: [])

    @Argument(help: ArgumentHelp("The URLs to fetch, http or https.", valueName: "url"))
    var urls: [String] = []

    @Option(
        name: [.customShort("i"), .customLong("input-file")],
        help: ArgumentHelp(
            """
            Read URLs from a file, or from standard input (-): one per line, # starts a comment. Indented lines \
            out=NAME, dir=DIR and checksum=DIGEST apply to the URL above. May be repeated.
            """,
            valueName: "list"
        )
    )
    var lists: [String] = []

    @Option(
        name: [.customShort("d"), .customLong("dir")],
        help: ArgumentHelp(
            "Save files in this directory, never outside of it. It is created if missing.",
            valueName: "dir"
        )
    )
    var directories: [String] = []

    @Option(
        name: [.customShort("o"), .customLong("output")],
        help: ArgumentHelp(
            """
            Save the only file under this name; - writes it to standard output, /dev/fd/N to an open descriptor.
            """,
            valueName: "file"
        )
    )
    var outputs: [String] = []

    @Option(
        name: [.customShort("j"), .customLong("jobs")],
        parsing: .unconditional,
        help: ArgumentHelp("The number of files to fetch at the same time.", valueName: "n")
    )
    var jobs = 5

    @Option(
        name: [.customShort("H"), .customLong("header")],
        help: ArgumentHelp(
            "Send this field with every request, for example 'Accept: text/plain'.",
            valueName: "field"
        )
    )
    var headers: [String] = []

    @Option(
        name: .customLong("cacert"),
        help: ArgumentHelp(
            "Trust the certificates in this PEM file instead of the system's.",
            valueName: "file"
        )
    )
    var certificates: String?

    @Option(
        name: .customLong("capath"),
        help: ArgumentHelp(
            "Trust the certificates in this directory (see openssl rehash) instead of the system's.",
            valueName: "dir"
        )
    )
    var certificateDirectory: String?

    @Option(
        name: .customLong("pin"),
        help: ArgumentHelp(
            """
            Accept only servers whose certificate, or an authority of it, has this public key: sha256// and the \
            base64 of its SHA-256. May be repeated; one has to match.
            """,
            valueName: "key"
        )
    )
    var pins: [String] = []

    @Flag(
        name: .customLong("insecure"),
        help:
            "Do not verify the server. Anyone in between can then read and change everything."
    )
    var isInsecure = false

    @Option(
        name: [.customShort("E"), .customLong("cert")],
        help: ArgumentHelp(
            """
            Present this client certificate: PEM, or PKCS#12 if its name ends in .p12 or .pfx. The passphrase is read \
            from OPGET_PASSPHRASE or a prompt.
            """,
            valueName: "file"
        )
    )
    var clientCertificate: String?

    @Option(
        name: .customLong("key"),
        help: ArgumentHelp(
            "The private key of --cert in PEM, if it is in another file.",
            valueName: "file"
        )
    )
    var clientKey: String?

    @Option(
        name: [.customShort("u"), .customLong("user")],
        help: ArgumentHelp(
            """
            Credentials for servers that require them (Basic, Digest, NTLM). Without a password, it is read from \
            OPGET_PASSWORD or a prompt, which keeps it off the command line.
            """,
            valueName: "user[:password]"
        )
    )
    var user: String?

    @Flag(
        name: [.customShort("n"), .customLong("netrc")],
        help: "Read credentials from ~/.netrc."
    )
    var usesNetrc = false

    @Option(
        name: .customLong("netrc-file"),
        help: ArgumentHelp("Read credentials from another netrc file.", valueName: "file")
    )
    var netrcFile: String?

    @Option(
        name: [.customShort("x"), .customLong("proxy")],
        help: ArgumentHelp(
            """
            Use this proxy: http://, socks5://, or socks5h://, which looks up names itself. An empty value disables \
            proxies. By default, http_proxy, https_proxy, all_proxy and no_proxy apply.
            """,
            valueName: "url"
        )
    )
    var proxy: String?

    @Option(
        name: .customLong("proxy-user"),
        help: ArgumentHelp(
            "Credentials for the proxy. Without a password, it is read from OPGET_PROXY_PASSWORD or a prompt.",
            valueName: "user[:password]"
        )
    )
    var proxyUser: String?

    @Option(
        name: .customLong("noproxy"),
        help: ArgumentHelp(
            "Servers to reach without a proxy, separated by commas: names, .domains, addresses, 10.0.0.0/8.",
            valueName: "list"
        )
    )
    var proxyExceptions: String?

    @Option(
        name: .customLong("cookie-jar"),
        help: ArgumentHelp(
            "Send the cookies in this file, if it exists, and save cookies in it.",
            valueName: "file"
        )
    )
    var cookieJar: String?

    @Option(
        name: .customLong("max-redirects"),
        help: ArgumentHelp(
            "The maximum number of redirects per file. The default is 20.",
            valueName: "n"
        )
    )
    var maximumRedirects: Int?

    @Option(
        name: .customLong("progress"),
        help: ArgumentHelp(
            """
            auto: draw progress on a terminal; always: draw it anywhere; plain: print lines, and a summary every \
            minute, as without a terminal; never: print only lines about files.
            """,
            valueName: "when"
        )
    )
    var progress = ProgressMode.auto

    @Option(
        name: .customLong("color"),
        help: ArgumentHelp(
            "Use colors. auto: on a terminal, unless NO_COLOR is set; always; or never.",
            valueName: "when"
        )
    )
    var color = ColorMode.auto

    @Flag(
        name: .customLong("json"),
        help: """
            Write events to standard output, one JSON object per line. OpgetEvents.md in the repository lists them.
            """
    )
    var writesEvents = false

    @Option(
        name: .customLong("json-fd"),
        help: ArgumentHelp("Write events to this open descriptor.", valueName: "n")
    )
    var eventDescriptor: Int32?

    @Flag(name: .customLong("overwrite"), help: "Fetch and replace existing files.")
    var overwrites = false

    @Flag(
        name: [.customShort("N"), .customLong("timestamping")],
        help: """
            Fetch an existing file only if it has changed on the server, by its ETag or date. A file that was changed \
            locally, has another checksum, or was not saved by opget is replaced.
            """
    )
    var fetchesOnlyChanges = false

    @Option(
        name: .customLong("checksum"),
        help: ArgumentHelp(
            """
            The checksum of the only file: sha-256=HEX, sha256:HEX, or just HEX; with sha-512, sha-256, sha-1 or md5. \
            An existing file is checked as well.
            """,
            valueName: "digest"
        )
    )
    var checksums: [String] = []

    @Option(
        name: .customLong("checksums"),
        help: ArgumentHelp(
            """
            The checksums of the files, in the format of sha256sum. A file is looked up by the path it is saved at, then \
            by its name, then by the name in its address. If one has no checksum, nothing is fetched.
            """,
            valueName: "list"
        )
    )
    var checksumLists: [String] = []

    @Flag(
        name: [.customShort("c"), .customLong("continue")],
        help: """
            Continue a file that another program began, if its checksum is given. Compare the last 64 KiB if no \
            validator proves them. opget resumes its own partial files without this option.
            """
    )
    var continues = false

    @Option(
        name: [.customShort("C"), .customLong("continue-at")],
        help: ArgumentHelp("The same in the notation of curl; only - is accepted.", valueName: "-")
    )
    var continueAt: String?

    @Flag(name: .customLong("no-resume"), help: "Start over: discard the partial files of earlier runs.")
    var startsOver = false

    @Option(
        name: .customLong("retry"),
        // Distinguishes a negative number from a missing one.
        parsing: .unconditional,
        help: ArgumentHelp("The number of retries after a temporary failure; 0 for none.", valueName: "n")
    )
    var retries = 5

    @Option(
        name: .customLong("retry-max-time"),
        help: ArgumentHelp("Do not retry a file after this time.", valueName: "seconds")
    )
    var retryTime: String?

    @Option(
        name: .customLong("limit-rate"),
        help: ArgumentHelp(
            "The maximum bytes per second of all files together: 800, 500K, 1.5M, 1G.",
            valueName: "rate"
        )
    )
    var rate: String?

    @Option(
        name: .customLong("max-time"),
        help: ArgumentHelp(
            "Give up on a file that takes longer. Its partial file is kept.",
            valueName: "seconds"
        )
    )
    var maximumTime: String?

    @Option(
        name: .customLong("connect-timeout"),
        help: ArgumentHelp(
            "Give up on an attempt that is not connected after this time.",
            valueName: "seconds"
        )
    )
    var connectTimeout: String?

    @Option(
        name: .customLong("timeout"),
        help: ArgumentHelp("Give up on an attempt that receives nothing for this time.", valueName: "seconds")
    )
    var idleTimeout = "60"

    @Flag(
        name: .customLong("fail-early"),
        help: "Stop after the first file that fails."
    )
    var failsEarly = false

    @Flag(name: [.customShort("q"), .customLong("quiet")], help: "Print errors only.")
    var isQuiet = false

    @Flag(name: [.customLong("version")], help: "Show the version.")
    var showsVersion = false

    @Flag(name: [.customShort("h"), .customLong("help")], help: "Show this help.")
    var showsHelp = false
}

extension OpgetCommand {
    /// `-d`.
    var directory: String? { directories.first }
    /// `-o`.
    var output: String? { outputs.first }
    /// `--checksum`.
    var checksum: String? { checksums.first }
    /// `--checksums`.
    var checksumList: String? { checksumLists.first }

    /// The options that a run with another link needs as well, apart from header fields and credentials.
    var linkOptions: [String] {
        var options: [String] = []
        if fetchesOnlyChanges { options.append("-N") }
        if overwrites { options.append("--overwrite") }
        if continues { options.append("-c") }
        if isInsecure { options.append("--insecure") }
        if let certificates { options += ["--cacert", certificates] }
        if let certificateDirectory { options += ["--capath", certificateDirectory] }
        // A URL with a user is secret.
        if let proxy, !proxy.contains("@") { options += ["--proxy", proxy] }
        for pin in pins { options += ["--pin", pin] }
        for checksum in checksums { options += ["--checksum", checksum] }
        return options
    }

    /// Whether it needs others that may be secret: header fields, credentials, a proxy with a user.
    var hasMoreLinkOptions: Bool {
        !headers.isEmpty || user != nil || usesNetrc || netrcFile != nil || clientCertificate != nil
            || cookieJar != nil || proxyUser != nil || proxy?.contains("@") == true
    }

    /// The files and directories named by options, except those that are opened by exactly that path: `-i`,
    /// `--checksums` and `-o`.
    var pathsOfOptions: [FilePath] {
        [
            directory, certificates, certificateDirectory, clientCertificate, clientKey, netrcFile, cookieJar,
        ]
        .compactMap { $0 }.filter { !$0.isEmpty }.map { FilePath($0) }
    }

    /// Refuses repeated options: all but the last would be ignored silently.
    private func checkRepetitions() throws {
        let counts = [
            ("-o", outputs.count), ("-d", directories.count), ("--checksum", checksums.count),
            ("--checksums", checksumLists.count), ("-i -", lists.count { $0 == "-" }),
        ]
        for (option, count) in counts where count > 1 {
            throw Failure(.usage, "\(option) is given \(count) times, but can be given only once.")
        }
    }

    /// Reads the arguments, without the command's own name.
    ///
    /// - Throws: `Failure` with ``Outcome/usage``, which contains no secrets.
    init(arguments: [String]) throws {
        do {
            self = try OpgetCommand.parse(JoinedOptions.split(arguments, of: Self.self))
        } catch {
            let message = SecretArguments.hiding(in: OpgetCommand.message(for: error), about: arguments)
            let end = message.last.map { ".!?".contains($0) } ?? true ? "" : "."
            throw Failure(.usage, message + end + " See opget --help.")
        }
        try checkRepetitions()
    }
}

extension ProgressMode: ExpressibleByArgument {}
extension ColorMode: ExpressibleByArgument {}
