import Foundation
import Glibc
import OperationNetworking

extension Settings {
    /// The settings that the options ask for.
    ///
    /// - Parameters:
    ///   - command: the options.
    ///   - environment: its variables.
    ///   - descriptors: how many files and sockets the process may have open.
    ///   - ask: asks for a secret at the terminal; answers with `nil` without one.
    /// - Throws: `Failure`, mostly with ``Outcome/usage``.
    init(
        _ command: OpgetCommand,
        environment: [String: String],
        descriptors: Int,
        ask: (_ question: String) throws -> String? = { _ in nil }
    ) throws {
        guard command.jobs > 0 else {
            throw Failure(.usage, "-j needs a number from 1 on, not \(command.jobs).")
        }
        guard command.retries >= 0 else {
            throw Failure(.usage, "--retry needs a number from 0 on, not \(command.retries).")
        }
        try Self.checkContradictions(command)
        self.init(concurrency: DescriptorLimit.transfers(asked: command.jobs, descriptors: descriptors))
        replacesFiles = command.overwrites
        fence = command.directory.map { FilePath($0) }
        continuesFiles = command.continues || command.continueAt != nil
        fetchesOnlyChanges = command.fetchesOnlyChanges
        startsOver = command.startsOver
        failsEarly = command.failsEarly
        fields = try HeaderOption.all(command.headers)
        access = try Access(command, environment: environment, ask: ask)
        retryPolicy = RetryPolicy(
            maximumRetries: command.retries,
            timeBudget: try command.retryTime.map { try Seconds($0, of: "--retry-max-time").value }
        )
        limit = try command.rate.map {
            BandwidthLimit(bytesPerSecond: try ByteRate($0, of: "--limit-rate").bytesPerSecond)
        }
        idleTimeout = try Seconds(command.idleTimeout, of: "--timeout").value
        connectTimeout = try command.connectTimeout.map { try Seconds($0, of: "--connect-timeout").value }
        maximumTime = try command.maximumTime.map { try Seconds($0, of: "--max-time").value }
    }

    private static func checkContradictions(_ command: OpgetCommand) throws {
        if let value = command.continueAt, value != "-" {
            throw Failure(.usage, "-C takes only -, not \(value): opget finds out itself where to go on.")
        }
        if command.startsOver, command.continues || command.continueAt != nil {
            throw Failure(.usage, "--no-resume and --continue contradict each other.")
        }
        if command.fetchesOnlyChanges, command.overwrites {
            throw Failure(
                .usage,
                "-N fetches what has changed, --overwrite everything: it can only be one of them."
            )
        }
        if command.fetchesOnlyChanges, let output = command.output, command.directory == nil || output == "-",
            OutputDescriptor.number(of: output) != nil
        {
            throw Failure(.usage, "-N compares with a file, and an open descriptor is none.")
        }
    }
}
