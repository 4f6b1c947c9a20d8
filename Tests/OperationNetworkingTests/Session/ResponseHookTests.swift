import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// The closure that is asked about the response of a data task.
@Suite(.timeLimit(.minutes(1)))
struct ResponseHookTests {
    private let session = URLSessionManager.forTests()
    private let ends = TaskEnds()

    init() {
        session.responseSerializer = HTTPResponseSerializer()
    }

    private func task(_ server: ScriptedServer) -> DataTask {
        session.dataTask(with: URLRequest(url: server.url), completion: ends.handler)
    }

    @Test func aRefusedResponseCancelsTheTask() async throws {
        let server = try ScriptedServer([.respond(body: .generated(length: 1000)).stalling(after: 10)])
        session.setDataTaskDidReceiveResponse { _, _ in .cancel }
        task(server).resume()
        #expect(try await ends.wait().code == .cancelled)
    }

    /// Opens a gate when the body is complete.
    private struct GateSerializer: ResponseSerializer {
        let gate: Gate

        func responseObject(for response: HTTPURLResponse?, data: Data?) throws -> (any Sendable)? {
            gate.open()
            return data
        }
    }

    @Test(arguments: [DataTask.ResponseDisposition.allow, .cancel])
    func theBodyWaitsForTheAnswer(_ answer: DataTask.ResponseDisposition) async throws {
        let server = try ScriptedServer { _ in .respond(body: "short") }
        let isOver = Gate()
        session.responseSerializer = GateSerializer(gate: isOver)
        let early = Recorder<Bool>()
        session.setDataTaskDidReceiveResponse { task, _ in
            // A whole other exchange has its time meanwhile, and is not held up.
            let other = HTTPRequestOperation(request: URLRequest(url: server.url))
            let isDone = Gate()
            other.completionQueue = DispatchQueue(label: "other")
            other.setCompletion(success: { _, _ in isDone.open() }, failure: nil)
            other.start()
            try? isDone.waitSynchronously()
            early.append(isOver.isOpen || task.countOfBytesReceived > 0)
            return answer
        }
        let task = task(server)
        task.resume()
        let end = try await ends.wait()
        #expect(early.elements == [false])
        if answer == .cancel {
            #expect(end.code == .cancelled && end.object == nil && task.countOfBytesReceived == 0)
        } else {
            #expect(end.text == "short" && isOver.isOpen)
        }
    }

    @Test func theResponseOfASuspendedTaskIsAskedAboutOnce() async throws {
        let representation = Representation(.generated(length: 200_000), entityTag: .strong("v1"))
        let server = try ScriptedServer { request in
            let answer = Answer.representation(representation)
            return request["Range"] == nil ? answer.stalling(after: 60_000) : answer
        }
        let (statuses, came) = (Recorder<Int>(), Gate())
        session.setDataTaskDidReceiveResponse { _, response in
            statuses.append(response.statusCode)
            return .allow
        }
        let task = session.dataTask(
            with: URLRequest(url: server.url),
            downloadProgress: { if $0.completedUnitCount > 0 { came.open() } },
            completion: ends.handler
        )
        task.resume()
        try await came.wait()
        task.suspend()
        try await server.waitForOpenConnections(0)
        task.resume()
        #expect(try await ends.wait().error == nil)
        #expect(statuses.elements == [200])
    }

    @Test func anAnswerCountsWhenTheTaskWasSuspendedMeanwhile() async throws {
        let server = try ScriptedServer { _ in .respond(body: "hello") }
        let statuses = Recorder<Int>()
        session.setDataTaskDidReceiveResponse { task, response in
            statuses.append(response.statusCode)
            task.suspend()
            return .allow
        }
        let task = task(server)
        task.resume()
        try await statuses.wait()
        try await eventually { task.state == .suspended }
        task.resume()
        #expect(try await ends.wait().text == "hello")
        #expect(statuses.elements == [200])
    }

    /// The answer comes when the operation has asked for the second time.
    @Test(arguments: [DataTask.ResponseDisposition.allow, .cancel])
    func anAnswerThatIsLateCountsForASuspendedTask(_ answer: DataTask.ResponseDisposition) async throws {
        let server = try ScriptedServer { _ in .respond(body: "hello") }
        let (asked, mayAnswer) = (Gate(), Gate())
        session.setDataTaskDidReceiveResponse { _, _ in
            asked.open()
            try? mayAnswer.waitSynchronously()
            return answer
        }
        let task = task(server)
        task.resume()
        try await asked.wait()
        task.suspend()
        task.resume()
        try await server.waitForAnswers(count: 2)
        #expect(ends.recorder.elements.isEmpty && task.countOfBytesReceived == 0)
        mayAnswer.open()
        let end = try await ends.wait()
        #expect(answer == .allow ? end.text == "hello" : end.code == .cancelled)
    }

    @Test func aRedirectThatIsRefusedIsAskedAboutToo() async throws {
        let server = try ScriptedServer([.redirect(to: "/there")])
        session.setTaskWillPerformHTTPRedirection { _, _, _ in nil }
        let statuses = Recorder<Int>()
        session.setDataTaskDidReceiveResponse { _, response in
            statuses.append(response.statusCode)
            return .allow
        }
        task(server).resume()
        #expect(try await ends.wait().response?.statusCode == 302)
        #expect(statuses.elements == [302])
    }
}
