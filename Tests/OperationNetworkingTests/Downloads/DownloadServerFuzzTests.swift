import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// A server that does something else with each request, and changes its file: whatever comes of it, a file that has the
/// name is one whole version, no run lasts for ever, and the next one can begin.
@Suite(.timeLimit(.minutes(1)))
struct DownloadServerFuzzTests {
    /// A linear congruential generator: each seed is a story.
    private struct Chance {
        var state: UInt64

        mutating func below(_ limit: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % limit
        }
    }

    private static let bodies = [
        PatternBody(seed: 1, length: 90_000), PatternBody(seed: 2, length: 90_000),
        PatternBody(seed: 3, length: 40_000),
    ]

    private static let date = Date(timeIntervalSince1970: 784_111_777)

    /// The versions of the server: by the validator, a version is known or not.
    private static func version(_ number: Int, _ validator: Int) -> Representation {
        let body = AnswerBody.pattern(bodies[number])
        switch validator {
        case 0: return Representation(body, lastModified: date + Double(number) * 100)
        case 1: return Representation(body)
        case 2: return Representation(body, entityTag: .weak("v\(number)"))
        default: return Representation(body, entityTag: .strong("v\(number)"), lastModified: date)
        }
    }

    private static func faulty(_ version: Representation, _ chance: inout Chance) -> Representation {
        switch chance.below(14) {
        case 0: version.misbehaving(.ignoresRange)
        case 1: version.misbehaving(.shiftsRange(by: chance.below(2000) - 1000))
        case 2: version.misbehaving(.shortensRange(to: 1 + chance.below(30_000)))
        case 3: version.misbehaving(.truncatesRange(to: chance.below(30_000)))
        case 4: version.misbehaving(.misstatesTotal([nil, 40_000, 90_000, 100_000][chance.below(4)]))
        case 5:
            version.misbehaving(.sendsContentRange([nil, "bytes 5-1/9", "bytes */90000"][chance.below(3)]))
        case 6: version.misbehaving(.sendsPartialEntityTag(nil))
        case 7: version.misbehaving(.sendsMultipart)
        case 8: version.misbehaving(.refusesRanges)
        case 9: version.misbehaving(.sendsPartialContentCoding("gzip"))
        case 10: version.misbehaving(.ignoresConditions)
        default: version
        }
    }

    private static func answer(_ version: Representation, _ chance: inout Chance) -> Answer {
        let answer = Answer.representation(faulty(version, &chance))
        switch chance.below(16) {
        case 0: return .respond([404, 503, 304, 204, 416, 403, 202][chance.below(7)], body: "")
        case 1: return .hangUp
        case 2: return .respond(416, ["Content-Range": "bytes */\(chance.below(100_000))"])
        case 3: return answer.chunked(size: 1 + chance.below(9000))
        case 4: return answer.chunked(size: 1 + chance.below(9000), isTerminated: false)
        case 5: return answer.chunked().breaking(after: .body(chance.below(60_000)))
        case 6: return answer.resetting(after: .body(chance.below(60_000)))
        case 7...11: return answer.breaking(after: .body(chance.below(90_000)))
        default: return answer
        }
    }

    @Test(arguments: 0..<Rounds.count(60))
    func aNameIsOnlyGivenToAWholeVersion(_ seed: Int) async throws {
        let validator = seed % 5
        let chance = Locked(Chance(state: UInt64(seed) &* 77 &+ 5))
        let current = Locked(0)
        let server = try ScriptedServer { _ in
            let number = current.withLock { $0 }
            return chance.withLock { Self.answer(Self.version(number, validator), &$0) }
        }
        let scene = try DownloadScene()
        for run in 0..<6 {
            let operation = DownloadOperation(request: URLRequest(url: server.url), to: scene.target)
            operation.completionQueue = DispatchQueue(label: "callbacks")
            operation.addObserver(scene.journal)
            var policy = RetryPolicy(maximumRetries: run % 4)
            policy.initialDelay = 0.0001
            operation.retryPolicy = policy
            if chance.withLock({ $0.below(3) }) == 0 { operation.unprovenBytes = .compare(overlap: 90_000) }
            if chance.withLock({ $0.below(3) }) == 0 {
                operation.setDownloadProgress { [weak operation] _, _, _ in
                    operation?.pause()
                    operation?.resume()
                }
            }
            let result = await scene.run(operation)
            if case .success = result {
                let data = try Data(contentsOf: scene.target)
                #expect(Self.bodies.contains { $0.data == data }, "run \(run): \(data.count) bytes")
                try FileManager.default.removeItem(at: scene.target)
                #expect(scene.names.isEmpty)
            } else {
                #expect(!scene.exists(scene.target))
            }
            #expect(server.requests.count < 40 * (run + 1))
            if chance.withLock({ $0.below(3) }) == 0 { current.withLock { $0 = ($0 + 1) % 3 } }
        }
        // An honest server at last.
        scene.server.setRepresentation(Self.version(current.withLock { $0 }, validator))
        _ = try await scene.run(scene.operation()).get()
        let body = Self.bodies[current.withLock { $0 }]
        #expect(try body.firstDifference(fromFile: scene.target) == nil)
        #expect(scene.names == ["file.bin"])
    }
}
