import Dispatch
import Foundation
import FoundationNetworking
import Glibc
import OperationNetworking
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// One file is written by one operation at a time, and `outputFile` is a file.
@Suite(.timeLimit(.minutes(1)))
struct DestinationClaimTests {
    private static let slow = PatternBody(seed: 1, length: 300_000)
    private static let quick = PatternBody(seed: 2, length: 200_000)
    /// The bytes of `slow` that the server sends before it waits.
    private static let beginning = 100_000

    /// `/slow` waits at a gate, and whatever else is asked for does not. One file may be there already.
    private struct Scene {
        let gate = Gate()
        let server: ScriptedServer
        let folder: TemporaryDirectory

        init(changing change: @escaping @Sendable (Answer) -> Answer = { $0 }) throws {
            let slow = Answer.representation(
                Representation(.pattern(DestinationClaimTests.slow), entityTag: .strong("v1"))
            )
            server = try ScriptedServer { [gate] request in
                guard request.target == "/slow" else { return .respond(body: .pattern(quick)) }
                return change(slow.held(after: .body(beginning), by: gate))
            }
            folder = try TemporaryDirectory()
        }

        var file: URL { folder.file("file.bin") }

        func operation(_ path: String = "/quick", to file: URL) -> HTTPRequestOperation {
            let operation = HTTPRequestOperation(request: URLRequest(url: server.url(path: path)))
            operation.completionQueue = DispatchQueue(label: "callbacks")
            operation.outputFile = file
            return operation
        }

        func download(to file: URL, _ path: String = "/quick") -> DownloadOperation {
            let operation = DownloadOperation(request: URLRequest(url: server.url(path: path)), to: file)
            operation.replacesFile = true
            operation.completionQueue = DispatchQueue(label: "callbacks")
            return operation
        }

        /// Starts an operation, and returns when it has written what it gets before the gate.
        func writer(_ file: URL? = nil) async throws -> HTTPRequestOperation {
            let operation = operation("/slow", to: file ?? self.file)
            operation.start()
            try await waitForBeginning(in: file ?? self.file)
            return operation
        }

        func waitForBeginning(in file: URL) async throws {
            try await eventually { size(file) == DestinationClaimTests.beginning }
        }

        func size(_ file: URL) -> Int? {
            try? FileManager.default.attributesOfItem(atPath: file.path)[.size] as? Int
        }
    }

    private func error(of operation: HTTPRequestOperation) async -> (any Error)? {
        operation.start()
        _ = try? await operation.value
        return operation.error
    }

    // MARK: - What is no file

    static let noFiles: [@Sendable (String) -> URL?] = [
        { URL(string: "https://example.com" + $0) },
        { URL(string: "http://localhost" + $0) },
        { URL(string: $0) },
        { URL(string: String($0.dropFirst())) },
        { URL(string: "file://example.com" + $0) },
        { URL(string: "file://127.0.0.1" + $0) },
        { URL(string: "file://" + $0 + "%FF") },
        { _ in URL(string: "file://") },
    ]

    @Test(arguments: noFiles.indices)
    func whatIsNotAFileIsAnErrorBeforeAnythingIsSent(_ index: Int) async throws {
        let scene = try Scene()
        try Data("precious".utf8).write(to: scene.file)
        let url = try #require(Self.noFiles[index](scene.file.path))
        #expect(await error(of: scene.operation(to: url)) as? OutputFileError == .notAFileURL(url))
        #expect(scene.server.requests.isEmpty)
        #expect(try Data(contentsOf: scene.file) == Data("precious".utf8))
        #expect(throws: RequestBodyError.notAFileURL(url.absoluteString)) { try BodySource.file(url) }
        #expect(await error(of: scene.download(to: url)) as? DownloadError == .invalidDestination(url))
        #expect(try FileManager.default.contentsOfDirectory(atPath: scene.folder.url.path) == ["file.bin"])
    }

    @Test(arguments: ["file://", "FILE://", "file://localhost", "file://LOCALHOST"])
    func fileURLsHaveSeveralForms(prefix: String) async throws {
        let scene = try Scene()
        let url = try #require(URL(string: prefix + scene.file.path))
        #expect(await error(of: scene.operation(to: url)) == nil)
        #expect(try Self.quick.firstDifference(fromFile: scene.file) == nil)
    }

    // MARK: - Two operations

    /// Other names for `file.bin`, which is there.
    enum Name: CaseIterable, Sendable {
        case same, spelling, symbolicLink, hardLink, linkedFolder

