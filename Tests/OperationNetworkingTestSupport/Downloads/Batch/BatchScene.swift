import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting

/// A folder, a manager, and what a batch reported.
struct BatchScene {
    let folder: TemporaryDirectory
    let manager = OperationManager()
    /// The indices of members in the order in which they ended.
    let ended = Recorder<Int>()
    let full = Recorder<any Error>()

    init() throws {
        folder = try TemporaryDirectory()
        manager.completionQueue = DispatchQueue(label: "callbacks")
        manager.requestSerializer = HTTPRequestSerializer()
    }

    var journal: URL { folder.file("batch.journal") }

    var onEvent: @Sendable (DownloadBatch.Event) -> Void {
        { [ended, full] event in
            switch event {
            case .ended(let index, _): ended.append(index)
            case .outOfSpace(let error): full.append(error)
            }
        }
    }

    /// Files called 0, 1, 2 and so on, each of which the server has at the path of that name.
    func items(_ indices: Range<Int>, of server: ScriptedServer) -> [DownloadItem] {
        indices.map { DownloadItem(url: server.url(path: "\($0)"), destination: folder.file("\($0)")) }
    }

    func batch(
        _ items: [DownloadItem],
        journal: URL? = nil,
        _ change: (inout DownloadBatch.Options) -> Void = { _ in }
    ) throws -> DownloadBatch {
        var options = DownloadBatch.Options()
        options.retryPolicy = nil
        change(&options)
        return try manager.downloads(items, options: options, journal: journal, event: onEvent)
    }

    func resumed() throws -> DownloadBatch {
        try manager.downloads(resuming: journal, event: onEvent)
    }

    func text(_ name: String) throws -> String {
        try String(contentsOf: folder.file(name), encoding: .utf8)
    }

    var names: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder.url.path)) ?? []).sorted()
    }

    /// A server that has, at each path, its path.
    static func server() throws -> ScriptedServer {
        try ScriptedServer { request in .respond(200, ["ETag": "\"v1\""], body: .text(request.path)) }
    }
}

extension Result {
    var error: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}
