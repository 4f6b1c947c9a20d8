import ArgumentParser
import Foundation

/// Splits combined short options as POSIX specifies (Utility Syntax Guidelines 5 and 6): the first letter
/// that takes a value gets the rest of the argument as its value.
///
/// | Argument                                    | Result                   |
/// |---------------------------------------------|--------------------------|
/// | `-j3`                                       | `-j` `3`                 |
/// | `-qdN`                                      | `-q` `-d` `N`            |
/// | `-qd`                                       | `-q` `-d`                |
/// | `-o-x`                                      | `-o=-x`                  |
/// | `-d=N`                                      | `-d=N`: the value is `N` |
/// | one with an unknown letter                  | unchanged                |
/// | a value of an option; all that follows `--` | unchanged                |
///
/// swift-argument-parser treats all letters as options, and the following arguments as their values.
struct JoinedOptions {
    /// The options that take a value, with their dashes.
    private let names: Set<String>
    private let flags: Set<String>

    private init<Command: ParsableArguments>(of command: Command.Type) {
        let description = try? JSONDecoder().decode(Tool.self, from: Data(command._dumpHelp().utf8))
        func options(_ kind: String) -> Set<String> {
            let arguments = (description?.command.arguments ?? []).filter { $0.kind == kind }
            let names = arguments.flatMap { $0.names ?? [] }
            return Set(names.map { ($0.kind == "short" ? "-" : "--") + $0.name })
        }
        names = options("option")
        flags = options("flag")
    }

    /// - Parameters:
    ///   - arguments: a command line, without the command's name.
    ///   - command: the command, which declares the options.
    /// - Returns: the command line to parse.
    static func split<Command: ParsableArguments>(_ arguments: [String], of command: Command.Type) -> [String]
    {
        guard arguments.contains(where: isJoined) else { return arguments }
        return JoinedOptions(of: command).split(arguments)
    }

    private func split(_ arguments: [String]) -> [String] {
        var result: [String] = []
        /// Whether the next argument is the value of an option.
        var isValue = false
        for (index, argument) in arguments.enumerated() {
            if isValue {
                result.append(argument)
                isValue = false
            } else if argument == "--" {
                return result + arguments[index...]
            } else {
                result += parts(of: argument)
                isValue = result.last.map(names.contains) ?? false
            }
        }
        return result
    }

    private static func isJoined(_ argument: String) -> Bool {
        let bytes = argument.utf8.prefix(3)
        return bytes.count == 3 && bytes.first == dash && !bytes.dropFirst().starts(with: [dash])
    }

    private static let dash = UInt8(ascii: "-")

    private func parts(of argument: String) -> [String] {
        guard Self.isJoined(argument) else { return [argument] }
        let letters = argument.unicodeScalars.dropFirst()
        for place in letters.indices {
            let option = "-\(letters[place])"
            if names.contains(option) {
                let value = String(letters[letters.index(after: place)...])
                return letters[..<place].map { "-\($0)" } + Self.words(option, value)
            }
            guard flags.contains(option) else { return [argument] }
        }
        return [argument]
    }

    private static func words(_ option: String, _ value: String) -> [String] {
        switch value.utf8.first {
        case nil: [option]
        case UInt8(ascii: "="): [option + value]
        // As a separate argument it would be parsed as an option.
        case dash: [option + "=" + value]
        default: [option, value]
        }
    }

    // MARK: - The options

    /// The parts of swift-argument-parser's description of a command that are needed here.
    private struct Tool: Decodable {
        struct Command: Decodable {
            let arguments: [Argument]?
        }

        struct Argument: Decodable {
            let kind: String
            let names: [Name]?
        }

        struct Name: Decodable {
            let kind: String
            let name: String
        }

        let command: Command
    }
}