        func url(of file: URL) throws -> URL {
            let folder = file.deletingLastPathComponent()
            let (other, manager) = (folder.appendingPathComponent("other"), FileManager.default)
            switch self {
            case .same:
                return file
            case .spelling:
                return URL(fileURLWithPath: folder.path + "/./../" + folder.lastPathComponent + "//file.bin")
            case .symbolicLink:
                try manager.createSymbolicLink(at: other, withDestinationURL: file)
                return other
            case .hardLink:
                try manager.linkItem(at: file, to: other)
                return other
            case .linkedFolder:
                try manager.createSymbolicLink(at: other, withDestinationURL: folder)
                return other.appendingPathComponent("file.bin")
            }
        }
    }

    @Test(arguments: Name.allCases)
    func aFileThatIsBeingWrittenIsAnErrorAndStaysAsItIs(_ name: Name) async throws {
        let scene = try Scene()
        try Data("something old".utf8).write(to: scene.file)
        let other = try name.url(of: scene.file)
        let first = try await scene.writer()
        let second = scene.operation(to: other)
        #expect(await error(of: second) as? OutputFileError == .inUse(other))
        #expect(scene.size(scene.file) == Self.beginning)
        scene.gate.open()
        _ = try await first.value
        #expect(try Self.slow.firstDifference(fromFile: scene.file) == nil)

        let copy = try #require(second.copy() as? HTTPRequestOperation)
        #expect(await error(of: copy) == nil)
        #expect(try Self.quick.firstDifference(fromFile: scene.file) == nil)
    }

    @Test func onlyOneOfManyWritesTheFile() async throws {
        let scene = try Scene()
        let errors = Recorder<(any Error)?>()
        let operations = (0..<20).map { _ in
            let operation = scene.operation("/slow", to: scene.file)
            operation.setCompletion { _, _ in
                errors.append(nil)
            } failure: { _, error in
                errors.append(error)
            }
            return operation
        }
        let queue = OperationQueue()
        for operation in operations {
            queue.addOperation(operation)
        }
        // The one that writes waits at the gate.
        let failed = try await errors.wait(count: 19)
        #expect(failed.allSatisfy { $0 as? OutputFileError == .inUse(scene.file) })
        scene.gate.open()
        #expect(try await errors.wait(count: 20).last.flatMap { $0 } == nil)
        #expect(try Self.slow.firstDifference(fromFile: scene.file) == nil)
    }

    @Test func aDeviceIsSharedByMany() async throws {
        let scene = try Scene()
        let null = URL(fileURLWithPath: "/dev/null")
        let operations = (0..<3).map { _ in scene.operation("/slow", to: null) }
        for operation in operations { operation.start() }
        try await scene.gate.waitForArrivals(3)
        #expect(await error(of: scene.operation(to: null)) == nil)
        scene.gate.open()
        for operation in operations { _ = try await operation.value }
    }

    @Test func aFileThatTookThePlaceOfOneIsAnotherFile() async throws {
        let scene = try Scene()
        let first = try await scene.writer()
        try FileManager.default.removeItem(at: scene.file)
        #expect(await error(of: scene.operation(to: scene.file)) == nil)
        scene.gate.open()
        _ = try await first.value
        #expect(try Self.quick.firstDifference(fromFile: scene.file) == nil)
    }

    // MARK: - How long

    @Test func aPausedOperationKeepsItsFile() async throws {
        let scene = try Scene()
        let first = try await scene.writer()
        first.pause()
        try await networkThreadIsDone()
        #expect(await error(of: scene.operation(to: scene.file)) as? OutputFileError == .inUse(scene.file))
        scene.gate.open()
        first.resume()
        _ = try await first.value
        #expect(try Self.slow.firstDifference(fromFile: scene.file) == nil)
    }

    private final class Retries: OperationObserver {
        let all = Recorder<TimeInterval>()
        func operation(_ operation: ConnectionOperation, willRetry retry: Retry) { all.append(retry.delay) }
    }

    @Test func anOperationThatWaitsForARetryKeepsItsFileUntilItIsCancelled() async throws {
        let scene = try Scene { $0.breaking(after: .body(Self.beginning)) }
        let first = scene.operation("/slow", to: scene.file)
        var policy = RetryPolicy(maximumRetries: 3)
        (policy.initialDelay, policy.maximumDelay) = (100_000, 100_000)
        first.retryPolicy = policy
        let retries = Retries()
        first.addObserver(retries)
        first.start()
        scene.gate.open()
        _ = try await retries.all.wait()
        try await scene.waitForBeginning(in: scene.file)
        #expect(await error(of: scene.operation(to: scene.file)) as? OutputFileError == .inUse(scene.file))
        first.cancel()
        await #expect(throws: URLError.self) { try await first.value }
        #expect(await error(of: scene.operation(to: scene.file)) == nil)
        #expect(try Self.quick.firstDifference(fromFile: scene.file) == nil)
    }

