import Foundation
import OperationNetworking

/// The checksums that files must have, as the options specify.
struct ExpectedChecksums: Hashable, Sendable {
    /// `--checksum`, which applies to the only file.
    var only: FileDigest?
    /// The contents of `--checksums`, and its name for errors.
    var list: ChecksumList?
    var listName = ""

    /// - Parameters:
    ///   - option: the value of `--checksum`.
    ///   - list: the name and contents of the file of `--checksums`.
    /// - Throws: `Failure` with ``Outcome/usage``.
    init(option: String?, list: (name: String, contents: Data)?) throws {
        only = try option.map { try Self.digest($0, "--checksum") }
        guard let list else { return }
        listName = list.name
        do {
            self.list = try ChecksumList(list.contents)
        } catch {
            throw Failure(.usage, "\(list.name): \(error)")
        }
    }

    /// Parses a digest such as `sha-256=2cf2…`, `sha256:2cf2…` or `2cf2…`.
    ///
    /// - Throws: `Failure` with ``Outcome/usage``.
    static func digest(_ text: String, _ place: String) throws -> FileDigest {
        do {
            return try FileDigest(text: text)
        } catch {
            throw Failure(.usage, "\(place): \(error)")
        }
    }

    /// Returns the checksums that a file must have.
    ///
    /// - Parameters:
    ///   - paths: the paths under which a list may name the file, in order of preference. An entry with one
    ///     of them applies to no other file.
    ///   - names: the names under which a list may name it in any directory, in order of preference.
    ///   - own: the file's own `checksum=`, which makes an entry in the list optional.
    /// - Returns: an empty array if no checksum is expected.
    /// - Throws: `Failure` with ``Outcome/usage`` if the list has no checksum for the file, or if checksums
    ///   contradict each other.
    func digests(ofFileAt paths: [String], named names: [String], own: FileDigest?) throws -> [FileDigest] {
        var digests = [own ?? only].compactMap { $0 }
        guard let list else { return digests }
        let found = try listed(paths, names, in: list)
        guard !found.isEmpty || !digests.isEmpty else {
            throw Failure(.usage, "\(listName) has no checksum for \(names.first ?? "it").")
        }
        for digest in found where !digests.contains(digest) {
            guard !digests.contains(where: { $0.algorithm == digest.algorithm }) else {
                throw Failure(.usage, "\(listName) and its own checksum contradict each other.")
            }
            digests.append(digest)
        }
        return digests
    }

    private func listed(_ paths: [String], _ names: [String], in list: ChecksumList) throws -> [FileDigest] {
        for path in paths {
            let digests = list.digests(listedFor: path)
            if !digests.isEmpty { return digests }
        }
        do {
            for name in names {
                let digests = try list.digests(for: name)
                if !digests.isEmpty { return digests }
            }
            return []
        } catch {
            throw Failure(.usage, "\(listName): \(error)")
        }
    }
}
