import ArgumentParser

/// The options of `opget`. What they mean together is worked out by ``Plan`` and ``Settings``.
struct OpgetCommand: ParsableCommand {
    static let version = "0.1.0"

    // Help is ours: its examples come first, and it ends with the exit codes.
    static let configuration = CommandConfiguration(commandName: "opget", helpNames: [])

    @Argument(help: ArgumentHelp("What to fetch: http and https addresses.", valueName: "url"))
    var urls: [String] = []

    @Option(
        name: [.customShort("i"), .customLong("input-file")],
        help: ArgumentHelp(
            """
            Read addresses from a file, or from standard input (-): one a line, # before comments, and indented \
            lines out=NAME, dir=DIR and checksum=DIGEST for the address above them. May be given several times.
            """,
            valueName: "list"
        )
    )
    var lists: [String] = []

    @Option(
        name: [.customShort("d"), .customLong("dir")],
        help: ArgumentHelp(
            "Save files in this directory, and nowhere outside it; made if missing.",
            valueName: "dir"
        )
    )
    var directories: [String] = []

    @Option(
        name: [.customShort("o"), .customLong("output")],
        help: ArgumentHelp(
            """
            Save the one file under this name; - writes it to standard output, /dev/fd/N to that open descriptor.
            """,
            valueName: "file"
        )
    )
    var outputs: [String] = []

    @Option(
        name: [.customShort("j"), .customLong("jobs")],
        parsing: .unconditional,
        help: ArgumentHelp("How many files are fetched at once.", valueName: "n")
    )
    var jobs = 5

    @Option(
        name: [.customShort("H"), .customLong("header")],
        help: ArgumentHelp(
            "Send this field, such as 'Accept: text/plain', with every request.",
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
            "Trust the certificates in this directory, made by openssl rehash, instead of the system's.",
            valueName: "dir"
        )
    )
    var certificateDirectory: String?

    @Option(
        name: .customLong("pin"),
        help: ArgumentHelp(
            """
            Talk only to servers with this public key, or with an authority of this key: sha256// and the base64 of \
            its SHA-256. May be given several times; one has to fit.
            """,
            valueName: "key"
        )
    )
    var pins: [String] = []

    @Flag(
        name: .customLong("insecure"),
        help:
            "Do not check who the server is. A machine on the way can then read and change everything."
    )
    var isInsecure = false

    @Option(
        name: [.customShort("E"), .customLong("cert")],
        help: ArgumentHelp(
            """
            Show this client certificate: PEM, or PKCS#12 if its name ends in .p12 or .pfx. A passphrase is taken from \
            OPGET_PASSPHRASE, or asked for.
            """,
            valueName: "file"
        )
    )
    var clientCertificate: String?

    @Option(
        name: .customLong("key"),
        help: ArgumentHelp(
            "The private key of --cert, PEM, if it is not in the same file.",
            valueName: "file"
        )
    )
    var clientKey: String?

    @Option(
        name: [.customShort("u"), .customLong("user")],
        help: ArgumentHelp(
            """
            Credentials for servers that want them: Basic, Digest, NTLM. A missing password is taken from \
            OPGET_PASSWORD, or asked for, which keeps it off the command line.
            """,
            valueName: "user[:password]"
        )
    )
    var user: String?

    @Flag(
        name: [.customShort("n"), .customLong("netrc")],
        help: "Take such credentials from ~/.netrc."
    )
    var usesNetrc = false

    @Option(
        name: .customLong("netrc-file"),
        help: ArgumentHelp("Take them from another file of that kind.", valueName: "file")
    )
    var netrcFile: String?

    @Option(
        name: [.customShort("x"), .customLong("proxy")],
        help: ArgumentHelp(
            """
            Go through this proxy: http://, socks5://, or socks5h:// if it is to look up names; an empty one: through \
            none. Else http_proxy, https_proxy, all_proxy and no_proxy count.
            """,
            valueName: "url"
        )
    )
    var proxy: String?

    @Option(
        name: .customLong("proxy-user"),
        help: ArgumentHelp(
            "Credentials for the proxy; a missing password is taken from OPGET_PROXY_PASSWORD, or asked for.",
            valueName: "user[:password]"
        )
    )
    var proxyUser: String?

    @Option(
        name: .customLong("noproxy"),
        help: ArgumentHelp(
            "Servers that are reached without it: names, .domains, addresses, 10.0.0.0/8; with commas.",
            valueName: "list"
        )
    )
    var proxyExceptions: String?

    @Option(
        name: .customLong("cookie-jar"),
        help: ArgumentHelp(
            "Send the cookies in this file, if it is there, and save all of them there in the end.",
            valueName: "file"
        )
    )
    var cookieJar: String?

    @Option(
        name: .customLong("max-redirects"),
        help: ArgumentHelp(
            "How many redirects are followed for a file: 20 unless given.",
            valueName: "n"
        )
    )
    var maximumRedirects: Int?

    @Option(
        name: .customLong("progress"),
        help: ArgumentHelp(
            """
            auto: draw progress on a terminal; always: draw it anywhere; plain: lines, and one about all every \
            minute, as when it is no terminal; never: only lines about files.
            """,
            valueName: "when"
        )
    )
    var progress = ProgressMode.auto

