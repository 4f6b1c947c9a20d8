import Foundation

extension URL {
    /// Whether it names a file on this machine ([RFC 8089](https://www.rfc-editor.org/rfc/rfc8089)): the
    /// scheme is `file`, the host is missing, empty or `localhost`, and the path is one that the system can
    /// be asked for. The path of any other URL would be that of some file here, too.
    var namesLocalFile: Bool {
        guard isFileURL, [nil, "", "localhost"].contains(host?.lowercased()) else { return false }
        // It is empty if it is no UTF-8.
        return !path.isEmpty && !path.utf8.contains(0)
    }
}
