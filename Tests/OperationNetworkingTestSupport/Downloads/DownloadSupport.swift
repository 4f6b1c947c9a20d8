import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworkingTesting

@testable import OperationNetworking

extension ScriptedServer {
    /// Its address with a query.
    func url(query: String) throws -> URL {
        guard let url = URL(string: url(path: "/").absoluteString + "?" + query) else {
            throw URLError(.badURL)
        }
        return url
    }
}

/// A server with a file, a folder to save it in, and what was reported meanwhile.
struct DownloadScene {
    static let body = PatternBody(seed: 1, length: 300_000)
    static let old = Representation(.pattern(body), entityTag: .strong("v1"))

    let server: ScriptedServer
    let folder: TemporaryDirectory
    let journal = Journal()

    var target: URL { folder.file("file.bin") }
    var part: URL { folder.file("file.bin.part") }
    var checkpoint: URL { folder.file("file.bin.part.resume") }

    init(serving representation: Representation = old, answers: [Answer] = [.currentRepresentation]) throws {
        server = try ScriptedServer(serving: representation, answers: answers)
        folder = try TemporaryDirectory()
    }

    init(server: ScriptedServer) throws {
        self.server = server
        folder = try TemporaryDirectory()
    }

    /// Records what becomes of bytes that are there.
    final class Journal: OperationObserver {
        let offsets = Recorder<Int64>()
        let reasons = Recorder<RestartReason>()
        let retries = Recorder<TimeInterval>()

        func operation(_ operation: ConnectionOperation, didResumeAt offset: Int64) {
            offsets.append(offset)
        }

        func operation(_ operation: ConnectionOperation, willStartOverBecause reason: RestartReason) {
            reasons.append(reason)
        }

        func operation(_ operation: ConnectionOperation, willRetry retry: Retry) {
            retries.append(retry.delay)
        }
    }

    func operation(_ path: String = "/") -> DownloadOperation {
        let operation = DownloadOperation(request: URLRequest(url: server.url(path: path)), to: target)
        operation.completionQueue = DispatchQueue(label: "callbacks")
        operation.retryPolicy = nil
        operation.addObserver(journal)
        return operation
    }

    /// Runs an operation to its end, its callbacks included.
    func run(_ operation: DownloadOperation) async -> Result<URL?, any Error> {
        operation.start()
        let result = await Result(awaiting: { try await operation.value as? URL })
        operation.completionQueue?.sync {}
        return result
    }

    /// Leaves a partial file: some bytes came, and then the connection broke.
    func leave(_ count: Int) async {
        _ = await run(operation())
    }

    func exists(_ url: URL) -> Bool { FileManager.default.fileExists(atPath: url.path) }

    var names: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder.url.path)) ?? []).sorted()
    }
}

extension DownloadOperation {
    /// Calls `body` when the part is complete, before it takes the place of the file. An error ends the download, and
    /// leaves the part as a process does that dies before the last step.
    func whenComplete(_ body: @escaping @Sendable () throws -> Void) {
        willFinish = { _, _, _ in try body() }
    }
}

extension PartialDownload {
    /// The older one of the parts that are there, or a new one.
    convenience init(
        _ request: URLRequest,
        as identity: RequestIdentity? = nil,
        under verification: ServerVerification? = nil,
        asksAboutServers: Bool = false,
        to destination: URL,
        replacesFile: Bool,
        in environment: DownloadEnvironment = DownloadEnvironment()
    ) throws {
        let question = DownloadRequest(request, as: identity, under: verification, asksAboutServers)
        let target = try DownloadTarget(destination, for: question, replacing: replacesFile, in: environment)
        let found = try FileError.translating(destination) {
            try target.place.check(replacing: replacesFile)
            return try target.findParts().parts.first ?? target.makePart()
        }
        self.init(found, for: target, generation: found.generation)
    }
}
