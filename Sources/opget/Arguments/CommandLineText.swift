/// The arguments of the process as text.
enum CommandLineText {
    /// - Returns: the command's name first.
    /// - Throws: `Failure` with ``Outcome/usage`` for an argument that is not UTF-8: Swift would repair it,
    /// and another file would be meant.
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
