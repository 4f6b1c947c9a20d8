import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// Handlers that a closure calls by `call(_:with:)` stay in order with all other callbacks.
@Suite(.timeLimit(.minutes(1)))
struct HandlerOrderTests {
    private static let callbacks = DispatchQueue(label: "callbacks")

    /// An actor, and handlers that belong to it.
    private actor Home {
        nonisolated let events = Recorder<Int>()

        func handler() -> HTTPRequestOperation.SuccessHandler {
            Self.kept { _, object in
                self.assertIsolated()
                self.events.append(object as? Int ?? -1)
            }
        }

        private static func kept(
            @_inheritActorContext _ handler: @escaping HTTPRequestOperation.SuccessHandler
        ) -> HTTPRequestOperation.SuccessHandler { handler }
    }

    /// A manager that puts closures of its own around the ones that it gets.
    private final class Wrapping: OperationManager, @unchecked Sendable {
        // @unchecked: it has no stored property of its own.

        override func operation(
            for request: URLRequest,
            success: HTTPRequestOperation.SuccessHandler? = nil,
            failure: HTTPRequestOperation.FailureHandler? = nil
        ) -> HTTPRequestOperation {
            super.operation(
                for: request,
                success: { operation, object in
                    for number in 0..<10 { operation.call(success, with: number) }
                    operation.call(success, with: 10)
                },
                failure: { operation, error in operation.call(failure, with: error) }
            )
        }
    }

    @Test func callsOutsideOfCallbacksComeOneAfterTheOther() async throws {
        let home = Home()
        let handler = await home.handler()
        let url = try #require(URL(string: "http://127.0.0.1:1/"))
        let operation = HTTPRequestOperation(request: URLRequest(url: url))
        operation.completionQueue = Self.callbacks
        await onDispatchThread {
            for number in 0..<500 { operation.call(handler, with: number) }
        }
        #expect(try await home.events.wait(count: 500) == Array(0..<500))
    }

