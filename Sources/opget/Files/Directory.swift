import Glibc

/// A directory that files are to be saved in.
enum Directory {
    /// The same, if it is below another one when links are followed.
    static func make(_ path: FilePath, below fence: FilePath?) throws {
        guard let fence else { return try make(path) }
        try make(fence)
        // No folder that is made is a link: only those found count.
        var place = path
        while place.canonical == nil, place.parent != place { place = place.parent }
        if let root = fence.canonical, let canonical = place.canonical {
            let isRoot = canonical.utf8.elementsEqual(root.utf8) || root == "/"
            guard isRoot || canonical.utf8.starts(with: (root + "/").utf8) else {
                throw Failure(.file, "\(path.text) leads out of \(fence.text), which -d names.")
            }
        }
        try make(path)
    }

    /// Makes it, and those above it, unless they are there.
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
            // A directory on a read-only file system, for one, says so even if it exists.
            guard (try? FileStatus(of: path)) == .directory else { throw Failure(making: path, code) }
        }
    }
}

extension FilePath {
    /// The path of what it names, links followed; `nil` if there is nothing.
    var canonical: String? {
        guard let path = realpath(text, nil) else { return nil }
        defer { free(path) }
        return String(cString: path)
    }
}
