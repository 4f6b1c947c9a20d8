import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingSystem
@testable import OperationNetworkingTestSupport

/// Downloads that break off and go on, with a cache before the network: whatever the cache and the server say
/// meanwhile, no file has bytes of two versions, and the cache has none.
@Suite(.timeLimit(.minutes(1)))
struct CacheDownloadTests {
    private static let length = 100_000
    private static let held = 40_000

    /// A version of the file.
    private static func version(_ number: UInt64, weak: Bool = false) -> Representation {
        Representation(
            .generated(seed: number, length: length),
            entityTag: weak ? .weak("v\(number)") : .strong("v\(number)"),
            headers: ["Cache-Control": "max-age=60"]
        )
    }

    /// The events between the break and the second try.
    enum Between: CaseIterable {
        case nothing, storedSame, storedOther, changed, changedAndStale, totalChanged, tagChanged
        case rangeRefused, weak, weakChanged, shiftedRest, partOfOther
    }

    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func download(_ scene: CacheScene) async -> DownloadOperation {
        let operation = DownloadOperation(request: scene.request(), to: directory.file("file"))
        operation.completionQueue = scene.manager.completionQueue
        operation.changeTransferSettings { $0 = scene.manager.readTransferSettings { $0 } }
        scene.manager.operationQueue.addOperation(operation)
        _ = try? await operation.value
        return operation
    }

    private static func rest(_ total: Int, tag: String) -> Answer {
        let body = version(1).body.data.dropFirst(held)
        let fields: FieldLines = [
            "Content-Range": "bytes \(held)-\(length - 1)/\(total)", "ETag": tag,
            "Cache-Control": "max-age=60",
        ]
        return .respond(206, fields, body: .data(Data(body)))
    }

    private static func answers(_ between: Between) -> [Answer] {
        let (one, two) = (Answer.representation(version(1)), Answer.representation(version(2)))
        let isWeak = between == .weak || between == .weakChanged
        let first = Answer.representation(version(1, weak: isWeak)).breaking(after: .body(held))
        return switch between {
        case .nothing, .storedSame: [first, one]
        case .storedOther, .changed, .changedAndStale, .partOfOther: [first, two]
        case .totalChanged: [first, rest(length + 1, tag: "\"v1\""), two]
        case .tagChanged: [first, rest(length, tag: "\"v3\""), two]
        case .rangeRefused: [first, .respond(416, ["Content-Range": "bytes */100"]), two]
        case .weak: [first, .representation(version(1, weak: true))]
        case .weakChanged: [first, .representation(version(2, weak: true))]
        case .shiftedRest: [first, .representation(version(1).misbehaving(.shiftsRange(by: 7))), two]
        }
    }

    @Test(arguments: Between.allCases) func noFileIsOfTwoVersions(_ between: Between) async throws {
        let scene = CacheScene(
            try ScriptedServer(Self.answers(between)),
            diskCapacity: 8 << 20,
            directory: directory.file("cache")
        )
        #expect(await download(scene).error != nil)
        await scene.waitForChanges()
        switch between {
        case .storedSame, .storedOther:
            // Another operation brings the whole, past what is stored.
            await scene.fetch(policy: .reloadIgnoringLocalCacheData)
        case .partOfOther:
            let fields = ["Range": "bytes=\(Self.held)-"]
            await scene.fetch("/", fields, policy: .reloadIgnoringLocalCacheData)
        case .changedAndStale:
            scene.pass(100)
        default:
            break
        }
        let asked = scene.server.requests.count
        let versions = [1, 2].map { Self.version($0).body.data }
        for _ in 0..<3 {
            let operation = await download(scene)
            guard operation.error == nil else { continue }
            let file = try Data(contentsOf: directory.file("file"))
            #expect(versions.contains(file), "\(between)")
            break
        }
        #expect(versions.contains(try Data(contentsOf: directory.file("file"))), "\(between)")
        if between == .storedSame || between == .storedOther {
            #expect(scene.server.requests.count == asked)
        }
        let whole = await scene.fetch()
        #expect(whole.error == nil && versions.contains(whole.responseData ?? Data()), "\(between)")
    }

    @Test func aPausedDownloadIsFinishedFromTheCache() async throws {
        let gate = Gate()
        let one = Answer.representation(Self.version(1))
        let scene = CacheScene(try ScriptedServer([one.held(after: .body(Self.held), by: gate), one]))
        let operation = DownloadOperation(request: scene.request(), to: directory.file("file"))
        operation.completionQueue = scene.manager.completionQueue
        operation.changeTransferSettings { $0 = scene.manager.readTransferSettings { $0 } }
        scene.manager.operationQueue.addOperation(operation)
        try await gate.waitForArrivals()
        operation.pause()
        await scene.fetch(scene.request())
        operation.resume()
        _ = try await operation.value
        #expect(try Data(contentsOf: directory.file("file")) == Self.version(1).body.data)
        gate.open()
    }
}