    @Test func aFailedAttemptGivesTheFileBackAtTheEnd() async throws {
        let scene = try Scene { $0.breaking(after: .body(Self.beginning)) }
        let first = try await scene.writer()
        scene.gate.open()
        await #expect(throws: URLError.self) { try await first.value }
        #expect(await error(of: scene.operation(to: scene.file)) == nil)
        #expect(try Self.quick.firstDifference(fromFile: scene.file) == nil)
    }

    @Test func operationsThatWereNotStartedOrHadNoBodyHaveNoFile() async throws {
        let scene = try Scene()
        let idle = scene.operation(to: scene.file)
        let server = try ScriptedServer([.respond(404)])
        let missing = HTTPRequestOperation(request: URLRequest(url: server.url))
        missing.completionQueue = DispatchQueue(label: "callbacks")
        missing.outputFile = scene.file
        let first = try await scene.writer()
        #expect(await error(of: missing) is ResponseSerializationError)
        scene.gate.open()
        _ = try await first.value
        #expect(await error(of: scene.operation(to: scene.file)) == nil)
        #expect(idle.error == nil && !idle.isFinished)
    }

    @Test func releasedOperationsGiveTheFileBack() async throws {
        let scene = try Scene()
        do {
            let first = try await scene.writer()
            first.pause()
            try await networkThreadIsDone()
        }
        while await error(of: scene.operation(to: scene.file)) is OutputFileError {}
        #expect(try Self.quick.firstDifference(fromFile: scene.file) == nil)
    }

    // MARK: - Downloads

    @Test func aPartialFileOfADownloadIsInUse() async throws {
        let scene = try Scene()
        let download = scene.download(to: scene.file, "/slow")
        download.start()
        try await scene.server.waitForRequests()
        // Its own name is refused.
        let link = scene.folder.file("link")
        #expect(symlink("file.bin.part", link.path) == 0)
        #expect(await error(of: scene.operation(to: link)) as? OutputFileError == .inUse(link))
        scene.gate.open()
        _ = try await download.value
        #expect(try Self.slow.firstDifference(fromFile: scene.file) == nil)
    }

    /// No checkpoint names it, so it is no download's, and the next one takes another name.
    @Test func aPartialFileThatAnOperationWritesIsNotTaken() async throws {
        let scene = try Scene()
        let part = scene.folder.file("file.bin.part")
        try DownloadFolder(path: scene.folder.url.path).create("file.bin.part")?.close()
        let link = scene.folder.file("link")
        #expect(symlink("file.bin.part", link.path) == 0)
        let first = scene.operation("/slow", to: link)
        first.start()
        try await scene.waitForBeginning(in: part)
        #expect(await error(of: scene.download(to: scene.file)) == nil)
        #expect(try Self.quick.firstDifference(fromFile: scene.file) == nil)
        scene.gate.open()
        _ = try await first.value
        #expect(try Self.slow.firstDifference(fromFile: part) == nil)
    }

    @Test func aDownloadDoesNotReplaceAFileThatIsBeingWritten() async throws {
        let scene = try Scene()
        let first = try await scene.writer()
        #expect(await error(of: scene.download(to: scene.file)) as? DownloadError == .inUse(scene.file))
        scene.gate.open()
        _ = try await first.value
        #expect(try Self.slow.firstDifference(fromFile: scene.file) == nil)
        #expect(await error(of: scene.download(to: scene.file)) == nil)
        #expect(try Self.quick.firstDifference(fromFile: scene.file) == nil)
    }

    // MARK: - A server of other authors

    @Test(.enabled(if: RealServers.nginx != nil && RealServers.nginxRoot != nil))
    func theFileHasTheBodyOfTheLastSuccess() async throws {
        let nginx = try #require(RealServers.nginx)
        let root = try #require(RealServers.nginxRoot)
        let names = ["1m.bin", "64k.bin"]
        let folder = try TemporaryDirectory()
        let queue = OperationQueue()
        for round in 0..<Rounds.count(20) {
            let file = folder.file("\(round)")
            let ends = Recorder<(name: String, error: (any Error)?)>()
            for index in 0..<6 {
                let name = names[index % 2]
                let operation = HTTPRequestOperation(
                    request: URLRequest(url: nginx.appendingPathComponent(name))
                )
                operation.completionQueue = DispatchQueue(label: "callbacks")
                operation.outputFile = file
                operation.setCompletion { _, _ in
                    ends.append((name, nil))
                } failure: { _, error in
                    ends.append((name, error))
                }
                queue.addOperation(operation)
            }
            let all = try await ends.wait(count: 6)
            #expect(all.allSatisfy { $0.error == nil || $0.error as? OutputFileError == .inUse(file) })
            let whole = Set(all.filter { $0.error == nil }.map(\.name))
            #expect(!whole.isEmpty)
            let data = try Data(contentsOf: file)
            #expect(try whole.contains { try Data(contentsOf: root.appendingPathComponent($0)) == data })
        }
    }
}
