import Foundation

/// What is to be fetched, worked out from the command line and the list before anything is.
struct Plan: Hashable, Sendable {
    /// What the options say about names.
    struct Naming: Hashable, Sendable {
        /// `-d`; a fence when it is given: nothing is written outside it.
        var directory: String?
        /// `-o`.
        var output: String?
        var workingDirectory: String
    }

    private(set) var items: [Item] = []

    private let naming: Naming
    private var origins: [String: String] = [:]

    /// - Parameters:
    ///   - addresses: those on the command line.
    ///   - list: what `-i` named, and what to call it in errors.
    ///   - naming: what is saved where.
    /// - Throws: `Failure` with ``Outcome/usage``.
    init(addresses: [String], list: (name: String, entries: [InputList.Entry])?, naming: Naming) throws {
        self.naming = naming
        let count = addresses.count + (list?.entries.count ?? 0)
        if naming.output != nil, count > 1 {
            throw Failure(
                .usage,
                "-o names one file, and there are \(count) addresses; use -d, or out= in a list."
            )
        }
        if naming.directory?.isEmpty == true || naming.directory?.contains("\0") == true {
            throw Failure(.usage, "-d needs the name of a directory.")
        }
        items.reserveCapacity(count)
        for address in addresses {
            let origin = address.isEmpty ? "\"\"" : address
            try add(InputList.Entry(url: address, line: 0), origin: origin) { _ in origin }
        }
        guard let list else { return }
        for entry in list.entries {
            try add(entry, origin: "\(list.name):\(entry.line)") { "\(list.name):\($0)" }
        }
    }

    private mutating func add(_ entry: InputList.Entry, origin: String, place: (Int) -> String) throws {
        let url = try Self.naming(origin) { try Self.url(entry.url) }
        let (destination, name) = try self.destination(of: entry, url, origin, place)
        if case .file(let path) = destination {
            let key = path.normalized(in: naming.workingDirectory)
            if let other = origins.updateValue(origin, forKey: key) {
                throw Failure(
                    .usage,
                    "\(origin): \(path.text) is what \(other) is saved as already; "
                        + "give one of them another name with out= in a list."
                )
            }
        }
        items.append(Item(url: url, destination: destination, name: name))
    }

    /// Puts the address, or its place in the list, before what is wrong with it.
    private static func naming<Value>(_ origin: String, _ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let failure as Failure {
            throw Failure(failure.outcome, "\(origin): \(failure.sentence)")
        }
    }

    private static func url(_ text: String) throws -> URL {
        guard let url = URL(string: text), let scheme = url.scheme?.lowercased() else {
            throw Failure(.usage, "This is not an address with http:// or https:// before it.")
        }
        guard scheme == "http" || scheme == "https" else {
            throw Failure(.usage, "Only http and https addresses can be fetched, not \(scheme).")
        }
        guard let host = url.host, !host.isEmpty else { throw Failure(.usage, "The address has no host.") }
        return url
    }

    // MARK: - Names

    private func destination(
        of entry: InputList.Entry,
        _ url: URL,
        _ origin: String,
        _ place: (Int) -> String
    ) throws -> (Item.Destination, name: String) {
        if let output = naming.output { return try destination(output, url) }
        let directory =
            try entry.dir.map { try self.directory($0, place) } ?? FilePath(naming.directory ?? ".")
        guard let out = entry.out else {
            let name = try Self.naming(origin) { try FileName(suggestedBy: url).text }
            return (.file(directory.appending(name)), name)
        }
        let path = FilePath(out.text)
        if let problem = path.problemAsFileBelow {
            throw Failure(.usage, "\(place(out.line)): out=\(out.text) \(problem).")
        }
        return (.file(directory.appending(out.text)), out.text)
    }

    private func directory(_ dir: InputList.Value, _ place: (Int) -> String) throws -> FilePath {
        let path = FilePath(dir.text)
        func refuse(_ problem: String) -> Failure {
            Failure(.usage, "\(place(dir.line)): dir=\(dir.text) \(problem).")
        }
        if let problem = path.problemAsDirectory { throw refuse(problem) }
        guard let fence = naming.directory else { return path }
        guard path.isAbsolute else { return FilePath(fence).appending(dir.text) }
        let root = FilePath(fence).normalized(in: naming.workingDirectory)
        let place = path.normalized(in: naming.workingDirectory)
        guard place == root || root == "/" || place.hasPrefix(root + "/") else {
            throw refuse("is outside of \(fence), which -d names")
        }
        return path
    }

    /// `-o` is the user's own word: without `-d` it may be any path.
    private func destination(_ output: String, _ url: URL) throws -> (Item.Destination, name: String) {
        if output == "-" { return (.standardOutput, (try? FileName(suggestedBy: url))?.text ?? "-") }
        let path = FilePath(output)
        guard let directory = naming.directory else {
            guard !output.isEmpty, !output.hasSuffix("/"), !output.contains("\0") else {
                throw Failure(.usage, "-o needs the name of a file, or - for standard output.")
            }
            return (.file(path), path.name)
        }
        if let problem = path.problemAsFileBelow { throw Failure(.usage, "-o \(output) \(problem).") }
        return (.file(FilePath(directory).appending(output)), output)
    }
}
