package import Foundation
internal import OperationNetworkingSystem

/// The version of a file at the moment when it was looked at: its identity, its length, and the time of its
/// last change of any kind, in nanoseconds, which no program can set. Links are followed.
package struct SeenVersion: Hashable, Sendable {
    private let version: FileVersion

    /// - Returns: `nil` if there is no file, or the system does not tell.
    package init?(of file: URL) {
        guard let version = FileVersion(path: file.path) else { return nil }
        self.version = version
    }
}
