import Dispatch
import Foundation
import Glibc

/// The command from its arguments to its exit code.
enum CommandLineTool {
    /// Never returns: the process ends with an `Outcome`.
    static func run() -> Never {
        StandardDescriptors.fill()
        // A reader of ours that goes away is noticed when writing.
        signal(SIGPIPE, SIG_IGN)
        do {
            try start(OpgetCommand(arguments: Array(CommandLine.arguments.dropFirst())))
        } catch {
            let failure = Failure(error)
            complain(failure.sentence)
            _exit(failure.outcome.code)
        }
        dispatchMain()
    }

    private static func complain(_ sentence: String) {
        Terminal.standardError.write(DisplayText("opget: " + sentence).string + "\n")
    }

    private static func start(_ command: OpgetCommand) throws {
        if command.showsHelp { finish(saying: HelpText.text) }
        if command.showsVersion { finish(saying: "opget \(OpgetCommand.version)\n") }
        guard !command.urls.isEmpty || command.list != nil else {
            // A script whose list of addresses came out empty must not take this for success.
            Terminal.standardError.write(HelpText.text)
            _exit(Outcome.usage.code)
        }
        let environment = ProcessInfo.processInfo.environment
        let settings = try settings(command, environment)
        let plan = try plan(command)
        let run = Run(plan.items, settings: settings, reporter: reporter(command, plan, environment))
        let signals = SignalHandling()
        signals.install { signal, isRepeated in
            isRepeated ? run.stopAtOnce(signal: signal) : run.stop(signal: signal)
        } suspend: {
            run.suspend()
        } resume: {
            run.resume()
        }
        run.start()
        withExtendedLifetime(signals) { dispatchMain() }
    }

    private static func finish(saying text: String) -> Never {
        Terminal.standardOutput.write(text)
        _exit(Outcome.success.code)
    }

    // MARK: - What the options mean

    private static func settings(_ command: OpgetCommand, _ environment: [String: String]) throws -> Settings
    {
        guard command.jobs > 0 else {
            throw Failure(.usage, "-j needs a number from 1 on, not \(command.jobs).")
        }
        if let path = command.certificates, access(path, R_OK) != 0 {
            throw Failure(reading: FilePath(path), errno)
        }
        let descriptors = DescriptorLimit.raise()
        let concurrency = DescriptorLimit.transfers(asked: command.jobs, descriptors: descriptors)
        let fields = try command.headers.map(HeaderOption.init)
        if concurrency < command.jobs, !command.isQuiet {
            complain(
                "\(concurrency) files at once, not \(command.jobs): there are only \(descriptors) descriptors."
            )
        }
        return Settings(
            concurrency: concurrency,
            replacesFiles: command.overwrites,
            fields: fields,
            trustAnchors: Settings.trustAnchors(option: command.certificates, environment: environment)
        )
    }

    private static func plan(_ command: OpgetCommand) throws -> Plan {
        let list = try command.list.map { path in
            let name = path == "-" ? "standard input" : path
            return (name: name, entries: try InputList(try contents(of: path), name: name).entries)
        }
        let naming = Plan.Naming(
            directory: command.directory,
            output: command.output,
            workingDirectory: FileManager.default.currentDirectoryPath
        )
        return try Plan(addresses: command.urls, list: list, naming: naming)
    }

    private static func contents(of path: String) throws -> Data {
        do {
            guard path == "-" else { return try Data(contentsOf: URL(fileURLWithPath: path)) }
            return try FileHandle.standardInput.readToEnd() ?? Data()
        } catch {
            let name = path == "-" ? "Standard input" : path
            throw Failure(.file, "\(name) could not be read: \((error as NSError).localizedDescription)")
        }
    }

    private static func reporter(
        _ command: OpgetCommand,
        _ plan: Plan,
        _ environment: [String: String]
    ) -> Reporter {
        let terminal = Terminal.standardError
        var draws = command.progress.draws(onTerminal: terminal.isTerminal, environment: environment)
        // Data and drawings on one screen would spoil each other.
        if plan.items.contains(where: { $0.destination == .standardOutput }),
            Terminal.standardOutput.isTerminal
        {
            draws = draws && command.progress == .always
        }
        let longest = plan.items.prefix(10_000).map { DisplayText($0.name).width }.max() ?? 0
        return Reporter(
            style: command.isQuiet ? .quiet : draws ? .drawn : .lines,
            terminal: terminal,
            environment: environment,
            longestName: longest
        )
    }
}
