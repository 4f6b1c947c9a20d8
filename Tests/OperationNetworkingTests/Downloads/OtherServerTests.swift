import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// P17: the beginning of a file that another server sent. Its tag and its last bytes are the genuine ones, which
/// anybody can send.
@Suite(.timeLimit(.minutes(1)))
struct OtherServerTests {
    private static let body = DownloadScene.body
    private static let count = 100_000
    /// The genuine last 64 KiB before the cut, and something else before them.
    private static let hostile: Data = {
        var data = body.data
        for index in 0..<(count - 65_536) { data[index] ^= 0xFF }
        return data
    }()

    private static var digest: FileDigest {
        get throws { try FileDigest.of(body.data, algorithm: .sha256) }
    }

    private let scene: DownloadScene
    private let mirror: ScriptedServer

    init() throws {
        scene = try DownloadScene()
        mirror = try ScriptedServer(
            serving: Representation(.data(Self.hostile), entityTag: .strong("v1")),
            answers: [.currentRepresentation.breaking(after: .body(Self.count)), .currentRepresentation]
        )
    }

    private func operation(_ url: URL) -> DownloadOperation {
        let operation = DownloadOperation(request: URLRequest(url: url), to: scene.target)
        operation.completionQueue = DispatchQueue(label: "callbacks")
        operation.retryPolicy = nil
        return operation
    }

    private func leavePart(from url: URL) async throws {
        _ = await scene.run(operation(url))
        #expect(try Data(contentsOf: scene.part) == Self.hostile.prefix(Self.count))
    }

    private func isGenuine() throws -> Bool { try Self.body.firstDifference(fromFile: scene.target) == nil }

    // MARK: - Starting over

    /// The port is another one; or the host, or the path.
    @Test(arguments: ["port", "host", "path"])
    func whatAnotherServerBeganStartsOver(_ part: String) async throws {
        try await leavePart(from: part == "port" ? mirror.url : mirror.url(path: "file"))
        let next: URL
        switch part {
        case "port": next = scene.server.url
        case "host":
            var parts = try #require(
                URLComponents(url: mirror.url(path: "file"), resolvingAgainstBaseURL: false)
            )
            parts.host = "localhost"
            next = try #require(parts.url)
        default: next = mirror.url(path: "other")
        }
        mirror.setRepresentation(DownloadScene.old)
        let second = operation(next)
        _ = try await scene.run(second).get()
        #expect(try isGenuine())
        #expect(second.downloadedFile?.restarts == [.requestChanged])
        #expect(second.downloadedFile?.bytesRecovered == 0)
        let request = try #require((part == "port" ? scene.server : mirror).requests.last)
        #expect(request["Range"] == nil)
    }

    @Test func aBatchStartsOverToo() async throws {
        try await leavePart(from: mirror.url)
        let manager = OperationManager()
        manager.completionQueue = DispatchQueue(label: "callbacks")
        let batch = try manager.downloads([DownloadItem(url: scene.server.url, destination: scene.target)])
        #expect(await batch.results().allSatisfy(\.isSuccess))
        #expect(try isGenuine())
    }

    /// A digest let bytes of both in, and the caller knows none any more.
    @Test(arguments: [false, true])
    func aPartOfBothServersIsContinuedForNeither(returns: Bool) async throws {
        let other = try ScriptedServer { request in
            let whole = Answer.representation(DownloadScene.old)
            return request["Range"] == "bytes=34464-" ? whole.breaking(after: .body(200_000)) : whole
        }
        try await leavePart(from: mirror.url)
        let second = operation(other.url)
        second.expectedDigests = [try Self.digest]
        _ = await scene.run(second)
        #expect(other.requests.last?["Range"] == "bytes=34464-")
        #expect(scene.names == ["file.bin.part", "file.bin.part.resume"])
        mirror.setRepresentation(DownloadScene.old)
        _ = try await scene.run(operation(returns ? mirror.url : other.url)).get()
        #expect(try isGenuine())
    }

    // MARK: - Asked for

    enum Wish: CaseIterable, Sendable {
        case digest, freshAddress
    }

    @Test(arguments: Wish.allCases)
    func anExplicitRequestContinuesElsewhere(_ wish: Wish) async throws {
        mirror.setRepresentation(DownloadScene.old)
        _ = await scene.run(operation(mirror.url))
        let second = operation(scene.server.url)
        switch wish {
        case .digest: second.expectedDigests = [try Self.digest]
        case .freshAddress: second.setRefreshURL { _, _ in nil }
        }
        _ = try await scene.run(second).get()
        #expect(scene.server.requests.last?["Range"] == "bytes=34464-")
        #expect(second.downloadedFile?.bytesRecovered == 100_000)
        #expect(try isGenuine())
    }

    /// A hostile mirror can send bytes of its own before those that are compared.
    @Test func aComparisonIsNoReasonToContinueElsewhere() async throws {
        mirror.setRepresentation(DownloadScene.old)
        _ = await scene.run(operation(mirror.url))
        let second = operation(scene.server.url)
        second.unprovenBytes = .compare(overlap: 1)
        _ = try await scene.run(second).get()
        #expect(scene.server.requests.last?["Range"] == nil)
        #expect(second.downloadedFile?.bytesRecovered == 0)
        #expect(try isGenuine())
    }

    /// A redirector sends each attempt elsewhere.
    @Test func whereRedirectsLeadDoesNotCount() async throws {
        mirror.setRepresentation(DownloadScene.old)
        let targets = [mirror.url, scene.server.url]
        let redirector = try ScriptedServer(
            targets.map { Answer.respond(302, ["Location": $0.absoluteString], body: "") }
        )
        _ = await scene.run(operation(redirector.url))
        let second = operation(redirector.url)
        _ = try await scene.run(second).get()
        #expect(scene.server.requests.map { $0["Range"] } == ["bytes=100000-"])
        #expect(try isGenuine())
    }

    /// Resume data name the address that the part is of.
    @Test func resumeDataContinueAtTheirOwnAddress() async throws {
        mirror.setRepresentation(DownloadScene.old)
        _ = await scene.run(operation(mirror.url))
        let second = try DownloadOperation(resuming: scene.checkpoint)
        second.completionQueue = DispatchQueue(label: "callbacks")
        _ = try await scene.run(second).get()
        #expect(mirror.requests.last?["Range"] == "bytes=100000-")
        #expect(try isGenuine())
    }
}
