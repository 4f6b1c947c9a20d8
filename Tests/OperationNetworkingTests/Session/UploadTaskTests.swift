import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

@Suite(.timeLimit(.minutes(1)))
struct UploadTaskTests {
    private let session = URLSessionManager.forTests()
    private let ends = TaskEnds()
    private let body = PatternBody(seed: 1, length: 100_000)

    private func request(_ server: ScriptedServer, _ fields: [String: String] = [:]) -> URLRequest {
        var request = URLRequest(url: server.url)
        request.httpMethod = "PUT"
        for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
        return request
    }

    @Test func aFileIsSent() async throws {
        let server = try ScriptedServer([.respond()])
        let folder = try TemporaryDirectory()
        try body.data.write(to: folder.file())
        let task = session.uploadTask(
            with: request(server),
            fromFile: folder.file(),
            progress: nil,
            completion: ends.handler
        )
        #expect(session.uploadTasks == [task] && session.dataTasks.isEmpty)
        task.resume()
        #expect(try await ends.wait().error == nil)
        let sent = try #require(server.requests.first)
        #expect(sent.method == "PUT" && sent["Content-Length"] == "100000" && sent.body == body.data)
        #expect(task.uploadProgress.fractionCompleted == 1)
    }

    @Test func everyKindOfTaskHasTheSettingsOfItsSession() async throws {
        let server = try ScriptedServer { _ in .respond(body: "ok") }
        let folder = try TemporaryDirectory()
        try body.data.write(to: folder.file())
        var streamed = request(server)
        streamed.httpBodyStream = InputStream(data: body.data)
        let request = request(server)
        session.responseSerializer = HTTPResponseSerializer()
        session.tokenSource = TokenSource(TokenSource.Token("own")) { _ in throw CancellationError() }
        let tasks: [SessionTask] = [
            session.dataTask(with: request, completion: ends.handler),
            session.uploadTask(with: request, from: body.data, progress: nil, completion: ends.handler),
            session.uploadTask(
                with: request,
                fromFile: folder.file(),
                progress: nil,
                completion: ends.handler
            ),
            session.uploadTask(withStreamedRequest: streamed, progress: nil, completion: ends.handler),
            session.downloadTask(
                with: request,
                progress: nil,
                destination: nil,
                completion: ends.fileHandler
            ),
        ]
        // Those of when it was made.
        session.tokenSource = nil
        session.responseSerializer = JSONResponseSerializer()
        for task in tasks { task.resume() }
        let results = try await ends.recorder.wait(count: tasks.count)
        #expect(results.allSatisfy { $0.error == nil })
        #expect(server.requests.map { $0["Authorization"] } == tasks.map { _ in "Bearer own" })
    }

    @Test func aMissingFileIsTheErrorOfTheTask() async throws {
        let server = try ScriptedServer([.respond()])
        let folder = try TemporaryDirectory()
        session.uploadTask(
            with: request(server),
            fromFile: folder.file(),
            progress: nil,
            completion: ends.handler
        ).resume()
        #expect(try await ends.wait().error is RequestBodyError)
        #expect(server.requests.isEmpty && session.tasks.isEmpty)
    }

    @Test func dataIsSentAgainAfterASuspension() async throws {
        let server = try ScriptedServer([.silence, .respond()])
        let task = session.uploadTask(
            with: request(server),
            from: body.data,
            progress: nil,
            completion: ends.handler
        )
        task.resume()
        try await server.waitForRequests()
        task.suspend()
        try await server.waitForOpenConnections(0)
        task.resume()
        #expect(try await ends.wait().error == nil)
        #expect(server.requests.map(\.body) == [body.data, body.data])
    }

    @Test func aStreamedRequestSendsItsStreamWithTheLengthOfItsField() async throws {
        let server = try ScriptedServer([.respond()])
        var request = request(server, ["Content-Length": "100000"])
        request.httpBodyStream = InputStream(data: body.data)
        let task = session.uploadTask(
            withStreamedRequest: request,
            progress: nil,
            completion: ends.handler
        )
        task.resume()
        #expect(try await ends.wait().error == nil)
        #expect(server.requests.first?["Content-Length"] == "100000")
        #expect(server.requests.first?.body == body.data)
        #expect(task.countOfBytesExpectedToSend == 100_000)
    }

