import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

/// Verbs of a session that an `OperationManager` has, too: with types, with responses, with lists.
@Suite(.timeLimit(.minutes(1)))
struct SessionVerbsTests {
    private struct User: Codable, Sendable, Equatable {
        var name: String
    }

    private static let ada = User(name: "Ada")

    private func server() throws -> ScriptedServer {
        try ScriptedServer { request in
            request.path.hasSuffix("bad")
                ? .respond(404, ["Content-Type": "application/json"], body: "{}")
                : .respond(
                    200,
                    ["Content-Type": "application/json", "X-Page": "7"],
                    body: "{\"name\":\"Ada\"}"
                )
        }
    }

    private func session(_ server: ScriptedServer) -> HTTPSessionManager {
        let session = HTTPSessionManager(baseURL: server.url)
        session.requestSerializer = JSONRequestSerializer()
        session.completionQueue = DispatchQueue(label: "callbacks")
        return session
    }

    // MARK: - Callbacks with a type

    @Test func callbacksGetAValue() async throws {
        let server = try server()
        let session = session(server)
        let heard = Recorder<User>()
        let success: HTTPSessionManager.ValueHandler<User> = { _, user in heard.append(user) }
        session.get("a", as: User.self, success: success)
        session.post("a", parameters: ["a": 1], as: User.self, success: success)
        session.put("a", parameters: ["a": 1], as: User.self, success: success)
        session.patch("a", parameters: ["a": 1], as: User.self, success: success)
        session.delete("a", as: User.self, success: success)
        session.get("a", encoding: ["a": 1], as: User.self, success: success)
        session.post("a", encoding: Self.ada, as: User.self, success: success)
        session.put("a", encoding: Self.ada, as: User.self, success: success)
        session.patch("a", encoding: Self.ada, as: User.self, success: success)
        session.delete("a", encoding: ["a": 1], as: User.self, success: success)
        #expect(try await heard.wait(count: 10) == Array(repeating: Self.ada, count: 10))
        let methods = ["DELETE", "DELETE", "GET", "GET", "PATCH", "PATCH", "POST", "POST", "PUT", "PUT"]
        #expect(server.requests.map(\.method).sorted() == methods)
        let posts = server.requests.filter { $0.method == "POST" }
        let bodies = posts.map { String(decoding: $0.body, as: UTF8.self) }
        #expect(bodies.sorted() == ["{\"a\":1}", "{\"name\":\"Ada\"}"])
    }

    @Test func aCallbackOfAFailureGetsTheStatusOrTheMismatch() async throws {
        let server = try server()
        let session = session(server)
        let heard = Recorder<String>()
        let failure: HTTPSessionManager.FailureHandler = { task, error in
            let status = RequestFailure(error).statusCode.map { "\($0)" }
            heard.append(task == nil ? "no task" : status ?? "\(error is ResponseSerializationError)")
        }
        session.get("bad", as: User.self, success: { _, _ in heard.append("success") }, failure: failure)
        try await heard.wait(count: 1)
        session.get("a", as: [Int].self, success: { _, _ in heard.append("success") }, failure: failure)
        try await heard.wait(count: 2)
        session.get("http://[", as: User.self, success: { _, _ in heard.append("success") }, failure: failure)
        #expect(try await heard.wait(count: 3) == ["404", "true", "no task"])
    }

    @MainActor @Test func aValueOfMainActorCodeComesOnTheMainQueue() async throws {
        let server = try server()
        let session = session(server)
        let heard = Recorder<User>()
        session.get(
            "a",
            as: User.self,
            success: { _, user in
                MainActor.assertIsolated()
                heard.append(user)
            }
        )
        #expect(try await heard.wait() == [Self.ada])
    }

    // MARK: - Responses

    @Test func responsesHaveValueHeadAndCost() async throws {
        let server = try server()
        let session = session(server)
        let verbs = session.responses
        let typed = [
            try await verbs.get("a", as: User.self),
            try await verbs.post("a", parameters: ["a": 1], as: User.self),
            try await verbs.put("a", parameters: ["a": 1], as: User.self),
            try await verbs.patch("a", encoding: Self.ada, as: User.self),
            try await verbs.delete("a", as: User.self),
            try await verbs.get("a", with: DecodableResponseSerializer(User.self)),
            try await verbs.response(
                for: URLRequest(url: server.url(path: "a")),
                with: DecodableResponseSerializer(User.self)
            ),
        ]
        for response in typed {
            #expect(response.value == Self.ada && response.statusCode == 200)
            #expect(response.value(forHTTPHeaderField: "x-page") == "7")
            #expect(response.metrics.transferCount == 1 && response.metrics.bytesReceived == 14)
            #expect(response.data == Data("{\"name\":\"Ada\"}".utf8))
        }
        let plain = try await verbs.post("a", parameters: ["a": 1])
        #expect((plain.value as? [String: any Sendable])?["name"] as? String == "Ada")
        #expect(try await verbs.head("a").statusCode == 200)
        #expect(server.requests.map(\.method).suffix(2) == ["POST", "HEAD"])
    }

