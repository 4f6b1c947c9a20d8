import Foundation
import OperationNetworkingTesting

/// A loopback server with files that it treats in one way.
final class CrashServer: Sendable {
    let server: ScriptedServer
    private let files: Guarded<[String: FileVersions]>

    init(_ kind: ServerKind, bytesPerSecond: Int) throws {
        let files = Guarded<[String: FileVersions]>([:])
        self.files = files
        server = try ScriptedServer { request in
            let (representation, cut) = files.withLock { files in
                (files[request.path]?.representation, files[request.path]?.nextCut(for: request))
            }
            guard let representation else { return .respond(404, body: "There is no such file.\n") }
            let answer = Answer.representation(representation).throttled(to: bytesPerSecond)
            guard let cut, let cutKind = kind.cut else { return answer }
            let changing = answer.performing(after: .body(cut)) {
                if kind.changesAtCut { files.withLock { $0[request.path]?.change() } }
            }
            switch cutKind {
            case .close: return changing.breaking(after: .body(cut))
            case .reset: return changing.resetting(after: .body(cut))
            }
        }
    }

    /// Serves `file` at `path`.
    func add(_ file: FileVersions, at path: String) {
        files.withLock { $0[path] = file }
    }

    /// The file at `path`, as it is now.
    func file(at path: String) -> FileVersions? {
        files.withLock { $0[path] }
    }

    /// Puts the next version of the file at `path` in its place.
    func change(_ path: String) {
        files.withLock { $0[path]?.change() }
    }

    /// The URL of the file at `path`.
    func url(of path: String) -> URL { server.url(path: path) }
}
