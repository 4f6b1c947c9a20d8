import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// Closures that are set when everything was reported: none of them is kept.
@Suite(.timeLimit(.minutes(1)))
struct LateClosureTests {
    private static let callbacks = DispatchQueue(label: "callbacks")

    /// A closure keeps it.
    private final class Load: Sendable {
        func touch() {}
    }

    private final class Watcher: OperationObserver {}

    /// The history of the operation that gets a closure late.
    enum Past: CaseIterable {
        case withClosures
        case withoutClosures
        case cancelledAlone
        case restored

        fileprivate func operation(_ url: URL) async throws -> HTTPRequestOperation {
            let operation = HTTPRequestOperation(request: URLRequest(url: url))
            operation.completionQueue = callbacks
            switch self {
            case .withClosures:
                operation.setCompletion(success: { _, _ in })
                operation.start()
            case .withoutClosures:
                operation.start()
            case .cancelledAlone:
                operation.cancel()
            case .restored:
                operation.start()
                _ = try await operation.value
                let copy = HTTPRequestOperation(archive: try #require(operation.archive))
                copy.completionQueue = callbacks
                return copy
            }
            _ = try? await operation.value
            await LateClosureTests.allIsReported()
            return operation
        }
    }

    /// Twice: a report may cause more of them.
    private static func allIsReported() async {
        for _ in 0..<2 {
            await withCheckedContinuation { (over: CheckedContinuation<Void, Never>) in
                callbacks.async { over.resume() }
            }
        }
    }

    @Test(arguments: Past.allCases) func closuresOfAFinishedOperationAreReleased(_ past: Past) async throws {
        let server = try ScriptedServer { _ in .respond(body: "four") }
        let operation = try await past.operation(server.url)
        let setters: [(Load) -> Void] = [
            { load in operation.setDownloadProgress { _, _, _ in load.touch() } },
            { load in operation.setUploadProgress { _, _, _ in load.touch() } },
            { load in
                operation.setRedirect { _, request, _ in
                    load.touch()
                    return request
                }
            },
            { load in
                operation.setAuthenticationChallenge { _, _ in
                    load.touch()
                    return .performDefaultHandling
                }
            },
        ]
        for (index, set) in setters.enumerated() {
            weak var kept: Load?
            do {
                let load = Load()
                kept = load
                set(load)
            }
            #expect(kept == nil, "\(index)")
        }
        weak var kept: Watcher?
        do {
            let watcher = Watcher()
            kept = watcher
            operation.addObserver(watcher)
        }
        #expect(kept == nil)
        withExtendedLifetime(operation) {}
    }

    /// The closures refer to the operation, too.
    @Test(arguments: Past.allCases) func closuresOfTheResultAreCalledAndReleased(_ past: Past) async throws {
        let server = try ScriptedServer { _ in .respond(body: "four") }
        weak var released: HTTPRequestOperation?
        let events = Recorder<String>()
        do {
            let operation = try await past.operation(server.url)
            released = operation
            operation.setCompletion(
                success: { _, _ in events.append("success \(operation.isFinished)") },
                failure: { _, _ in events.append("failure \(operation.isFinished)") }
            )
            operation.completionBlock = { events.append("block \(operation.isFinished)") }
            operation.setDownloadProgress { _, _, _ in events.append("never \(operation.isFinished)") }
            try await events.wait(count: 2)
            #expect(operation.completionBlock == nil || past == .cancelledAlone)
        }
        await Self.allIsReported()
        let result = past == .cancelledAlone ? "failure true" : "success true"
        #expect(events.elements == [result, "block true"])
        // When the last thread is done with it.
        try await eventually { released == nil }
    }

    /// The idiom of `Operation`: the block is called however fast the queue was.
    @Test func aCompletionBlockThatIsSetAfterTheQueueHasTheOperationIsCalledOnce() async throws {
        let server = try ScriptedServer { _ in .respond(body: "four") }
        let queue = OperationQueue()
        for round in 0..<100 {
            let operation = HTTPRequestOperation(request: URLRequest(url: server.url))
            operation.completionQueue = Self.callbacks
            let events = Recorder<Int>()
            queue.addOperation(operation)
            if round % 2 == 1 { _ = try await operation.value }
            operation.completionBlock = { events.append(round) }
            try await events.wait()
            await Self.allIsReported()
            #expect(events.elements == [round])
        }
    }

    /// A block that is set by the one that is being called is late, too.
    @Test func aBlockThatABlockSetsIsCalled() async throws {
        let server = try ScriptedServer { _ in .respond(body: "four") }
        let operation = HTTPRequestOperation(request: URLRequest(url: server.url))
        operation.completionQueue = Self.callbacks
        let called = Recorder<String>()
        operation.completionBlock = { [weak operation] in
            called.append("first")
            operation?.completionBlock = { called.append("second") }
        }
        operation.start()
        #expect(try await called.wait(count: 2) == ["first", "second"])
        await Self.allIsReported()
        #expect(operation.completionBlock == nil)
    }
}