    @Test(.enabled(if: RealServers.httpbin != nil)) func aRealServerAnswersWithValueHeadAndCost() async throws
    {
        struct Echo: Codable, Sendable {
            var json: User?
            var url: String
        }
        let session = HTTPSessionManager(baseURL: RealServers.httpbin)
        session.requestSerializer = JSONRequestSerializer()
        session.completionQueue = DispatchQueue(label: "callbacks")
        let posted = try await session.responses.post("post", encoding: Self.ada, as: Echo.self)
        #expect(posted.value.json == Self.ada && posted.value.url.hasSuffix("/post"))
        #expect(posted.statusCode == 200 && posted.metrics.bytesSent == 14)
        #expect(Int64(posted.data?.count ?? 0) == posted.metrics.bytesReceived)
        let heard = Recorder<Int?>()
        session.get(
            "status/418",
            as: Echo.self,
            success: { _, _ in heard.append(nil) },
            failure: { _, error in heard.append(RequestFailure(error).statusCode) }
        )
        #expect(try await heard.wait() == [418])
    }

    /// A serializer that has a queue, and one that looks at the transfer: neither notices the difference.
    private struct Probing: QueuedResponseSerializer, TransferResponseSerializer {
        let processingQueue: ProcessingQueue?
        let seen: Recorder<String>

        func responseObject(for transfer: ReceivedTransfer) throws -> (any Sendable)? {
            seen.append("\(transfer.request?.httpMethod ?? "-") \(transfer.metrics?.transferCount ?? 0)")
            return transfer.data
        }
    }

    @Test func theSerializerOfAResponseHasItsQueueAndTheTransfer() async throws {
        let server = try server()
        let session = session(server)
        let (queue, seen) = (ProcessingQueue(label: "probing", width: 1), Recorder<String>())
        let (isThere, gate) = (Gate(), Gate())
        queue.async {
            isThere.open()
            try? gate.waitSynchronously()
        }
        try await isThere.wait()
        session.responseSerializer = CompoundResponseSerializer([Probing(processingQueue: queue, seen: seen)])
        async let response = session.responses.get("a")
        try await server.waitForRequests(count: 1)
        // Another one's does not wait for that queue, and this one does.
        _ = try await session.responses.get("b", as: User.self)
        #expect(seen.elements.isEmpty)
        gate.open()
        #expect(try await response.statusCode == 200)
        #expect(seen.elements == ["GET 1"])
    }