    @Test func theSessionMakesTheStreamOfARequestWithoutOne() async throws {
        let server = try ScriptedServer([.redirect(to: "/again", statusCode: 307), .respond()])
        let data = body.data
        let asked = Recorder<Int>()
        session.setTaskNeedNewBodyStream { task in
            asked.append(task.taskIdentifier)
            return InputStream(data: data)
        }
        let task = session.uploadTask(
            withStreamedRequest: request(server),
            progress: nil,
            completion: ends.handler
        )
        task.resume()
        #expect(try await ends.wait().error == nil)
        #expect(server.requests.map(\.body) == [data, data])
        #expect(asked.elements.count >= 2 && Set(asked.elements) == [task.taskIdentifier])
    }

    /// The serializer gives a POST without parameters an empty body, as AFNetworking's does.
    @Test func theSessionMakesTheStreamOfARequestOfItsSerializer() async throws {
        let server = try ScriptedServer([.respond()])
        let data = body.data
        session.setTaskNeedNewBodyStream { _ in InputStream(data: data) }
        let request = try HTTPRequestSerializer().request(
            method: "POST",
            url: server.url,
            parameters: nil,
            headers: [:]
        )
        #expect(request.httpBody == Data())
        session.uploadTask(withStreamedRequest: request, progress: nil, completion: ends.handler).resume()
        #expect(try await ends.wait().error == nil)
        #expect(server.requests.map(\.body) == [data])
    }

    @Test(arguments: [nil, 100_000])
    func aFormThatCanBeReadOnceIsMadeAgainByTheSession(length: Int64?) async throws {
        let server = try ScriptedServer([.redirect(to: "/again", statusCode: 307), .respond()])
        let (data, asked) = (body.data, Recorder<Int>())
        session.setTaskNeedNewBodyStream { task in
            asked.append(task.taskIdentifier)
            return InputStream(data: data)
        }
        var request = request(server)
        request.bodySource = .stream(InputStream(data: data), length: length)
        session.uploadTask(withStreamedRequest: request, progress: nil, completion: ends.handler).resume()
        #expect(try await ends.wait().error == nil)
        #expect(server.requests.map(\.body) == [data, data])
        #expect(asked.elements.count == 1)
    }

    @Test func aStreamThatWasReadIsMadeAgainByTheSession() async throws {
        let server = try ScriptedServer([.redirect(to: "/again", statusCode: 307), .respond()])
        let data = body.data
        session.setTaskNeedNewBodyStream { _ in InputStream(data: data) }
        var request = request(server)
        request.httpBodyStream = InputStream(data: data)
        session.uploadTask(withStreamedRequest: request, progress: nil, completion: ends.handler).resume()
        #expect(try await ends.wait().error == nil)
        #expect(server.requests.map(\.body) == [data, data])
    }

    // MARK: - Progress commands

    @Test func cancellingTheProgressOrItsParentCancelsTheTask() async throws {
        let server = try ScriptedServer([.silence])
        let overall = Progress(totalUnitCount: 1)
        let task = overall.performAsCurrent(withPendingUnitCount: 1) {
            session.uploadTask(
                with: request(server),
                from: body.data,
                progress: nil,
                completion: ends.handler
            )
        }
        task.resume()
        try await server.waitForRequests()
        overall.cancel()
        #expect(try await ends.wait().code == .cancelled)
    }

    @Test(arguments: [true, false])
    func pausingAndResumingTheProgressSuspendsAndResumesTheTask(isUpload: Bool) async throws {
        let server = try ScriptedServer([.silence, .respond()])
        let task: DataTask =
            isUpload
            ? session.uploadTask(
                with: request(server),
                from: body.data,
                progress: nil,
                completion: ends.handler
            )
            : session.dataTask(with: URLRequest(url: server.url), completion: ends.handler)
        let notices = TaskNotices(of: task)
        task.resume()
        try await server.waitForRequests()
        task.progress.pause()
        #expect(try await notices.names.wait(count: 2) == [.taskDidResume, .taskDidSuspend])
        #expect(task.state == .suspended)
        task.progress.resume()
        #expect(try await ends.wait().error == nil)
        #expect(task.state == .completed)
    }
}

extension Progress {
    /// Foundation on Linux has `becomeCurrent(withPendingUnitCount:)` alone, and that not in async code.
    func performAsCurrent<Result>(withPendingUnitCount count: Int64, _ body: () -> Result) -> Result {
        becomeCurrent(withPendingUnitCount: count)
        defer { resignCurrent() }
        return body()
    }
}
