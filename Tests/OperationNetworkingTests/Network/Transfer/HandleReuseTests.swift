import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// libcurl's handles, used again for every kind of request after transfers of HTTP/2 that shared a connection.
///
/// Before 8.7, libcurl does not take everything back from a handle whose connection goes on to serve others, and then
/// refuses an option for it.
@Suite(
    .timeLimit(.minutes(1)),
    .enabled(if: RealServers.nginxTLS != nil && RealServers.authorities != nil)
)
struct HandleReuseTests {
    enum Kind: CaseIterable {
        case memory, limited, post, delete, upload, file, stream, download
    }

    private let directory: TemporaryDirectory
    private let queue = OperationQueue()
    private let settings: @Sendable (ConnectionOperation) -> Void

    init() throws {
        let directory = try TemporaryDirectory()
        // A trust domain of its own, by another spelling of the same file: no other test's handles.
        let authorities = directory.file("authorities.pem")
        try FileManager.default.copyItem(at: try #require(RealServers.authorities), to: authorities)
        self.directory = directory
        settings = { operation in
            operation.trustAnchors = .file(authorities)
            operation.completionQueue = DispatchQueue(label: "callbacks")
        }
    }

    private func get(_ url: URL) -> HTTPRequestOperation {
        let operation = HTTPRequestOperation(request: URLRequest(url: url))
        settings(operation)
        return operation
    }

    private func operation(_ kind: Kind, at server: URL) -> HTTPRequestOperation {
        var request = URLRequest(url: server.appendingPathComponent("64k.bin"))
        let file = directory.file(UUID().uuidString)
        switch kind {
        case .post, .delete, .upload:
            request = URLRequest(url: server.appendingPathComponent("discard"))
            request.httpMethod = kind == .delete ? "DELETE" : "POST"
            // From 4 MiB on a body gets a larger buffer.
            if kind != .delete { request.httpBody = Data(count: kind == .post ? 1000 : 4 << 20) }
        case .memory, .limited, .file, .stream, .download:
            break
        }
        // Else the GETs of the next round would take its connection, which is of HTTP/1.1.
        if kind != .memory { request.setValue("close", forHTTPHeaderField: "Connection") }
        let operation =
            kind == .download
            ? DownloadOperation(request: request, to: file) : HTTPRequestOperation(request: request)
        settings(operation)
        if kind == .file { operation.outputFile = file }
        if kind == .stream { operation.outputStream = OutputStream(url: file, append: false) }
        if kind == .limited { operation.downloadLimits = [BandwidthLimit(bytesPerSecond: 50_000_000)] }
        return operation
    }

    @Test func everyKindOfRequestSucceedsAfterTransfersThatSharedAConnection() async throws {
        let shared = try #require(RealServers.nginxTLS)
        let servers = [shared, try #require(NginxTLSServer.http1.url)]
        // Of 5 seconds, which hold the connection.
        var holding = get(shared.appendingPathComponent("slow/1m.bin"))
        queue.addOperation(holding)
        for round in 0..<Rounds.count(20) {
            if holding.isFinished {
                holding = get(shared.appendingPathComponent("slow/1m.bin"))
                queue.addOperation(holding)
            }
            let sharing = (0..<6).map { _ in get(shared.appendingPathComponent("64k.bin")) }
            for operation in sharing { queue.addOperation(operation) }
            for operation in sharing {
                _ = try await operation.value
                #expect(operation.metrics?.httpVersion == "2")
            }
            let kinds = servers.flatMap { server in
                // One large body for each round is enough.
                Kind.allCases.filter { $0 != .upload || server == servers[round % 2] }
                    .map { ($0, operation($0, at: server)) }
            }
            for (_, operation) in kinds { queue.addOperation(operation) }
            for (kind, operation) in kinds {
                _ = try? await operation.value
                #expect(operation.error == nil, "round \(round), \(kind)")
            }
        }
        holding.cancel()
    }
}
