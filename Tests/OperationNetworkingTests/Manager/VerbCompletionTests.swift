import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// A verb calls one of its closures, and once, whatever `configure:` does.
@Suite(.timeLimit(.minutes(1)))
struct VerbCompletionTests {
    private struct Refusal: Error {}

    /// Each form of a verb that calls back, with a `configure:`.
    enum Verb: CaseIterable {
        case plain
        case list
        case encoding
        case typed
        case form
        case upload

        @discardableResult
        func call(
            _ manager: OperationManager,
            _ events: Recorder<String>,
            configure: (HTTPRequestOperation) throws -> Void
        ) -> HTTPRequestOperation? {
            let success: HTTPRequestOperation.SuccessHandler = { _, _ in events.append("success") }
            let failure: OperationManager.FailureHandler = { _, error in
                events.append(error is Refusal ? "refused" : "\(RequestFailure(error).isCancelled)")
            }
            return switch self {
            case .plain:
                manager.get("a", configure: configure, success: success, failure: failure)
            case .list:
                manager.post("a", parameters: [1], configure: configure, success: success, failure: failure)
            case .encoding:
                manager.post(
                    "a",
                    parameters: .encoding([1]),
                    configure: configure,
                    success: success,
                    failure: failure
                )
            case .typed:
                manager.get(
                    "a",
                    as: [Int].self,
                    configure: configure,
                    success: { _, _ in events.append("success") },
                    failure: failure
                )
            case .form:
                manager.post(
                    "a",
                    parameters: .form(constructingBody: { $0.appendPart(withFormData: Data(), name: "a") }),
                    configure: configure,
                    success: success,
                    failure: failure
                )
            case .upload:
                manager.upload(
                    .data(Data("x".utf8)),
                    to: "a",
                    configure: configure,
                    success: success,
                    failure: failure
                )
            }
        }
    }

    private let callbacks = DispatchQueue(label: "callbacks")

    private func manager(_ server: ScriptedServer) -> OperationManager {
        let manager = OperationManager(baseURL: server.url)
        manager.requestSerializer = JSONRequestSerializer()
        manager.completionQueue = callbacks
        return manager
    }

    private func server() throws -> ScriptedServer {
        try ScriptedServer { _ in .respond(200, ["Content-Type": "application/json"], body: "[1]") }
    }

    /// Everything that was on its way was called.
    private func allIsCalled() async {
        await withCheckedContinuation { (over: CheckedContinuation<Void, Never>) in
            callbacks.async { over.resume() }
        }
    }

    @Test(arguments: Verb.allCases)
    func aVerbThatIsCancelledAndRefusedByConfigureFailsOnce(_ verb: Verb) async throws {
        let server = try server()
        let manager = manager(server)
        for _ in 0..<20 {
            let events = Recorder<String>()
            let operation = verb.call(manager, events) { operation in
                operation.cancel()
                throw Refusal()
            }
            #expect(operation == nil)
            try await events.wait()
            await allIsCalled()
            #expect(events.elements.count == 1)
        }
        #expect(server.requests.isEmpty)
    }

    /// The end of the operation is reported before `configure:` throws.
    @Test func aFailureIsReportedOnce() async throws {
        let server = try server()
        let manager = manager(server)
        let events = Recorder<String>()
        Verb.plain.call(manager, events) { operation in
            operation.cancel()
            try events.waitSynchronously()
            throw Refusal()
        }
        await allIsCalled()
        #expect(events.elements == ["true"])
    }

    @Test(arguments: Verb.allCases)
    func anOperationThatIsKeptAfterARefusalReportsNothingMore(_ verb: Verb) async throws {
        let server = try server()
        let manager = manager(server)
        let events = Recorder<String>()
        var kept: HTTPRequestOperation?
        verb.call(manager, events) { operation in
            kept = operation
            throw Refusal()
        }
        kept?.start()
        _ = try await kept?.value
        await allIsCalled()
        #expect(events.elements == ["refused"])
    }

