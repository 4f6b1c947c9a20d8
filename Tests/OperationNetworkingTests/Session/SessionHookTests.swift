import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

@Suite(.timeLimit(.minutes(1)))
struct SessionHookTests {
    private let session = URLSessionManager.forTests()
    private let ends = TaskEnds()

    init() {
        session.responseSerializer = HTTPResponseSerializer()
    }

    @Test func theHooksOfADataTaskComeInOrderAndThoseThatReportOnTheCompletionQueue() async throws {
        let server = try ScriptedServer([
            .redirect(to: "/there"), .respond(body: .generated(length: 100_000)),
        ])
        let key = DispatchSpecificKey<Bool>()
        session.completionQueue?.setSpecific(key: key, value: true)
        let events = Recorder<String>()
        let bytes = Recorder<Int>()
        let note: @Sendable (String) -> Void = {
            events.append("\($0) \(DispatchQueue.getSpecific(key: key) ?? false)")
        }
        session.setTaskWillPerformHTTPRedirection { _, response, request in
            note("redirect \(response.statusCode)")
            return request
        }
        session.setDataTaskDidReceiveResponse { _, response in
            note("response \(response.statusCode)")
            return .allow
        }
        session.setDataTaskDidReceiveData { _, data in bytes.append(data.count) }
        session.setTaskDidFinishCollectingMetrics { _, metrics in note("metrics \(metrics.count)") }
        session.setTaskDidComplete { task, error in
            note("complete \(error == nil) \(task.state)")
        }
        session.dataTask(with: URLRequest(url: server.url), completion: ends.handler).resume()
        let end = try await ends.wait()
        #expect((end.object as? Data)?.count == 100_000)
        #expect(bytes.elements.reduce(0, +) == 100_000)
        #expect(
            events.elements == [
                "redirect 302 false", "response 200 false", "metrics 2 true", "complete true completed true",
            ]
        )
    }

    @Test func aResponseIsSeenBeforeItIsStored() async throws {
        let server = try ScriptedServer([.respond(200, ["Cache-Control": "max-age=60"], body: "as sent")])
        session.cache = ResponseCache(memoryCapacity: 1 << 20, diskCapacity: 0, directory: nil)
        let seen = Recorder<String>()
        session.setDataTaskWillCacheResponse { _, proposed in
            seen.append(String(decoding: proposed.data, as: UTF8.self))
            return nil
        }
        for count in 1...2 {
            let ends = TaskEnds()
            session.dataTask(with: URLRequest(url: server.url), completion: ends.handler).resume()
            _ = try await ends.wait()
            _ = try await seen.wait(count: count)
        }
        #expect(seen.elements == ["as sent", "as sent"] && server.requests.count == 2)
    }

    @Test func aRedirectThatIsRefusedIsTheResponse() async throws {
        let server = try ScriptedServer([.redirect(to: "/there")])
        session.responseSerializer = HTTPResponseSerializer()
        session.setTaskWillPerformHTTPRedirection { _, _, _ in nil }
        session.dataTask(with: URLRequest(url: server.url), completion: ends.handler).resume()
        #expect(try await ends.wait().response?.statusCode == 302)
        #expect(server.requests.count == 1)
    }

    @Test func aDownloadReportsWhatWasWritten() async throws {
        let server = try ScriptedServer([.respond(body: .generated(length: 100_000))])
        let written = Recorder<[Int64]>()
        session.setDownloadTaskDidWriteData { _, bytes, total, expected in
            written.append([bytes, total, expected])
        }
        session.downloadTask(
            with: URLRequest(url: server.url),
            progress: nil,
            destination: nil,
            completion: ends.fileHandler
        ).resume()
        _ = try await ends.wait()
        #expect(written.elements.map { $0[0] }.reduce(0, +) == 100_000)
        #expect(written.elements.last?[1...] == [100_000, 100_000])
    }

    @Test func anUploadReportsWhatWasSent() async throws {
        let server = try ScriptedServer([.respond()])
        let sent = Recorder<[Int64]>()
        session.setTaskDidSendBodyData { _, bytes, total, expected in sent.append([bytes, total, expected]) }
        var request = URLRequest(url: server.url)
        request.httpMethod = "POST"
        session.uploadTask(
            with: request,
            from: Data(count: 100_000),
            progress: nil,
            completion: ends.handler
        ).resume()
        _ = try await ends.wait()
        #expect(sent.elements.map { $0[0] }.reduce(0, +) == 100_000)
        #expect(sent.elements.last?[1...] == [100_000, 100_000])
    }

    @Test func a401CallsTheTaskHookAndNotTheSessionHook() async throws {
        let server = try ScriptedServer { request in
            request["Authorization"] == nil
                ? .respond(401, ["WWW-Authenticate": "Basic realm=\"a\""]) : .respond(body: "in")
        }
        let asked = Recorder<String>()
        session.setSessionDidReceiveAuthenticationChallenge { _ in
            asked.append("session")
            return .performDefaultHandling
        }
        session.setTaskDidReceiveAuthenticationChallenge { task, challenge in
            asked.append("task \(task.taskIdentifier) \(challenge.realm ?? "")")
            return .use(Credential(user: "user", password: "password"))
        }
        session.dataTask(with: URLRequest(url: server.url), completion: ends.handler).resume()
        #expect(try await ends.wait().text == "in")
        #expect(asked.elements == ["task 1 a"])
    }

    @Test(.enabled(if: RealServers.nginxTLS != nil), arguments: [true, false])
    func anUntrustedServerCallsTheSessionHookOrElseTheTaskHook(hasSession: Bool) async throws {
        let url = try #require(RealServers.nginxTLS).appendingPathComponent("1k.bin")
        let asked = Recorder<String>()
        if hasSession {
            session.setSessionDidReceiveAuthenticationChallenge { challenge in
                asked.append("session \(challenge.serverTrust != nil)")
                return .trustServer
            }
        }
        session.setTaskDidReceiveAuthenticationChallenge { _, challenge in
            asked.append("task \(challenge.serverTrust != nil)")
            return .trustServer
        }
        session.dataTask(with: URLRequest(url: url), completion: ends.handler).resume()
        #expect(try await ends.wait().error == nil)
        #expect(asked.elements == ["\(hasSession ? "session" : "task") true"])
    }

    @Test func didCompleteReportsTheReceivedBytes() async throws {
        let server = try ScriptedServer([.respond(body: "hello"), .respond(404), .respond(body: "file")])
        func userInfo(_ task: SessionTask) async throws -> [String: any Sendable] {
            let notices = TaskNotices(of: task)
            task.resume()
            try await notices.names.wait(count: 2)
            #expect(notices.names.elements.last == .taskDidComplete)
            return try #require(notices.userInfos.elements.last)
        }
        let request = URLRequest(url: server.url)
        let good = try await userInfo(session.dataTask(with: request, completion: nil))
        #expect(good[TaskDidCompleteKey.responseSerializer] is HTTPResponseSerializer)
        #expect(good[TaskDidCompleteKey.serializedResponse] as? Data == Data("hello".utf8))
        #expect(good[TaskDidCompleteKey.responseData] as? Data == Data("hello".utf8))
        #expect((good[TaskDidCompleteKey.sessionTaskMetrics] as? [TransferMetrics])?.count == 1)
        #expect(good[TaskDidCompleteKey.error] == nil && good[TaskDidCompleteKey.assetPath] == nil)
        let bad = try await userInfo(session.dataTask(with: request, completion: nil))
        #expect(bad[TaskDidCompleteKey.error] is ResponseSerializationError)
        let download = session.downloadTask(
            with: request,
            progress: nil,
            destination: nil,
            completion: nil
        )
        let file = try await userInfo(download)
        #expect(file[TaskDidCompleteKey.assetPath] is URL && file[TaskDidCompleteKey.responseData] == nil)
    }
}
