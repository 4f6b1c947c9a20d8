import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// Pauses, resumptions, cancels and broken connections at any moment of a download. What counts is the file at the end, and
/// that nothing is left locked. The rounds are a tenth under a sanitizer.
@Suite(.timeLimit(.minutes(5)))
struct DownloadRaceTests {
    private static let length = 400_000
    private static let old = PatternBody(seed: 1, length: length)
    private static let new = PatternBody(seed: 2, length: length)

    /// Breaks two answers of three somewhere, and every now and then has the other file.
    private func server(_ seed: UInt64) throws -> ScriptedServer {
        let chance = Locked(SeededGenerator(seed: seed))
        return try ScriptedServer { _ in
            let (isNew, kind, place) = chance.withLock { dice in
                (dice.roll(8) == 0, dice.roll(3), dice.roll(UInt64(Self.length)))
            }
            let file = Representation(
                .pattern(isNew ? Self.new : Self.old),
                entityTag: .strong(isNew ? "new" : "old")
            )
            let answer = Answer.representation(file)
            switch kind {
            case 0: return answer.breaking(after: .body(Int(place)))
            case 1: return answer.resetting(after: .body(Int(place)))
            default: return answer
            }
        }
    }

    private func isWhole(_ file: URL) throws -> Bool {
        try Self.old.firstDifference(fromFile: file) == nil || Self.new.firstDifference(fromFile: file) == nil
    }

    private func operation(_ server: ScriptedServer, _ target: URL, retries: Int? = nil) -> DownloadOperation
    {
        let operation = DownloadOperation(request: URLRequest(url: server.url), to: target)
        operation.completionQueue = DispatchQueue(label: "callbacks")
        if let retries {
            var policy = RetryPolicy(maximumRetries: retries)
            policy.initialDelay = 0.001
            policy.maximumDelay = 0.002
            operation.retryPolicy = policy
        }
        return operation
    }

    /// Waits for the end, and judges the file. Returns whether there is one.
    ///
    /// - Throws: the error of the operation, if there is no file and another attempt does not follow.
    private func saves(_ operation: DownloadOperation, _ target: URL, isLast: Bool) async throws -> Bool {
        do {
            _ = try await operation.value
        } catch {
            guard FileManager.default.fileExists(atPath: target.path) else {
                if isLast { throw error }
                return false
            }
            // The cancel came when everything was done.
            #expect(operation.isCancelled && operation.downloadedFile != nil, "\(error)")
        }
        #expect(try isWhole(target))
        return true
    }

    @Test func whateverIsDoneToItTheFileIsWholeOrNotThere() async throws {
        var saved = 0
        for seed in 0..<UInt64(Rounds.count(200)) {
            let server = try server(seed)
            let folder = try TemporaryDirectory()
            let target = folder.file("file.bin")
            let dice = Locked(SeededGenerator(seed: seed &+ 1000))
            // The last one is left in peace.
            for attempt in 0..<4 {
                let operation = operation(server, target, retries: 30)
                if attempt < 3 { disturb(operation, dice) }
                operation.start()
                if try await saves(operation, target, isLast: attempt == 3) {
                    saved += 1
                    break
                }
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["file.bin"])
        }
        #expect(saved == Rounds.count(200))
    }

    /// Does something to it each time that bytes come, and once from another thread at any time.
    private func disturb(_ operation: DownloadOperation, _ dice: Locked<SeededGenerator>) {
        operation.setDownloadProgress { [unowned operation] _, _, _ in
            switch dice.withLock({ $0.roll(6) }) {
            case 0: operation.cancel()
            case 1:
                operation.pause()
                operation.resume()
            case 2: operation.cancel(keepingPartialFile: false)
            default: break
            }
        }
        let moment = dice.withLock { $0.roll(3000) }
        DispatchQueue.global().asyncAfter(deadline: .now() + .microseconds(Int(moment))) { [weak operation] in
            operation?.pause()
            operation?.resume()
        }
    }

    @Test func manyDownloadsToOneNameGiveOneFileAndTypedErrors() async throws {
        for seed in 0..<UInt64(Rounds.count(50)) {
            let server = try ScriptedServer(
                serving: Representation(.pattern(Self.old), entityTag: .strong("v1"))
            )
            let folder = try TemporaryDirectory()
            let target = folder.file("file.bin")
            let operations = (0..<8).map { _ in operation(server, target) }
            for operation in operations { DispatchQueue.global().async { operation.start() } }
            var saved = 0
            for operation in operations {
                do {
                    _ = try await operation.value
                    saved += 1
                } catch DownloadError.inUse(_) {
                } catch DownloadError.destinationExists(_) {}
            }
            #expect(saved == 1, "\(seed)")
            #expect(try Self.old.firstDifference(fromFile: target) == nil)
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
            #expect(names == ["file.bin"], "\(operations.map { String(describing: $0.error) })")
        }
    }
}

extension SeededGenerator {
    /// 0 to `sides - 1`.
    fileprivate mutating func roll(_ sides: UInt64) -> UInt64 { .random(in: 0..<sides, using: &self) }
}
