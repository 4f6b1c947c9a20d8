import Foundation
import Glibc

/// The arguments and environment of the process, as text.
enum CommandLineText {
    /// The variables that contain secrets.
    private static let secrets = ["OPGET_PASSWORD", "OPGET_PROXY_PASSWORD", "OPGET_PASSPHRASE"]

    /// The variables of the environment.
    ///
    /// - Throws: `Failure` with ``Outcome/usage`` for a secret that is not UTF-8, which Foundation would
    ///   repair.
    static func environment() throws -> [String: String] {
        for name in secrets {
            guard let value = getenv(name), String(validatingCString: value) == nil else { continue }
            throw Failure(.usage, "\(name) is not UTF-8.")
        }
        return ProcessInfo.processInfo.environment
    }

    /// - Returns: the arguments, starting with the command's name.
    /// - Throws: `Failure` with ``Outcome/usage`` for an argument that is not UTF-8, which Swift would
    ///   repair.
    static func arguments() throws -> [String] {
        try (0..<Int(CommandLine.argc)).compactMap { number in
            guard let bytes = CommandLine.unsafeArgv[number] else { return nil }
            guard let text = String(validatingCString: bytes) else {
                throw Failure(.usage, "Argument \(number) is not UTF-8.")
            }
            return text
        }
    }
}
