import Foundation
import OperationNetworking

/// The checksums that files have to have, as the options say.
struct ExpectedChecksums: Hashable, Sendable {
    /// `--checksum`: of the one file there is.
    var only: FileDigest?
    /// `--checksums`, and what to call the list in errors.
    var list: ChecksumList?
    var listName = ""

    /// - Parameters:
    ///   - option: the value of `--checksum`.
    ///   - list: the contents of the file of `--checksums`, and its name.
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

    /// A digest from text such as `sha-256=2cf2…`, `sha256:2cf2…` or `2cf2…`.
    ///
    /// - Throws: `Failure` with ``Outcome/usage``.
    static func digest(_ text: String, _ place: String) throws -> FileDigest {
        do {
            return try FileDigest(text: text)
        } catch {
            throw Failure(.usage, "\(place): \(error)")
        }
    }

    /// The checksums that a file has to have.
    ///
    /// - Parameters:
    ///   - paths: where it is saved, as a list may have it, the likeliest first: what the list says of one of
    ///     these is about no other file.
    ///   - names: what else the list may call it, in any directory, the likeliest first.
    ///   - own: what the file's own `checksum=` says; then the list need not know it.
    /// - Returns: none if there are none for it.
    /// - Throws: `Failure` with ``Outcome/usage`` when there is a list and no checksum of the file, or when
    ///   the checksums contradict each other.
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
