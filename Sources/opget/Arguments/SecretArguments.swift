/// The parts of a command line that others must not see: `ps` shows it to everybody on the machine.
struct SecretArguments: Hashable, Sendable {
    /// In the argument of each number, the bytes that are secret.
    let ranges: [Int: Range<Int>]

    /// - Parameter arguments: the command's name first.
    init(_ arguments: [String]) {
        var ranges: [Int: Range<Int>] = [:]
        var option: Substring?
        for (number, argument) in arguments.enumerated().dropFirst() {
            let bytes = Array(argument.utf8)
            let (name, start) = Self.option(in: argument, awaiting: option)
            if let secret = Self.secret(in: bytes, from: start, of: name), !secret.isEmpty {
                ranges[number] = secret
            }
            // An option without a value in the same argument has it in the next one.
            option = option == nil && start == bytes.count ? name : nil
        }
        self.ranges = ranges
    }

    /// Which option the argument has a value of, or is, and where the value begins.
    private static func option(in argument: String, awaiting: Substring?) -> (name: Substring?, start: Int) {
        if let awaiting { return (awaiting, 0) }
        guard argument.hasPrefix("-"), argument.count > 1 else { return (nil, 0) }
        if argument.hasPrefix("--") {
            guard let sign = argument.utf8.firstIndex(of: UInt8(ascii: "=")) else {
                return (argument[...], argument.utf8.count)
            }
            return (argument[..<sign], argument.utf8.distance(from: argument.startIndex, to: sign) + 1)
        }
        // Flags may stand before it: -qu.
        guard let letter = argument.firstIndex(where: { "uHx".contains($0) }) else { return (nil, 0) }
        var start = argument.utf8.distance(from: argument.startIndex, to: letter) + 1
        if argument.utf8.dropFirst(start).first == UInt8(ascii: "=") { start += 1 }
        return (Substring("-" + String(argument[letter])), start)
    }

    private static func secret(in bytes: [UInt8], from start: Int, of option: Substring?) -> Range<Int>? {
        let value = bytes[min(start, bytes.count)...]
        switch option {
        case "-u", "--user", "--proxy-user", "-H", "--header":
            // The user, or the field, and then what nobody needs to see.
            return value.firstIndex(of: UInt8(ascii: ":")).map { $0 + 1..<bytes.endIndex }
        default:
            return userInformation(in: value, needsScheme: option != "-x" && option != "--proxy")
        }
    }

    /// `user:password` in an address.
    private static func userInformation(in value: ArraySlice<UInt8>, needsScheme: Bool) -> Range<Int>? {
        var start = value.startIndex
        if let scheme = value.indices.first(where: { value[$0...].starts(with: "://".utf8) }) {
            start = scheme + 3
        } else if needsScheme {
            return nil
        }
        let authority = value[start...].prefix { !"/?#".utf8.contains($0) }
        return authority.lastIndex(of: UInt8(ascii: "@")).map { start..<$0 }
    }

    var isEmpty: Bool { ranges.isEmpty }

    /// Writes stars over them, where the system keeps the command line of this process.
    func hide() {
        for (number, range) in ranges where number < Int(CommandLine.argc) {
            guard let argument = CommandLine.unsafeArgv[number] else { continue }
            for index in range { argument[index] = CChar(bitPattern: UInt8(ascii: "*")) }
        }
    }
}
