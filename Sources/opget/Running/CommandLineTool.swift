import Dispatch
import Foundation
import Glibc
import OperationNetworking

/// Runs the command, from its arguments to its exit code.
enum CommandLineTool {
    /// Never returns: the process ends with an `Outcome`.
    static func run() -> Never {
        // In a separate stack frame, which is left before `dispatchMain()` ends the main thread.
        let signals = begin()
        withExtendedLifetime(signals) { dispatchMain() }
    }

    @inline(never)
    private static func begin() -> SignalHandling {
        StandardDescriptors.fill()
        // A closed reader is detected when writing.
        signal(SIGPIPE, SIG_IGN)
        // So is a file that exceeds `ulimit -f`.
        signal(SIGXFSZ, SIG_IGN)
        let descriptors = DescriptorLimit.raise()
        guard DescriptorLimit.canOpen(DescriptorLimit.minimum) else {
            complain(
                "\(DescriptorLimit.minimum) free descriptors are needed, but the limit is \(descriptors): "
                    + "raise it (ulimit -n)."
            )
            _exit(Outcome.other.code)
        }
        do {
            // Read before they are hidden.
            let arguments = try CommandLineText.arguments()
            SecretArguments(arguments).hide()
            return try start(OpgetCommand(arguments: Array(arguments.dropFirst())))
        } catch {
            let failure = Failure(error)
            complain(failure.sentence)
            _exit(failure.outcome.code)
        }
    }

    private static func complain(_ sentence: String) {
        Terminal.standardError.write(DisplayText("opget: " + sentence).string + "\n")
    }

    /// - Returns: an object that must live as long as the process.
    private static func start(_ command: OpgetCommand) throws -> SignalHandling {
        if command.showsHelp { finish(saying: HelpText.text) }
        if command.showsVersion { finish(saying: "opget \(OpgetCommand.version)\n") }
        guard !command.urls.isEmpty || !command.lists.isEmpty else {
            // A script with an empty list of addresses must not mistake this for success.
            Terminal.standardError.write(HelpText.text)
            _exit(Outcome.usage.code)
        }
        let environment = try CommandLineText.environment()
        let workingDirectory = WorkingDirectory.current
        for path in command.pathsOfOptions { try workingDirectory.check(path) }
        let settings = try settings(command, environment)
        let events = try events(command)
        let plan = try plan(command, workingDirectory)
        let outlets = outlets(command, plan, environment, events, asksForRange: settings.asksForRange)
        TerminalRescue.install(showingCursorOf: outlets.reporter.draws ? Terminal.standardError : nil)
        let run = Run(plan.items, settings: settings, outlets: outlets)
        let signals = SignalHandling()
        signals.install { signal, isRepeated in
            isRepeated ? run.stopAtOnce(.signal(signal), signal: signal) : run.stop(by: signal)
        } suspend: {
            run.suspend()
        } resume: {
            run.resume()
        } redraw: {
            run.redraw()
        }
        run.begin()
        return signals
    }

    private static func finish(saying text: String) -> Never {
        Terminal.standardOutput.write(text)
        _exit(Outcome.success.code)
    }

    // MARK: - Options

    private static func settings(_ command: OpgetCommand, _ environment: [String: String]) throws -> Settings
    {
        let descriptors = DescriptorLimit.raise()
        var settings = try Settings(
            command,
            environment: environment,
            descriptors: descriptors,
            ask: SecretPrompt.ask
        )
        if !command.isQuiet { settings.access.warnings.forEach(complain) }
        if settings.concurrency < command.jobs, !command.isQuiet {
            complain(
                "\(settings.concurrency) files at once, not \(command.jobs): there are only \(descriptors) "
                    + "descriptors."
            )
        }
        let threads = ThreadLimit.trial(for: settings.concurrency)
        guard threads >= ThreadLimit.minimum else {
            throw Failure(
                .other,
                "\(ThreadLimit.minimum) threads are needed, but only \(threads) can be created: raise the limit of the "
                    + "user (ulimit -u) or of the container."
            )
        }
        let concurrency = ThreadLimit.transfers(asked: settings.concurrency, threads: threads)
        if concurrency < settings.concurrency, !command.isQuiet {
            complain(
                "\(concurrency) files at once, not \(settings.concurrency): only \(threads) threads can be created."
            )
        }
        settings.concurrency = concurrency
        ConnectionOperation.maximumConnectionsPerHost =
            max(ConnectionOperation.maximumConnectionsPerHost, settings.concurrency)
        return settings
    }

    private static func plan(_ command: OpgetCommand, _ workingDirectory: WorkingDirectory) throws -> Plan {
        let lists = try command.lists.map { path in
            let name = path == "-" ? "standard input" : path
            return (name: name, entries: try InputList(try contents(of: path), name: name).entries)
        }
        let naming = Plan.Naming(
            directory: command.directory,
            output: command.output,
            workingDirectory: workingDirectory.path,
            cookieJar: command.cookieJar
        )
        let checksums = try ExpectedChecksums(
            option: command.checksum,
            list: try command.checksumList.map { (name: $0, contents: try contents(of: $0)) }
        )
        let plan = try Plan(addresses: command.urls, lists: lists, naming: naming, checksums: checksums)
        for item in plan.items {
            guard case .file(let path) = item.destination else { continue }
            try workingDirectory.check(path)
            if !item.digests.isEmpty, (try? FileStatus(of: path)) == .device {
                throw Failure(uncheckable: path)
            }
        }
        guard let descriptor = plan.items.lazy.compactMap(\.descriptor).first else { return plan }
        let eventDescriptor = command.eventDescriptor ?? (command.writesEvents ? 1 : nil)
        guard descriptor != eventDescriptor else {
            let name = descriptor == 1 ? "Standard output" : "Descriptor \(descriptor)"
            throw Failure(
                .usage,
                "\(name) receives the file: choose a descriptor for the events with --json-fd N."
            )
        }
        try OutputDescriptor.check(descriptor)
        return plan
    }

