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
            lines out=NAME and dir=DIR for the address above them.
            """,
            valueName: "list"
        )
    )
    var list: String?

    @Option(
        name: [.customShort("d"), .customLong("dir")],
        help: ArgumentHelp(
            "Save files in this directory, and nowhere outside it; made if missing.",
            valueName: "dir"
        )
    )
    var directory: String?

    @Option(
        name: [.customShort("o"), .customLong("output")],
        help: ArgumentHelp(
            "Save the one file under this name; - writes it to standard output.",
            valueName: "file"
        )
    )
    var output: String?

    @Option(
        name: [.customShort("j"), .customLong("jobs")],
        help: ArgumentHelp("Fetch so many files at once.", valueName: "n")
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

    @Flag(name: .customLong("overwrite"), help: "Fetch and replace files that are there already.")
    var overwrites = false

    @Flag(name: [.customShort("q"), .customLong("quiet")], help: "Say nothing but errors.")
    var isQuiet = false

    @Flag(name: [.customLong("version")], help: "Show the version.")
    var showsVersion = false

    @Flag(name: [.customShort("h"), .customLong("help")], help: "Show this help.")
    var showsHelp = false
}

extension OpgetCommand {
    /// Reads the arguments, without the command's own name.
    ///
    /// - Throws: `Failure` with ``Outcome/usage``.
    init(arguments: [String]) throws {
        do {
            self = try OpgetCommand.parse(arguments)
        } catch {
            throw Failure(.usage, OpgetCommand.message(for: error) + " See opget --help.")
        }
    }
}

extension ProgressMode: ExpressibleByArgument {}
extension ColorMode: ExpressibleByArgument {}
