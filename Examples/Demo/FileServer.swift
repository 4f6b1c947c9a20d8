import Foundation
import OperationNetworkingTesting

/// A loopback server with the sample files, slow enough to be watched.
final class FileServer {
    private let server: ScriptedServer
    /// The files as they are now, in order.
    private(set) var files: [SampleFile]

    /// Starts serving `files`, each connection at `bytesPerSecond`.
    init(_ files: [SampleFile], bytesPerSecond: Int) throws {
        self.files = files
        server = try ScriptedServer([.currentRepresentation.throttled(to: bytesPerSecond)])
        for file in files { server.setRepresentation(file.representation, forPath: "/" + file.name) }
    }

    // MARK: - Statistics

    /// `http://127.0.0.1:port/`.
    var url: URL { server.url }

    /// All requests, in order.
    var requests: [ReceivedRequest] { server.requests }

    /// Bytes of bodies that were sent, whether or not the client kept them.
    var bytesSent: Int { server.bodyBytesSent }

    /// Connections that clients have opened.
    var connectionCount: Int { server.connectionsAccepted }

    /// The URL of a file.
    func url(of file: SampleFile) -> URL { server.url(path: file.name) }

    /// Suspends the task until nothing is being sent: every answer is complete, or its client has disconnected.
    func waitUntilQuiet() async throws {
        try await server.waitForAnswers(count: server.requests.count)
    }

    /// The first request for each of `names` after the first `count` requests of all, when they have all
    /// come.
    func requests(for names: [String], after count: Int) async throws -> [ReceivedRequest] {
        var requests = server.requests
        while true {
            let later = requests.dropFirst(count)
            let found = names.compactMap { name in later.first { $0.path == "/" + name } }
            if found.count == names.count { return found }
            requests = try await server.waitForRequests(count: requests.count + 1)
        }
    }

    // MARK: - Commands

    /// Replaces the content of a file.
    func overwrite(_ name: String) {
        guard let index = files.firstIndex(where: { $0.name == name }) else { return }
        files[index] = files[index].overwritten
        server.setRepresentation(files[index].representation, forPath: "/" + name)
    }

    /// Closes everything.
    func stop() {
        server.stop()
    }
}
