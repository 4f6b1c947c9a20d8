import Foundation
import OperationNetworking

/// The files to fetch, determined from the command line and lists before the first request.
struct Plan: Hashable, Sendable {
    /// The options for naming files.
    struct Naming: Hashable, Sendable {
        /// `-d`. If it is given, nothing is written outside of it.
        var directory: String?
        /// `-o`.
        var output: String?
        var workingDirectory: String
        /// `--cookie-jar`, written at the end.
        var cookieJar: String?
    }

    private(set) var items: [Item] = []

    private let naming: Naming
    private let checksums: ExpectedChecksums
    /// By the bytes of paths: names with different Unicode composition are different files.
    private var origins: [[UInt8]: String] = [:]

    /// - Parameters:
    ///   - addresses: the addresses on the command line.
    ///   - lists: the `-i` lists, and their names in errors.
    ///   - naming: the options for naming files.
    ///   - checksums: the expected checksums.
    /// - Throws: `Failure` with ``Outcome/usage``, without passwords of addresses.
    init(
        addresses: [String],
        lists: [(name: String, entries: [InputList.Entry])],
        naming: Naming,
        checksums: ExpectedChecksums
    ) throws {
        self.naming = naming
        self.checksums = checksums
        let count = lists.reduce(addresses.count) { $0 + $1.entries.count }
        if naming.output != nil, count > 1 {
            throw Failure(
                .usage,
                "-o names one file, but there are \(count) URLs; use -d, or out= in a list."
            )
        }
        if checksums.only != nil, count > 1 {
            throw Failure(
                .usage,
                "--checksum is for one file, but there are \(count) URLs; use --checksums, or checksum= in a list."
            )
        }
        if naming.directory?.isEmpty == true || naming.directory?.contains("\0") == true {
            throw Failure(.usage, "-d needs the name of a directory.")
        }
        items.reserveCapacity(count)
        for address in addresses {
            let origin = address.isEmpty ? "\"\"" : SecretArguments.hiding(inAddress: address)
            try add(InputList.Entry(url: address, line: 0), origin: origin) { _ in origin }
        }
        for list in lists {
            for entry in list.entries {
                try add(entry, origin: "\(list.name):\(entry.line)") { "\(list.name):\($0)" }
            }
        }
    }

    private mutating func add(_ entry: InputList.Entry, origin: String, place: (Int) -> String) throws {
        let url = try Self.naming(origin) { try Self.url(entry.url) }
        let (destination, name) = try self.destination(of: entry, url, origin, place)
        if case .file(let path) = destination {
            let key = Array(path.normalized(in: naming.workingDirectory).utf8)
            try checkCookieJar(key, origin)
            if let other = origins.updateValue(origin, forKey: key) {
                throw Failure(
                    .usage,
                    "\(origin): \(path.text) is already the destination of \(other); "
                        + "give one of them another name with out= in a list."
                )
            }
        }
        let digests = try self.digests(of: entry, url, destination, name, origin, place)
        items.append(Item(url: url, destination: destination, name: name, digests: digests))
    }

    /// Throws if the jar would overwrite an item or its partial files. `key` is the bytes of the item's path.
    private func checkCookieJar(_ key: [UInt8], _ origin: String) throws {
        guard let jar = naming.cookieJar else { return }
        let path = Array(FilePath(jar).normalized(in: naming.workingDirectory).utf8)
        guard ["", ".part", ".part.resume"].contains(where: { key + $0.utf8 == path }) else { return }
        throw Failure(
            .usage,
            "\(origin): --cookie-jar \(jar) would overwrite it; give one of them another name."
        )
    }

    private func digests(
        of entry: InputList.Entry,
        _ url: URL,
        _ destination: Item.Destination,
        _ name: String,
        _ origin: String,
        _ place: (Int) -> String
    ) throws -> [FileDigest] {
        let own = try entry.checksum.map { value in
            try ExpectedChecksums.digest(value.text, "\(place(value.line)): checksum")
        }
        let names = [name, FilePath(name).name] + [try? FileName(suggestedBy: url).text].compactMap { $0 }
        let paths = paths(of: destination)
        let digests = try Self.naming(origin) {
            try checksums.digests(ofFileAt: paths, named: names, own: own)
        }
        if case .descriptor = destination, !digests.isEmpty {
            throw Failure(
                .usage,
                "\(origin): A checksum can only be checked at the end, but a descriptor cannot take bytes back; save a "
                    + "file."
            )
        }
        return digests
    }

    /// The paths that a checksum list may use for a file: relative to `-d`, relative to the working
    /// directory, absolute, and as given.
    private func paths(of destination: Item.Destination) -> [String] {
        guard checksums.list != nil, case .file(let path) = destination else { return [] }
        let here = naming.workingDirectory
        let roots = [naming.directory ?? ".", "."].map { FilePath($0) }
        return roots.compactMap { path.relative(to: $0, in: here) } + [path.normalized(in: here), path.text]
    }

    /// Prefixes errors with the address or its position in the list.
    private static func naming<Value>(_ origin: String, _ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let failure as Failure {
            throw Failure(failure.outcome, "\(origin): \(failure.sentence)")
        }
    }

    private static func url(_ text: String) throws -> URL {
        guard let url = URL(reference: text), let scheme = url.scheme?.lowercased() else {
            throw Failure(.usage, "This is not a URL that begins with http:// or https://.")
        }
        guard scheme == "http" || scheme == "https" else {
            throw Failure(.usage, "Only http and https URLs can be fetched, not \(scheme).")
        }
        guard let host = url.host, !host.isEmpty else { throw Failure(.usage, "The URL has no host.") }
        // Foundation decodes `%2F`, and libcurl rejects the result. A colon belongs to an IPv6 address.
        guard host.utf8.contains(UInt8(ascii: ":")) || isInHost(host.removingPercentEncoding) else {
            throw Failure(.usage, "The URL has an invalid host.")
        }
        guard isUTF8(url) else {
            throw Failure(.usage, "The user or the password in the URL is not UTF-8.")
        }
        if let port = url.port, !(0...65_535).contains(port) {
            throw Failure(.usage, "Port \(port) is out of range: the highest is 65535.")
        }
        return url
    }

    private static func isInHost(_ text: String?) -> Bool {
        text?.unicodeScalars.allSatisfy {
            $0.value > 0x20 && $0.value != 0x7F && !"\"#%/<>?@[\\]^`{|}".unicodeScalars.contains($0)
        } ?? false
    }

    /// Whether the percent-decoded user and password are UTF-8.
    private static func isUTF8(_ url: URL) -> Bool {
        let components = URLComponents(url: url, resolvingAgainstBaseURL: true)
        return [components?.percentEncodedUser, components?.percentEncodedPassword].allSatisfy {
            $0 == nil || $0?.removingPercentEncoding != nil
        }
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
        guard
            place.utf8.elementsEqual(root.utf8)
                || path.relative(to: FilePath(fence), in: naming.workingDirectory) != nil
        else {
            throw refuse("is outside of \(fence), the directory of -d")
        }
        return path
    }

    /// `-o` is chosen by the user: without `-d` it may be any path.
    private func destination(_ output: String, _ url: URL) throws -> (Item.Destination, name: String) {
        if output == "-" || naming.directory == nil, let number = OutputDescriptor.number(of: output) {
            return (.descriptor(number), (try? FileName(suggestedBy: url))?.text ?? output)
        }
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
