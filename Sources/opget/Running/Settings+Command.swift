import Foundation
import Glibc
import OperationNetworking

extension Settings {
    /// Creates the settings that the options describe.
    ///
    /// - Parameters:
    ///   - command: the options.
    ///   - environment: the environment variables.
    ///   - descriptors: the limit of open files and sockets.
    ///   - ask: prompts for a secret at the terminal; returns `nil` if there is none.
    /// - Throws: `Failure`, mostly with ``Outcome/usage``.
    init(
        _ command: OpgetCommand,
        environment: [String: String],
        descriptors: Int,
        ask: (_ question: String) throws -> String? = { _ in nil }
    ) throws {
        guard command.jobs > 0 else {
            throw Failure(.usage, "-j needs a number of at least 1, not \(command.jobs).")
        }
        guard command.retries >= 0 else {
            throw Failure(.usage, "--retry needs a number of at least 0, not \(command.retries).")
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
            throw Failure(.usage, "-C accepts only -, not \(value): opget determines the offset itself.")
        }
        if command.startsOver, command.continues || command.continueAt != nil {
            throw Failure(.usage, "--no-resume and --continue cannot be combined.")
        }
        if command.fetchesOnlyChanges, command.overwrites {
            throw Failure(
                .usage,
                "-N and --overwrite cannot be combined."
            )
        }
        if command.fetchesOnlyChanges, let output = command.output, command.directory == nil || output == "-",
            OutputDescriptor.number(of: output) != nil
        {
            throw Failure(.usage, "-N compares with a file, not with an open descriptor.")
        }
    }
}
