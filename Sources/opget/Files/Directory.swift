import Glibc

/// Creates the directories in which files are saved.
enum Directory {
    /// Creates a directory if it is below `fence` after following links.
    static func make(_ path: FilePath, below fence: FilePath?) throws {
        guard let fence else { return try make(path) }
        try make(fence)
        // Created folders are not links, so only existing ones are checked.
        var place = path
        while place.canonical == nil, place.parent != place { place = place.parent }
        if let root = fence.canonical, let canonical = place.canonical {
            let isRoot = canonical.utf8.elementsEqual(root.utf8) || root == "/"
            guard isRoot || canonical.utf8.starts(with: (root + "/").utf8) else {
                throw Failure(.file, "\(path.text) leads out of \(fence.text), the directory of -d.")
            }
        }
        try make(path)
    }

    /// Creates the directory and its parents unless they exist.
    ///
    /// - Throws: `Failure` with ``Outcome/file``.
    static func make(_ path: FilePath) throws {
        if mkdir(path.text, 0o777) == 0 { return }
        let code = errno
        switch code {
        case EEXIST:
            guard try FileStatus(of: path) == .directory else { throw Failure(making: path, ENOTDIR) }
        case ENOENT where path.parent != path && path.text != ".":
            try make(path.parent)
            guard mkdir(path.text, 0o777) == 0 || errno == EEXIST else { throw Failure(making: path, errno) }
        default:
            // On a read-only file system, for example, mkdir fails with this even if the directory exists.
            guard (try? FileStatus(of: path)) == .directory else { throw Failure(making: path, code) }
        }
    }
}

extension FilePath {
    /// The path with links followed; `nil` if it does not exist.
    var canonical: String? {
        guard let path = realpath(text, nil) else { return nil }
        defer { free(path) }
        return String(cString: path)
    }
}