    @Test func callsInACallbackComeBeforeWhatFollowsIt() async throws {
        let server = try ScriptedServer { _ in .respond(body: "four") }
        let manager = Wrapping(baseURL: server.url)
        manager.responseSerializer = HTTPResponseSerializer()
        manager.completionQueue = Self.callbacks
        let home = Home()
        let handler = await home.handler()
        for round in 1...50 {
            let operation = manager.get(
                "a",
                configure: { $0.completionBlock = { home.events.append(11) } },
                success: handler
            )
            let batch = OperationBatch([try #require(operation)], completionQueue: Self.callbacks) { _, _ in
                home.events.append(12)
            }
            _ = await batch.results()
            #expect(home.events.elements.count == 13 * round)
            #expect(Array(home.events.elements.suffix(13)) == Array(0...12))
        }
    }

    @MainActor @Test func callsOfTheMainActorComeBeforeTheBlock() async throws {
        let server = try ScriptedServer { _ in .respond(body: "four") }
        let manager = Wrapping(baseURL: server.url)
        manager.responseSerializer = HTTPResponseSerializer()
        manager.completionQueue = Self.callbacks
        let events = Recorder<Int>()
        for round in 1...50 {
            manager.get(
                "a",
                configure: { $0.completionBlock = { @Sendable in events.append(11) } },
                success: { _, object in
                    MainActor.assertIsolated()
                    events.append(object as? Int ?? -1)
                }
            )
            let all = try await events.wait(count: 12 * round)
            #expect(Array(all.suffix(12)) == Array(0...11))
        }
    }

    /// The queue waits: what was there before is called before.
    @Test func callsComeAfterTheCallbacksThatWait() async throws {
        let server = try ScriptedServer { _ in .respond(body: "four") }
        let home = Home()
        let handler = await home.handler()
        let queue = DispatchQueue(label: "late")
        queue.suspend()
        let operation = HTTPRequestOperation(request: URLRequest(url: server.url))
        operation.completionQueue = queue
        operation.setCompletion(success: { _, _ in home.events.append(0) })
        operation.start()
        _ = try await operation.value
        operation.call(handler, with: 1)
        operation.call(handler, with: 2)
        queue.resume()
        #expect(try await home.events.wait(count: 3) == [0, 1, 2])
    }

    private typealias MainHandler = @MainActor @Sendable (HTTPRequestOperation, (any Sendable)?) -> Void

    /// The main queue makes the call, which was handed in before the start, or by a callback that has
    /// returned.
    @Test(arguments: [false, true])
    func anEndDuringACallIsReportedOnTheQueue(isFromCallback: Bool) async throws {
        let (answer, mayReturn, events) = (Gate(), Gate(), Recorder<String>())
        let server = try ScriptedServer([.respond(body: "four").held(by: answer)])
        let (queue, key) = (DispatchQueue(label: "own"), DispatchSpecificKey<Bool>())
        queue.setSpecific(key: key, value: true)
        let call: MainHandler = { _, _ in
            events.append("call")
            try? mayReturn.waitSynchronously()
        }
        let operation = HTTPRequestOperation(request: URLRequest(url: server.url))
        operation.completionQueue = queue
        operation.setCompletion(success: { _, _ in
            events.append(DispatchQueue.getSpecific(key: key) == true ? "end on the queue" : "end elsewhere")
        })
        let token = NotificationCenter.default.addObserver(
            forName: .operationDidStart,
            object: operation,
            queue: nil
        ) { [weak operation] _ in
            if isFromCallback { operation?.call(call, with: nil) }
        }
        defer { NotificationCenter.default.removeObserver(token) }

        if !isFromCallback { operation.call(call, with: nil) }
        operation.start()
        _ = try await events.wait()
        answer.open()
        _ = try await operation.value
        mayReturn.open()
        #expect(try await events.wait(count: 2) == ["call", "end on the queue"])
    }

    /// A queue that does not run holds up the notifications only, and nothing waits for these.
    @Test(arguments: [false, true])
    func theGroupWaitsForACallAndForNothingElse(endsMeanwhile: Bool) async throws {
        let server = try ScriptedServer { _ in .respond(body: "four") }
        let (mayReturn, events, group) = (Gate(), Recorder<String>(), DispatchGroup())
        let queue = DispatchQueue(label: "late")
        queue.suspend()
        defer { queue.resume() }
        let operation = HTTPRequestOperation(request: URLRequest(url: server.url))
        operation.completionQueue = queue
        operation.completionGroup = group
        let call: MainHandler = { _, _ in
            events.append("call")
            try? mayReturn.waitSynchronously()
            events.append("returned")
        }
        operation.call(call, with: nil)
        _ = try await events.wait()
        if endsMeanwhile {
            operation.start()
            _ = try await operation.value
        }
        #expect(group.wait(timeout: .now()) == .timedOut)
        group.notify(queue: Self.callbacks) { events.append("group") }
        mayReturn.open()
        #expect(try await events.wait(count: 3) == ["call", "returned", "group"])
    }

    /// Notifications are no audience, and a call that comes while they are posted is one.
    @Test func theGroupWaitsForACallThatComesWhileNotificationsArePosted() async throws {
        let server = try ScriptedServer { _ in .respond(body: "four") }
        let (events, group) = (Recorder<String>(), DispatchGroup())
        let operation = HTTPRequestOperation(request: URLRequest(url: server.url))
        operation.completionQueue = Self.callbacks
        operation.completionGroup = group
        let token = NotificationCenter.default.addObserver(
            forName: .operationDidFinish,
            object: operation,
            queue: nil
        ) { [weak operation] _ in
            operation?.callBackLater { events.append("call") }
            group.notify(queue: Self.callbacks) { events.append("group") }
        }
        defer { NotificationCenter.default.removeObserver(token) }
        operation.start()
        #expect(try await events.wait(count: 2) == ["call", "group"])
    }

    /// A waiter's work on the main queue comes after the closures of the result, which belong there, too.
    @MainActor @Test func aMainActorClosureIsCalledAtOnceOnTheMainQueue() async throws {
        let server = try ScriptedServer { _ in .respond(body: "x") }
        let events = Recorder<String>()
        for _ in 0..<20 {
            let operation = HTTPRequestOperation(request: URLRequest(url: server.url))
            let success: @MainActor @Sendable (HTTPRequestOperation, (any Sendable)?) -> Void = { _, _ in
                events.append("closure")
            }
            operation.setCompletion(success: success)
            operation.completionBlock = { DispatchQueue.main.async { events.append("next") } }
            operation.addObserver(Ended { DispatchQueue.main.async { events.append("observer") } })
            operation.start()
            _ = try await operation.value
        }
        let round = ["closure", "observer", "next"]
        #expect(try await events.wait(count: 60) == Array(repeating: round, count: 20).flatMap { $0 })
    }

    /// Is called at the end, before the closures of the result.
    private final class Ended: OperationObserver {
        private let body: @Sendable () -> Void

        init(_ body: @escaping @Sendable () -> Void) {
            self.body = body
        }

        func operationDidFinish(_ operation: ConnectionOperation, wasRunning: Bool) { body() }
    }
}
