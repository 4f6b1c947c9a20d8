import Foundation

/// The secret parts of a command line, which `ps` shows to all users of the machine.
struct SecretArguments: Hashable, Sendable {
    /// The options whose value is or may contain a secret.
    private static let options: Set<Substring> = [
        "-u", "--user", "--proxy-user", "-H", "--header", "-x", "--proxy",
    ]

    /// The secret bytes, by argument number.
    let ranges: [Int: [Range<Int>]]

    /// Hides too much rather than too little: an argument counts both as the value of the preceding option
    /// and as an option.
    ///
    /// - Parameter arguments: the arguments, starting with the command's name.
    init(_ arguments: [String]) {
        var ranges: [Int: [Range<Int>]] = [:]
        var previous: Substring?
        for (number, argument) in arguments.enumerated().dropFirst() {
            let bytes = Array(argument.utf8)
            let (name, start) = Self.option(in: argument)
            let secrets = [
                previous.flatMap { Self.secret(in: bytes, from: 0, of: $0) },
                Self.secret(in: bytes, from: start, of: name),
            ]
            ranges[number] = secrets.compactMap(\.self).filter { !$0.isEmpty }.nilIfEmpty
            previous = start == bytes.count ? name : nil
        }
        self.ranges = ranges
    }

    /// Returns the option in the argument, if any, and the start of its value.
    private static func option(in argument: String) -> (name: Substring?, start: Int) {
        guard argument.hasPrefix("-"), argument.count > 1 else { return (nil, 0) }
        if argument.hasPrefix("--") {
            guard let sign = argument.utf8.firstIndex(of: UInt8(ascii: "=")) else {
                return (options.contains(argument[...]) ? argument[...] : nil, argument.utf8.count)
            }
            return (argument[..<sign], argument.utf8.distance(from: argument.startIndex, to: sign) + 1)
        }
        // Flags may precede it, as in -qu.
        guard let letter = argument.firstIndex(where: { "uHx".contains($0) }) else { return (nil, 0) }
        var start = argument.utf8.distance(from: argument.startIndex, to: letter) + 1
        if argument.utf8.dropFirst(start).first == UInt8(ascii: "=") { start += 1 }
        return (Substring("-" + String(argument[letter])), start)
    }

    private static func secret(in bytes: [UInt8], from start: Int, of option: Substring?) -> Range<Int>? {
        let value = bytes[min(start, bytes.count)...]
        switch option {
        case "-u", "--user", "--proxy-user", "-H", "--header":
            // The user or field name is shown; the rest is hidden.
            return value.firstIndex(of: UInt8(ascii: ":")).map { $0 + 1..<bytes.endIndex }
        default:
            return userInformation(in: value, needsScheme: option != "-x" && option != "--proxy")
        }
    }

    /// `user:password` in an address.
    private static func userInformation(
        in value: ArraySlice<UInt8>,
        needsScheme: Bool,
        endsAtPath: Bool = true
    ) -> Range<Int>? {
        var start = value.startIndex
        if let scheme = value.indices.first(where: { value[$0...].starts(with: "://".utf8) }) {
            start = scheme + 3
        } else if needsScheme {
            return nil
        }
        let authority = value[start...].prefix { !endsAtPath || !"/?#".utf8.contains($0) }
        return authority.lastIndex(of: UInt8(ascii: "@")).map { start..<$0 }
    }

    var isEmpty: Bool { ranges.isEmpty }

    // MARK: - Messages

    /// Replaces secrets of arguments in a message by asterisks.
    ///
    /// - Parameters:
    ///   - message: a message about a command line.
    ///   - arguments: that command line, without the command's name.
    /// - Returns: the message to print.
    static func hiding(in message: String, about arguments: [String]) -> String {
        var message = message
        for (number, ranges) in SecretArguments([""] + arguments).ranges {
            let argument = arguments[number - 1]
            let shown = stars(in: argument, at: ranges)
            message = message.replacingOccurrences(of: argument, with: shown)
            // The message may contain only the value that is joined to a letter.
            guard argument.utf8.first == UInt8(ascii: "-"), let secret = ranges.map(\.lowerBound).min(),
                secret > 2
            else { continue }
            for start in 2..<secret {
                let ends = [argument, shown].map { String(decoding: $0.utf8.dropFirst(start), as: UTF8.self) }
                message = message.replacingOccurrences(of: ends[0], with: ends[1])
            }
        }
        return message
    }

    /// Returns an address without its password, for messages. In an invalid address the password may be
    /// anywhere before an `@`.
    static func hiding(inAddress address: String) -> String {
        let bytes = Array(address.utf8)
        let isAddress = URL(string: address)?.host?.isEmpty == false
        guard let range = userInformation(in: bytes[...], needsScheme: false, endsAtPath: isAddress) else {
            return address
        }
        return stars(in: address, at: [range])
    }

    private static func stars(in text: String, at ranges: [Range<Int>]) -> String {
        var bytes = Array(text.utf8)
        for index in ranges.joined() { bytes[index] = UInt8(ascii: "*") }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Overwrites them with asterisks in the system's copy of the command line.
    func hide() {
        for (number, secrets) in ranges where number < Int(CommandLine.argc) {
            guard let argument = CommandLine.unsafeArgv[number] else { continue }
            for index in secrets.joined() { argument[index] = CChar(bitPattern: UInt8(ascii: "*")) }
        }
    }
}

extension Array {
    fileprivate var nilIfEmpty: Self? { isEmpty ? nil : self }
}
