import Foundation
import OperationNetworkingTesting

/// The server and what it has: files of a few MiB whose bytes are computed, not stored.
final class Site {
    /// A file on the server.
    struct File {
        let name: String
        var body: PatternBody
        var version = 1

        /// A strong entity tag: without one, nothing could be resumed.
        var representation: Representation {
            Representation(.pattern(body), entityTag: .strong("\(name)-v\(version)"))
        }
    }

    private(set) var files: [File]
    let server: ScriptedServer

    var byteCount: Int64 { files.reduce(0) { $0 + Int64($1.body.length) } }

    init(fileCount: Int, rate: Int) throws {
        files = (1...fileCount).map { number in
            File(
                name: String(format: "file-%02d.bin", number),
                body: PatternBody(seed: UInt64(number), length: (1 + number % 4) << 20)
            )
        }
        server = try ScriptedServer { _ in .currentRepresentation.throttled(to: rate) }
        for file in files { publish(file) }
    }

    /// Gives a file other bytes and another entity tag, as a new upload would.
    func changeFile(_ index: Int) async throws -> String {
        files[index].body = PatternBody(seed: UInt64(1000 + index), length: files[index].body.length)
        files[index].version += 1
        publish(files[index])
        return files[index].name
    }

    /// Each request for a range, as the server saw it.
    func resumptions() -> [String] {
        server.requests.compactMap { request in
            guard let range = request["Range"], let tag = request["If-Range"] else { return nil }
            return "\(request.path.dropFirst())  Range: \(range)  If-Range: \(tag)"
        }
    }

    private func publish(_ file: File) {
        server.setRepresentation(file.representation, forPath: "/" + file.name)
    }
}