    @Test func aResponseThatIsRefusedIsThrown() async throws {
        let server = try server()
        let session = session(server)
        let refused = try await #require(throws: ResponseSerializationError.self) {
            try await session.responses.get("bad", as: User.self)
        }
        #expect(refused.reason == .unacceptableStatusCode(404))
        let other = try await #require(throws: ResponseSerializationError.self) {
            try await session.responses.get("a", as: [Int].self)
        }
        #expect(RequestFailure(other).statusCode == nil)
        let silent = try ScriptedServer { _ in .silence }
        let task = Task { try await session.responses.get(silent.url.absoluteString, as: User.self) }
        task.cancel()
        await #expect(throws: URLError.self) { try await task.value }
    }

    // MARK: - Forms and lists

    private func fill(_ form: inout MultipartFormData) {
        form.appendPart(withFormData: Data("x".utf8), name: "a")
    }

    @Test func responsesOfFormsAndListsHaveValueHeadAndCost() async throws {
        let server = try server()
        let verbs = session(server).responses
        let list: [Any] = [1, "b"]
        let typed = [
            try await verbs.post("a", constructingBody: fill, as: User.self),
            try await verbs.put("a", constructingBody: fill, as: User.self),
            try await verbs.patch("a", constructingBody: fill, as: User.self),
            try await verbs.post("a", parameters: list, as: User.self),
            try await verbs.put("a", parameters: list, as: User.self),
            try await verbs.patch("a", parameters: list, as: User.self),
            try await verbs.post("a", parameters: ["n": 1], with: DecodableResponseSerializer(User.self)),
            try await verbs.put("a", with: DecodableResponseSerializer(User.self)),
            try await verbs.patch("a", with: DecodableResponseSerializer(User.self)),
            try await verbs.delete("a", with: DecodableResponseSerializer(User.self)),
        ]
        #expect(typed.allSatisfy { $0.value == Self.ada && $0.statusCode == 200 })
        #expect(typed.allSatisfy { $0.value(forHTTPHeaderField: "X-Page") == "7" })
        #expect(typed[0].metrics.bytesSent > 0)
        let untyped = [
            try await verbs.post("a", constructingBody: fill),
            try await verbs.put("a", constructingBody: fill),
            try await verbs.patch("a", constructingBody: fill),
            try await verbs.post("a", parameters: list),
            try await verbs.put("a", parameters: list),
            try await verbs.patch("a", parameters: list),
        ]
        #expect(untyped.allSatisfy { ($0.value as? [String: any Sendable])?["name"] as? String == "Ada" })
        let bodied = ["POST", "PUT", "PATCH"]
        #expect(server.requests.map(\.method) == bodied + bodied + bodied + ["DELETE"] + bodied + bodied)
        let forms = server.requests.filter { $0["Content-Type"]?.hasPrefix("multipart/form-data") == true }
        #expect(forms.count == 6 && forms.allSatisfy { $0.text.contains("name=\"a\"") })
        #expect(server.requests.filter { $0.text == "[1,\"b\"]" }.count == 6)
        await #expect(throws: URLError.self) {
            try await verbs.post("http://[", constructingBody: fill)
        }
    }

    @Test func everyKindOfBodyTakesASerializerOrNone() async throws {
        let server = try server()
        let verbs = session(server).responses
        let user = DecodableResponseSerializer(User.self)
        let list: [Any] = [1, "b"]
        let typed: [Response<User>] = [
            try await verbs.post("a", encoding: Self.ada, with: user),
            try await verbs.put("a", encoding: Self.ada, with: user),
            try await verbs.patch("a", encoding: Self.ada, with: user),
            try await verbs.post("a", parameters: list, with: user),
            try await verbs.put("a", parameters: list, with: user),
            try await verbs.patch("a", parameters: list, with: user),
            try await verbs.post("a", constructingBody: fill, with: user),
            try await verbs.put("a", constructingBody: fill, with: user),
            try await verbs.patch("a", constructingBody: fill, with: user),
            try await verbs.get("a", encoding: ["a": 1], with: user),
            try await verbs.delete("a", encoding: ["a": 1], with: user),
        ]
        #expect(typed.allSatisfy { $0.value == Self.ada && $0.statusCode == 200 })
        let untyped: [Response<(any Sendable)?>] = [
            try await verbs.post("a", encoding: Self.ada),
            try await verbs.put("a", encoding: Self.ada),
            try await verbs.patch("a", encoding: Self.ada),
            try await verbs.get("a", encoding: ["a": 1]),
            try await verbs.delete("a", encoding: ["a": 1]),
        ]
        #expect(untyped.allSatisfy { ($0.value as? [String: any Sendable])?["name"] as? String == "Ada" })
        let (bodied, queried) = (["POST", "PUT", "PATCH"], ["GET", "DELETE"])
        #expect(server.requests.map(\.method) == bodied + bodied + bodied + queried + bodied + queried)
        #expect(server.requests.filter { $0.text == "{\"name\":\"Ada\"}" }.count == 6)
        #expect(server.requests.filter { $0.text == "[1,\"b\"]" }.count == 3)
    }

    @Test func callbacksOfFormsAndListsGetAValue() async throws {
        let server = try server()
        let session = session(server)
        let heard = Recorder<User>()
        let success: HTTPSessionManager.ValueHandler<User> = { _, user in heard.append(user) }
        session.post("a", parameters: [1], as: User.self, success: success)
        session.put("a", parameters: [1], as: User.self, success: success)
        session.patch("a", parameters: [1], as: User.self, success: success)
        let upload = session.post("a", constructingBody: fill, as: User.self, success: success)
        session.put("a", constructingBody: fill, as: User.self, success: success)
        session.patch("a", constructingBody: fill, as: User.self, success: success)
        #expect(try await heard.wait(count: 6) == Array(repeating: Self.ada, count: 6))
        #expect(upload?.progress.totalUnitCount ?? 0 > 0)
        #expect(try await session.put("a", constructingBody: fill, as: User.self) == Self.ada)
        #expect(try await session.patch("a", constructingBody: fill, as: User.self) == Self.ada)
        let objects = Recorder<Bool>()
        session.put("a", constructingBody: fill, success: { _, object in objects.append(object != nil) })
        session.patch("a", constructingBody: fill, success: { _, object in objects.append(object != nil) })
        #expect(try await objects.wait(count: 2) == [true, true])
        try await session.put("a", constructingBody: fill)
        let failures = Recorder<Bool>()
        let none = session.put(
            "http://[",
            constructingBody: fill,
            as: User.self,
            success: success,
            failure: { task, _ in failures.append(task == nil) }
        )
        #expect(none == nil)
        #expect(try await failures.wait() == [true])
    }

    @Test func aListIsTheBody() async throws {
        let server = try server()
        let session = session(server)
        let heard = Recorder<Bool>()
        session.post("a", parameters: [1, "b"], success: { _, _ in heard.append(true) })
        try await heard.wait()
        try await session.put("a", parameters: [1, "b"])
        #expect(try await session.patch("a", parameters: [1, "b"], as: User.self) == Self.ada)
        #expect(server.requests.map(\.method) == ["POST", "PUT", "PATCH"])
        #expect(server.requests.allSatisfy { String(decoding: $0.body, as: UTF8.self) == "[1,\"b\"]" })
        // A form has names.
        session.requestSerializer = HTTPRequestSerializer()
        await #expect(throws: RequestSerializationError.self) {
            try await session.post("a", parameters: [1])
        }
    }
}
