import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// Closures of main-actor code come on the main queue, those of nonisolated code on the completion queue, and
/// those of an actor on that; in one order.
@Suite(.timeLimit(.minutes(1)))
struct ClosureIsolationTests {
    private static let callbacks = DispatchQueue(label: "callbacks")

    /// Sets closures from code that belongs to no actor.
    private struct Outside {
        let events = Recorder<String>()

        func observe(_ operation: HTTPRequestOperation) {
            operation.completionQueue = callbacks
            operation.setDownloadProgress { _, total, _ in
                dispatchPrecondition(condition: .onQueue(callbacks))
                events.append("\(total) bytes")
            }
            operation.setCompletion(
                success: { _, object in
                    dispatchPrecondition(condition: .onQueue(callbacks))
                    events.append("\((object as? Data)?.count ?? -1)")
                },
                failure: { _, error in events.append("\(error)") }
            )
        }

        func decide(_ operation: HTTPRequestOperation) {
            operation.setRedirect { _, request, _ in
                events.append("redirect")
                return request
            }
            operation.setAuthenticationChallenge { _, _ in
                events.append("challenge")
                return .use(Credential(user: "u", password: "p"))
            }
        }
    }

    @MainActor @Test func mainActorClosuresAndTheOthersStayInOrder() async throws {
        let server = try ScriptedServer([.respond(body: "four")])
        let screen = MainScreen()
        let order = Recorder<String>()
        let operation = HTTPRequestOperation(request: URLRequest(url: server.url))
        operation.completionQueue = Self.callbacks
        operation.setDownloadProgress { _, total, _ in
            screen.show("\(total) bytes")
            order.append("progress")
        }
        operation.setCompletion(success: { operation, object in
            screen.show("\((object as? Data)?.count ?? -1)")
            order.append("success")
        })
        operation.completionBlock = { @Sendable in
            dispatchPrecondition(condition: .onQueue(Self.callbacks))
            order.append("block")
        }
        let observer = OrderObserver(order)
        operation.addObserver(observer)
        let batch = OperationBatch([operation], completionQueue: Self.callbacks) { ended, total in
            screen.show("\(ended) of \(total)")
            order.append("batch")
        }
        operation.start()
        _ = await batch.results()
        #expect(screen.lines == ["4 bytes", "4", "1 of 1"])
        #expect(order.elements == ["didStart", "progress", "didFinish", "success", "block", "batch"])
    }

    private final class OrderObserver: OperationObserver {
        private let order: Recorder<String>

        init(_ order: Recorder<String>) { self.order = order }

        func operationDidStart(_ operation: ConnectionOperation) {
            dispatchPrecondition(condition: .onQueue(callbacks))
            order.append("didStart")
        }

        func operationDidFinish(_ operation: ConnectionOperation, wasRunning: Bool) {
            dispatchPrecondition(condition: .onQueue(callbacks))
            order.append("didFinish")
        }
    }

    /// The main thread waits here for the closures of another queue, and then lets its own come.
    @MainActor @Test func aBlockedMainThreadDelaysItsOwnClosuresOnly() async throws {
        let server = try ScriptedServer([.respond(body: "four")])
        let screen = MainScreen()
        let outside = Outside()
        let shown = Recorder<Bool>()
        let (one, other) = (
            HTTPRequestOperation(request: URLRequest(url: server.url)),
            HTTPRequestOperation(request: URLRequest(url: server.url))
        )
        outside.observe(one)
        other.completionQueue = Self.callbacks
        other.setCompletion(success: { _, _ in
            screen.show("other")
            shown.append(true)
        })
        one.start()
        other.start()
        try waitHere(for: outside.events, count: 2)
        #expect(outside.events.elements == ["4 bytes", "4"])
        #expect(screen.lines.isEmpty)
        _ = try await shown.wait()
        #expect(screen.lines == ["other"])
    }

