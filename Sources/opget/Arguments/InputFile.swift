/// The files that the command reads, by path. `-` is standard input.
enum InputFile {
    /// The paths of descriptors of the process.
    private static let descriptors = ["/dev/stdin", "/dev/fd/", "/proc/"]

    /// Whether a later run cannot read the same there: standard input, an open descriptor (even of a regular
    /// file), a pipe such as a shell's `<(...)`, or a terminal.
    static func isPassing(_ path: String) -> Bool {
        guard path != "-", !descriptors.contains(where: { path.hasPrefix($0) }) else { return true }
        return switch try? FileStatus(of: FilePath(path)) {
        case .device, .other: path != "/dev/null"
        case .file, .directory, .nothing, nil: false
        }
    }

    /// Whether it may be typed on the terminal whose keys opget reads: standard input, or a terminal by its
    /// name.
    static func isTyped(_ path: String) -> Bool {
        path == "-" || (try? FileStatus(of: FilePath(path))) == .device
    }
}

extension OpgetCommand {
    /// The lists of addresses and checksums.
    var inputs: [String] { lists + checksumLists }

    /// The other input files.
    var otherInputs: [String] {
        [certificates, certificateDirectory, clientCertificate, clientKey, netrcFile, cookieJar].compactMap {
            $0
        }
    }
}
