import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// Retries against everything else that can happen to an operation. The rounds are a tenth under a sanitizer.
@Suite(.timeLimit(.minutes(3)))
struct RetryRaceTests {
    private let callbacks = DispatchQueue(label: "callbacks")

    private func quick(_ count: Int) -> RetryPolicy {
        var policy = RetryPolicy(maximumRetries: count)
        policy.initialDelay = 0.001
        policy.maximumDelay = 0.002
        return policy
    }

    private func operation(_ url: URL, _ method: String = "GET", retries: Int) -> HTTPRequestOperation {
        var request = URLRequest(url: url)
        request.httpMethod = method
        let operation = HTTPRequestOperation(request: request)
        operation.completionQueue = callbacks
        operation.retryPolicy = quick(retries)
        return operation
    }

    /// Counts the requests for each path.
    private final class Counts: Sendable {
        private let counts = Locked<[String: Int]>([:])

        /// The number of attempts before this one.
        func next(_ path: String) -> Int {
            counts.withLock { counts in
                defer { counts[path, default: 0] += 1 }
                return counts[path, default: 0]
            }
        }
    }

    // MARK: - Cancel and pause

    @Test func aCancelAtAnyMomentOfTheRetriesEndsThemOnce() async throws {
        let server = try ScriptedServer { request in
            request.number % 2 == 0 ? .respond(503, body: "no") : .hangUp
        }
        for round in 0..<Rounds.count(300) {
            let operation = operation(server.url, retries: .max)
            let ends = Recorder<Bool>()
            operation.setCompletion(
                success: { _, _ in ends.append(true) },
                failure: { _, error in ends.append((error as? URLError)?.code != .cancelled) }
            )
            let before = server.requests.count
            operation.start()
            try await server.waitForRequests(count: before + round % 3)
            operation.cancel()
            #expect(try await ends.wait() == [false])
            callbacks.sync {}
            #expect(ends.elements == [false])
        }
    }

    @Test func pausesAtAnyMomentOfTheRetriesLoseNothing() async throws {
        let counts = Counts()
        let server = try ScriptedServer { request in
            counts.next(request.path) < 4 ? .respond(503) : .respond(body: "done")
        }
        for round in 0..<Rounds.count(100) {
            let operation = operation(server.url(path: "\(round)"), retries: 10)
            operation.start()
            let pausing = DispatchGroup()
            for _ in 0..<2 {
                DispatchQueue.global().async(group: pausing) {
                    for _ in 0..<10 {
                        operation.pause()
                        operation.resume()
                    }
                }
            }
            await withCheckedContinuation { continuation in
                pausing.notify(queue: .global()) { continuation.resume() }
            }
            #expect(try await operation.value as? Data == Data("done".utf8))
        }
    }

    @Test func aHundredThatFailTwiceSucceedOnce() async throws {
        let counts = Counts()
        let server = try ScriptedServer { request in
            switch counts.next(request.path) {
            case 0: .respond(503, body: "no")
            case 1: .hangUp
            default: .respond(body: "\(request.path)")
            }
        }
        let queue = TransferQueue()
        queue.maxConcurrentOperationCount = 10
        let ends = Recorder<String>()
        let operations = (0..<100).map { number in
            let operation = operation(server.url(path: "\(number)"), retries: 6)
            operation.setCompletion(
                success: { _, object in
                    ends.append(String(decoding: object as? Data ?? Data(), as: UTF8.self))
                },
                failure: { _, error in ends.append("\(error)") }
            )
            return operation
        }
        for operation in operations { queue.addOperation(operation) }
        try await ends.wait(count: 100, within: .seconds(60))
        callbacks.sync {}
        #expect(ends.elements.sorted() == (0..<100).map { "/\($0)" }.sorted())
        #expect(server.requests.count == 300)
        #expect(queue.maxConcurrentOperationCount == 10)
    }

    // MARK: - Bodies

    @Test func bodiesThatCanBeReadAgainAreSentAgain() async throws {
        let directory = try TemporaryDirectory()
        let file = directory.file("body")
        let content = PatternBody(length: 300_000).data
        try content.write(to: file)
        let form = try HTTPRequestSerializer().multipartFormRequest(
            method: "PUT",
            url: try #require(URL(string: "http://127.0.0.1/"))
        ) { form in
            try form.appendPart(withFileURL: file, name: "file")
            form.appendPart(withFormData: Data("2026".utf8), name: "year")
        }
        let bodies: [BodySource] = [
            .data(content), try .file(file), try #require(form.bodySource),
        ]
        for body in bodies {
            let server = try ScriptedServer { request in
                switch request.number {
                case 0: .respond(503)
                case 1: .hangUp
                default: .respond(body: "done")
                }
            }
            let operation = operation(server.url, "PUT", retries: 5)
            operation.bodySource = body
            operation.start()
            #expect(try await operation.value as? Data == Data("done".utf8))
            #expect(server.requests.count == 3)
            let length = try #require(body.length)
            #expect(server.requests.allSatisfy { Int64($0.body.count) == length })
            #expect(Set(server.requests.map(\.body)).count == 1)
        }
    }

    @Test func aStreamIsReadAgainWithAProvider() async throws {
        let server = try ScriptedServer { request in request.number < 2 ? .respond(503) : .respond() }
        let operation = operation(server.url, "PUT", retries: 3)
        operation.inputStream = InputStream(data: Data("abc".utf8))
        operation.setBodyStreamProvider { InputStream(data: Data("abc".utf8)) }
        operation.start()
        _ = try await operation.value
        #expect(server.requests.map(\.text) == ["abc", "abc", "abc"])
    }

    @Test func aStreamThatCannotBeReadAgainEndsTheOperationWithTheFirstFailure() async throws {
        let server = try ScriptedServer { _ in .hangUp }
        let operation = operation(server.url, "PUT", retries: 3)
        operation.bodySource = .stream(InputStream(data: Data("abc".utf8)), length: 3)
        operation.start()
        let error = await #expect(throws: URLError.self) { try await operation.value }
        #expect(error?.code == .networkConnectionLost)
        #expect(server.requests.count == 1)
    }

    // MARK: - Batches

    /// Half of the members lose what came, the others keep it.
    @Test func theProgressOfABatchNeverGoesBack() async throws {
        let counts = Counts()
        let representation = Representation(.generated(length: 200_000), entityTag: .strong("v1"))
        let server = try ScriptedServer { request in
            switch counts.next(request.path) {
            case 0: .representation(representation).breaking(after: 120_000)
            case 1: .respond(503, body: "no")
            default: .representation(representation)
            }
        }
        let members = (0..<20).map { number in
            let operation = operation(server.url(path: "\(number)"), retries: 5)
            return operation
        }
        let batch = OperationBatch(members, completionQueue: callbacks)
        let fractions = Recorder<Double>()
        for member in members {
            member.setDownloadProgress { [weak batch] _, _, _ in
                if let batch { fractions.append(batch.progress.fractionCompleted) }
            }
        }
        let queue = TransferQueue()
        queue.maxConcurrentOperationCount = 4
        for operation in batch.operations { queue.addOperation(operation) }
        let results = await batch.results()
        #expect(results.allSatisfy { (try? $0.get().responseData?.count) == 200_000 })
        callbacks.sync {}
        let seen = fractions.elements
        #expect(zip(seen, seen.dropFirst()).allSatisfy { $0 <= $1 }, "\(seen)")
        #expect(batch.progress.isFinished)
    }
}