    /// The completion queue is the main queue here, whose thread waits.
    @MainActor @Test func aBlockedMainThreadDelaysNoDecisionOfOtherCode() async throws {
        let server = try ScriptedServer(
            routes: [
                "/old": [.respond(302, ["Location": "/new"])],
                "/new": [
                    .respond(401, ["WWW-Authenticate": "Basic realm=\"r\""]), .respond(body: "in"),
                ],
            ],
            otherwise: [.respond(404)]
        )
        let outside = Outside()
        let operation = HTTPRequestOperation(request: URLRequest(url: server.url(path: "old")))
        outside.decide(operation)
        operation.start()
        try waitHere(for: outside.events, count: 2)
        #expect(outside.events.elements == ["redirect", "challenge"])
        #expect(try await operation.value as? Data == Data("in".utf8))
    }

    /// Blocks the thread.
    private nonisolated func waitHere(for events: Recorder<String>, count: Int) throws {
        _ = try events.waitSynchronously(count: count)
    }

    private actor Counter {
        var ends: [String] = []

        func fetch(_ url: URL, _ done: Recorder<[String]>) {
            let operation = HTTPRequestOperation(request: URLRequest(url: url))
            operation.completionQueue = callbacks
            operation.setDownloadProgress { _, total, _ in self.ends.append("\(total)") }
            operation.setCompletion(success: { _, _ in
                self.preconditionIsolated()
                self.ends.append("success")
                done.append(self.ends)
            })
            operation.start()
        }
    }

    @Test func closuresOfAnActorRunOnIt() async throws {
        let server = try ScriptedServer([.respond(body: "four")])
        let done = Recorder<[String]>()
        await Counter().fetch(server.url, done)
        #expect(try await done.wait() == [["4", "success"]])
    }

    @MainActor @Test func redirectsAndChallengesAskTheMainActor() async throws {
        let server = try ScriptedServer(
            routes: [
                "/old": [.respond(302, ["Location": "/new"])],
                "/new": [
                    .respond(401, ["WWW-Authenticate": "Basic realm=\"r\""]), .respond(body: "in"),
                ],
            ],
            otherwise: [.respond(404)]
        )
        let screen = MainScreen()
        let operation = HTTPRequestOperation(request: URLRequest(url: server.url(path: "old")))
        operation.completionQueue = Self.callbacks
        operation.setRedirect { _, request, _ in
            screen.show("redirect")
            return request
        }
        operation.setAuthenticationChallenge { _, challenge in
            screen.show("challenge")
            return .use(Credential(user: "u", password: "p"))
        }
        operation.start()
        #expect(try await operation.value as? Data == Data("in".utf8))
        #expect(screen.lines == ["redirect", "challenge"])
    }

    @MainActor @Test func verbsTouchTheMainActor() async throws {
        let server = try ScriptedServer { request in
            request.path.hasSuffix("bad") ? .respond(500) : .respond(body: "x")
        }
        let manager = OperationManager(baseURL: server.url)
        manager.responseSerializer = HTTPResponseSerializer()
        manager.completionQueue = Self.callbacks
        let screen = MainScreen()
        let ends = Recorder<Bool>()
        let end: @MainActor (String) -> Void = { line in
            screen.show(line)
            ends.append(true)
        }
        manager.get("a", success: { _, _ in end("get") })
        manager.get(
            "bad",
            success: nil,
            failure: { operation, _ in end("\(operation?.response?.statusCode ?? 0)") }
        )
        manager.get("http://", success: nil, failure: { operation, _ in end("\(operation == nil)") })
        manager.post(
            "form",
            parameters: .form(constructingBody: { form in
                screen.show("form")
                form.appendPart(withFormData: Data(), name: "a")
            }),
            success: { _, _ in end("post") }
        )
        _ = try await ends.wait(count: 4)
        #expect(Set(screen.lines) == ["form", "get", "500", "true", "post"])
        try await manager.post(
            "form",
            parameters: .form { form in
                screen.show("async form")
                form.appendPart(withFormData: Data(), name: "a")
            }
        )
        #expect(screen.lines.last == "async form")
    }