    @Test(arguments: Verb.allCases)
    func aVerbThatConfigureCancelsFailsOnce(_ verb: Verb) async throws {
        let server = try server()
        let manager = manager(server)
        let events = Recorder<String>()
        for _ in 0..<20 { verb.call(manager, events) { $0.cancel() } }
        #expect(try await events.wait(count: 20) == Array(repeating: "true", count: 20))
        await withCheckedContinuation { (over: CheckedContinuation<Void, Never>) in
            manager.operationQueue.addBarrierBlock { over.resume() }
        }
        await allIsCalled()
        #expect(events.elements.count == 20 && server.requests.isEmpty)
    }

    @Test(arguments: Verb.allCases)
    func aVerbSucceedsOnce(_ verb: Verb) async throws {
        let server = try server()
        let manager = manager(server)
        let events = Recorder<String>()
        let operation = verb.call(manager, events) { _ in }
        _ = try await operation?.value
        try await events.wait()
        await allIsCalled()
        #expect(events.elements == ["success"])
    }

    @Test func aFormOrARequestThatCannotBeMadeFailsOnce() async throws {
        let server = try server()
        let manager = manager(server)
        let session = HTTPSessionManager(baseURL: server.url)
        session.completionQueue = callbacks
        let events = Recorder<Bool>()
        manager.post(
            "a",
            parameters: .form(constructingBody: { _ in throw Refusal() }),
            success: nil,
            failure: { operation, error in events.append(operation == nil && error is Refusal) }
        )
        session.post(
            "a",
            parameters: .form(constructingBody: { _ in throw Refusal() }),
            success: nil,
            failure: { task, error in events.append(task == nil && error is Refusal) }
        )
        manager.upload(
            .data(Data()),
            to: "a",
            method: "GET",
            success: nil,
            failure: { operation, error in events.append(operation == nil && error is RequestBodyError) }
        )
        manager.get(
            "http://[",
            as: [Int].self,
            success: nil,
            failure: { operation, error in events.append(operation == nil && error is URLError) }
        )
        #expect(try await events.wait(count: 4) == [true, true, true, true])
        await allIsCalled()
        #expect(events.elements.count == 4 && server.requests.isEmpty)
    }

    /// The ways in which a manager's subclass sets a closure that belongs to the main actor.
    enum Wrapping: CaseIterable { case none, here, onMain }

    private final class Wrapper: OperationManager, @unchecked Sendable {
        // @unchecked: as its superclass; it adds what is locked.
        let wrap = Locked<@Sendable (HTTPRequestOperation) -> Void>({ _ in })

        override func operation(
            for request: URLRequest,
            @_inheritActorContext success: HTTPRequestOperation.SuccessHandler? = nil,
            @_inheritActorContext failure: HTTPRequestOperation.FailureHandler? = nil
        ) -> HTTPRequestOperation {
            let operation = super.operation(for: request, success: success, failure: failure)
            wrap.withLock { $0 }(operation)
            return operation
        }
    }

    /// The closure of a typed verb comes after those that a manager's subclass has set, or hands in from a
    /// closure of its own, wherever these belong.
    @Test(arguments: Wrapping.allCases)
    func aTypedClosureWaitsForThoseBeforeIt(_ wrapping: Wrapping) async throws {
        let events = Recorder<String>()
        let server = try server()
        let manager = Wrapper(baseURL: server.url)
        manager.completionQueue = callbacks
        let onMain: @MainActor @Sendable (HTTPRequestOperation, (any Sendable)?) -> Void = { _, _ in
            events.append("main")
        }
        manager.wrap.withLock { wrap in
            wrap = { operation in
                switch wrapping {
                case .none: operation.setCompletion(success: onMain)
                case .here:
                    operation.setCompletion(success: { operation, object in
                        operation.call(onMain, with: object)
                    })
                case .onMain:
                    let wrapper: @MainActor @Sendable (HTTPRequestOperation, (any Sendable)?) -> Void = {
                        $0.call(onMain, with: $1)
                    }
                    operation.setCompletion(success: wrapper)
                }
                operation.completionBlock = { events.append("block") }
            }
        }
        manager.get(
            "a",
            as: [Int].self,
            success: { _, value in events.append("typed \(value)") },
            failure: { _, error in events.append("\(error)") }
        )
        #expect(try await events.wait(count: 3) == ["main", "typed [1]", "block"])
        #expect(server.requests.count == 1)
    }
}