    private static func contents(of path: String) throws -> Data {
        do {
            if path == "-" { return try FileHandle.standardInput.readToEnd() ?? Data() }
            // Foundation's message does not say that it is a directory.
            if try FileStatus(of: FilePath(path)) == .directory {
                throw Failure(reading: FilePath(path), EISDIR)
            }
            // Foundation cannot open a pipe as a file.
            let descriptor = open(path, O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { throw Failure(reading: FilePath(path), errno) }
            return try FileHandle(fileDescriptor: descriptor, closeOnDealloc: true).readToEnd() ?? Data()
        } catch let error as Failure {
            throw error
        } catch {
            let name = path == "-" ? "Standard input" : path
            throw Failure(.file, "\(name) could not be read: \((error as NSError).localizedDescription)")
        }
    }

    /// Returns the writer of events, if any.
    private static func events(_ command: OpgetCommand) throws -> EventWriter? {
        if let number = command.eventDescriptor {
            let flags = fcntl(number, F_GETFL)
            guard number == 1 || number > 2, flags != -1, flags & O_ACCMODE != O_RDONLY else {
                throw Failure(.usage, "--json-fd needs a descriptor that is open for writing, not \(number).")
            }
            return EventWriter(Terminal(descriptor: number))
        }
        return command.writesEvents ? EventWriter(.standardOutput) : nil
    }

    // MARK: - Reports and events

    private static func outlets(
        _ command: OpgetCommand,
        _ plan: Plan,
        _ environment: [String: String],
        _ events: EventWriter?,
        asksForRange: Bool
    ) -> RunOutlets {
        let body = plan.items.lazy.compactMap(\.descriptor).first
        let shared = [body, events?.descriptor].compactMap { $0 }.map { Terminal(descriptor: $0) }
        let terminal = Terminal.standardError
        var draws = command.progress.draws(onTerminal: terminal.isTerminal, environment: environment)
        // Events and drawn progress on one screen would corrupt each other.
        if shared.contains(where: { $0.descriptor != terminal.descriptor && $0.isTerminal }) {
            draws = draws && command.progress == .always
        }
        let style: Reporter.Style =
            if command.isQuiet || body == terminal.descriptor {
                // Any other line would corrupt the body.
                .quiet
            } else if draws {
                .drawn
            } else {
                .lines(withSummaries: command.progress != .never)
            }
        let reporter = Reporter(
            style: style,
            terminal: terminal,
            environment: environment,
            longestName: plan.items.prefix(10_000).map { DisplayText($0.name).width }.max() ?? 0,
            inColor: command.color.colors(onTerminal: terminal.isTerminal, environment: environment)
        )
        return RunOutlets(
            reporter: reporter,
            events: events,
            keyboard: hasKeys(command) ? Keyboard() : nil,
            continuation: Continuation(
                arguments: CommandLine.arguments,
                readsInput: command.inputs.contains(where: InputFile.isPassing),
                readsPipes: command.otherInputs.contains(where: InputFile.isPassing),
                usesDescriptors: [body, events?.descriptor].contains { $0 ?? 0 > 2 },
                replacesFiles: command.overwrites,
                startsOver: command.startsOver,
                writesOutput: body != nil,
                asksForRange: asksForRange,
                linkOptions: command.linkOptions,
                hasMoreLinkOptions: command.hasMoreLinkOptions
            )
        )
    }

    /// Whether opget reads the terminal's keys: not if the list is typed there, if nothing is shown, or if
    /// another program in the pipe, such as a pager, may read them.
    private static func hasKeys(_ command: OpgetCommand) -> Bool {
        guard !command.isQuiet, Terminal.standardError.isTerminal, isatty(0) == 1,
            !command.inputs.contains(where: InputFile.isTyped)
        else {
            return false
        }
        var status = stat()
        guard fstat(1, &status) == 0 else { return true }
        return ![S_IFIFO, S_IFSOCK].contains(status.st_mode & S_IFMT)
    }
}

/// Standard input, output and error.
enum StandardDescriptors {
    /// Replaces closed descriptors. Otherwise the next file or socket would get their numbers, and with them
    /// the output for the user.
    static func fill() {
        for descriptor in Int32(0)...2 where fcntl(descriptor, F_GETFD) == -1 {
            // Opens the lowest free number. Output to it is an error; messages are not. It is close-on-exec,
            // which inherited descriptors cannot be: that distinguishes them.
            _ = open("/dev/null", (descriptor == 2 ? O_WRONLY : O_RDONLY) | O_CLOEXEC)
        }
    }
}