    @MainActor @Test func sessionsTouchTheMainActor() async throws {
        let server = try ScriptedServer { _ in .respond(body: "four") }
        let session = HTTPSessionManager.forTests(server.url)
        session.responseSerializer = HTTPResponseSerializer()
        let screen = MainScreen()
        let ends = Recorder<Bool>()
        session.get(
            "a",
            progress: { progress in screen.show("\(progress.completedUnitCount)") },
            success: { _, object in
                screen.show("\((object as? Data)?.count ?? -1)")
                ends.append(true)
            }
        )
        _ = try await ends.wait()
        #expect(screen.lines.suffix(2) == ["4", "4"])

        let folder = try TemporaryDirectory()
        let file = folder.file("saved")
        let download = session.downloadTask(
            with: URLRequest(url: server.url),
            progress: nil,
            destination: { _, _ in
                screen.show("destination")
                return file
            },
            completion: { _, saved, _ in
                screen.show(saved?.lastPathComponent ?? "nothing")
                ends.append(true)
            }
        )
        download.resume()
        _ = try await ends.wait(count: 2)
        #expect(screen.lines.suffix(2) == ["destination", "saved"])
    }

    @MainActor @Test func batchesOfDownloadsTouchTheMainActor() async throws {
        let server = try ScriptedServer { _ in .respond(body: "four") }
        let folder = try TemporaryDirectory()
        let manager = OperationManager()
        manager.completionQueue = Self.callbacks
        let screen = MainScreen()
        let items = (0..<3).map {
            DownloadItem(url: server.url(path: "\($0)"), destination: folder.file("\($0)"))
        }
        let batch = try manager.downloads(items) { event in
            if case .ended(let index, _) = event { screen.show("\(index)") }
        }
        #expect(await batch.results().count == 3)
        // All were called before.
        #expect(screen.lines.sorted() == ["0", "1", "2"])

        let members = [HTTPRequestOperation(request: URLRequest(url: server.url))]
        let operations = ConnectionOperation.batch(
            of: members,
            completionQueue: Self.callbacks,
            progress: { ended, total in screen.show("\(ended)/\(total)") },
            completion: { members in screen.show("all \(members.count)") }
        )
        let queue = OperationQueue()
        for operation in operations { queue.addOperation(operation) }
        await withCheckedContinuation { (over: CheckedContinuation<Void, Never>) in
            queue.addBarrierBlock { over.resume() }
        }
        #expect(screen.lines.suffix(2) == ["1/1", "all 1"])
    }

    /// A subclass that does something before the failure is reported.
    private final class RememberingManager: OperationManager, @unchecked Sendable {
        // @unchecked: its only property is an immutable Sendable.
        let failures = Recorder<Int>()

        override func operation(
            for request: URLRequest,
            success: HTTPRequestOperation.SuccessHandler? = nil,
            failure: HTTPRequestOperation.FailureHandler? = nil
        ) -> HTTPRequestOperation {
            super.operation(
                for: request,
                success: { operation, object in operation.call(success, with: object) },
                failure: { [failures] operation, error in
                    failures.append(operation.response?.statusCode ?? 0)
                    operation.call(failure, with: error)
                }
            )
        }
    }

    @MainActor @Test func anOverrideCallsTheHandlersWhereTheyBelong() async throws {
        let server = try ScriptedServer { request in
            request.path.hasSuffix("bad") ? .respond(404) : .respond(body: "x")
        }
        let manager = RememberingManager(baseURL: server.url)
        manager.responseSerializer = HTTPResponseSerializer()
        let screen = MainScreen()
        let ends = Recorder<Bool>()
        for queue in [nil, Self.callbacks] {
            manager.completionQueue = queue
            manager.get(
                "good",
                success: { _, _ in
                    screen.show("good")
                    ends.append(true)
                }
            )
            manager.get(
                "bad",
                success: nil,
                failure: { _, _ in
                    screen.show("bad")
                    ends.append(true)
                }
            )
        }
        _ = try await ends.wait(count: 4)
        #expect(screen.lines.sorted() == ["bad", "bad", "good", "good"])
        #expect(manager.failures.elements == [404, 404])
    }
}