    @Option(
        name: .customLong("color"),
        help: ArgumentHelp(
            "Color words: auto: on a terminal, unless NO_COLOR is set; always; or never.",
            valueName: "when"
        )
    )
    var color = ColorMode.auto

    @Flag(
        name: .customLong("json"),
        help: "Write events to standard output, a JSON object a line: see Documentation/OpgetEvents.md."
    )
    var writesEvents = false

    @Option(
        name: .customLong("json-fd"),
        help: ArgumentHelp("Write the events to this open descriptor instead.", valueName: "n")
    )
    var eventDescriptor: Int32?

    @Flag(name: .customLong("overwrite"), help: "Fetch and replace existing files.")
    var overwrites = false

    @Flag(
        name: [.customShort("N"), .customLong("timestamping")],
        help: """
            Fetch an existing file only if the server has another one, by its tag or date; if it is not as opget \
            saved it, or has not its checksum, replace it. See above for what opget did not save.
            """
    )
    var fetchesOnlyChanges = false

    @Option(
        name: .customLong("checksum"),
        help: ArgumentHelp(
            """
            What the one file has to be: sha-256=HEX, sha256:HEX, or HEX alone; with sha-512, sha-256, sha-1 or md5. An \
            existing file is checked, too.
            """,
            valueName: "digest"
        )
    )
    var checksums: [String] = []

    @Option(
        name: .customLong("checksums"),
        help: ArgumentHelp(
            """
            What files have to be, as sha256sum lists it: looked up by the path they are saved at, then by the name, then \
            by that in the address. Without a line there, and without checksum= in the list, nothing is fetched.
            """,
            valueName: "list"
        )
    )
    var checksumLists: [String] = []

    @Flag(
        name: [.customShort("c"), .customLong("continue")],
        help: """
            Go on with a file that another program began, under a checksum, and compare the last 64 KiB where no validator \
            proves them. What opget itself has left it goes on with anyhow.
            """
    )
    var continues = false

    @Option(
        name: [.customShort("C"), .customLong("continue-at")],
        help: ArgumentHelp("The same, as curl spells it; only - is understood.", valueName: "-")
    )
    var continueAt: String?

    @Flag(name: .customLong("no-resume"), help: "Start over: throw away what an earlier run has left.")
    var startsOver = false

    @Option(
        name: .customLong("retry"),
        // So that a negative number is told from a missing one.
        parsing: .unconditional,
        help: ArgumentHelp("How often to try again after a failure that may pass; 0: never.", valueName: "n")
    )
    var retries = 5

    @Option(
        name: .customLong("retry-max-time"),
        help: ArgumentHelp("Begin no other attempt at a file after this time.", valueName: "seconds")
    )
    var retryTime: String?

    @Option(
        name: .customLong("limit-rate"),
        help: ArgumentHelp(
            "Bytes per second at most, of all files together: 800, 500K, 1.5M, 1G.",
            valueName: "rate"
        )
    )
    var rate: String?

    @Option(
        name: .customLong("max-time"),
        help: ArgumentHelp("Give up a file that takes longer; what came of it stays.", valueName: "seconds")
    )
    var maximumTime: String?

    @Option(
        name: .customLong("connect-timeout"),
        help: ArgumentHelp("Give up an attempt that has no connection after this time.", valueName: "seconds")
    )
    var connectTimeout: String?

    @Option(
        name: .customLong("timeout"),
        help: ArgumentHelp("Give up an attempt when nothing has come for this time.", valueName: "seconds")
    )
    var idleTimeout = "60"

    @Flag(
        name: .customLong("fail-early"),
        help: "Stop at the first file that fails, instead of fetching the others."
    )
    var failsEarly = false

    @Flag(name: [.customShort("q"), .customLong("quiet")], help: "Print nothing but errors.")
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
        // With a user it is a secret.
        if let proxy, !proxy.contains("@") { options += ["--proxy", proxy] }
        for pin in pins { options += ["--pin", pin] }
        for checksum in checksums { options += ["--checksum", checksum] }
        return options
    }

    /// Whether there are others, which may be secret: header fields, credentials, a proxy with a user.
    var hasMoreLinkOptions: Bool {
        !headers.isEmpty || user != nil || usesNetrc || netrcFile != nil || clientCertificate != nil
            || cookieJar != nil || proxyUser != nil || proxy?.contains("@") == true
    }

    /// The files and directories that options name, but for those that are opened by the very path: `-i`,
    /// `--checksums` and `-o`.
    var pathsOfOptions: [FilePath] {
        [
            directory, certificates, certificateDirectory, clientCertificate, clientKey, netrcFile, cookieJar,
        ]
        .compactMap { $0 }.filter { !$0.isEmpty }.map { FilePath($0) }
    }

    /// Refuses repeated options: the last one would win, and the others would be left out without a word.
    private func checkRepetitions() throws {
        let counts = [
            ("-o", outputs.count), ("-d", directories.count), ("--checksum", checksums.count),
            ("--checksums", checksumLists.count), ("-i -", lists.count { $0 == "-" }),
        ]
        for (option, count) in counts where count > 1 {
            throw Failure(.usage, "\(option) is there \(count) times, and can be given once.")
        }
    }

    /// Reads the arguments, without the command's own name.
    ///
    /// - Throws: `Failure` with ``Outcome/usage``. It repeats no secret.
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
