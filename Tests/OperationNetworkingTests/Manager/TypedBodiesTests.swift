import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

/// Bodies as they are, forms of several parts and lists, with responses as values of a type.
@Suite(.timeLimit(.minutes(1)))
struct TypedBodiesTests {
    private struct Echo: Codable, Sendable, Equatable {
        var method: String
        var type: String
        var body: String
    }

    private func echoingServer() throws -> ScriptedServer {
        try ScriptedServer { request in
            let type = (request.headers["Content-Type"] ?? "").prefix { $0 != ";" }
            let echo = Echo(method: request.method, type: String(type), body: request.text)
            guard let data = try? JSONEncoder().encode(echo) else { return .respond(500) }
            return .respond(200, ["Content-Type": "application/json"], body: .data(data))
        }
    }

    private func manager(_ server: ScriptedServer) -> OperationManager {
        let manager = OperationManager(baseURL: server.url)
        manager.requestSerializer = JSONRequestSerializer()
        manager.completionQueue = DispatchQueue(label: "callbacks")
        return manager
    }

    private func fill(_ form: inout MultipartFormData) {
        form.appendPart(withFormData: Data("x".utf8), name: "a")
    }

    private let body = BodySource.data(Data("four".utf8))

    @Test func awaitingVerbsDecode() async throws {
        let server = try echoingServer()
        let manager = manager(server)
        let plain = try await manager.upload(body, to: "a", method: "PUT", as: Echo.self)
        #expect(plain == Echo(method: "PUT", type: "application/octet-stream", body: "four"))
        let forms = [
            try await manager.post("a", constructingBody: fill, as: Echo.self),
            try await manager.put("a", constructingBody: fill, as: Echo.self),
            try await manager.patch("a", constructingBody: fill, as: Echo.self),
        ]
        #expect(forms.map(\.method) == ["POST", "PUT", "PATCH"])
        #expect(forms.allSatisfy { $0.type == "multipart/form-data" })
        let session = HTTPSessionManager(baseURL: server.url)
        let form = try await session.post("a", constructingBody: fill, as: Echo.self)
        #expect(form.method == "POST" && form.type == "multipart/form-data")
    }

    @Test func responseVerbsDecode() async throws {
        let server = try echoingServer()
        let verbs = manager(server).responses
        let list: [Any] = ["a", 2]
        let typed = [
            try await verbs.upload(body, to: "a", as: Echo.self),
            try await verbs.post("a", constructingBody: fill, as: Echo.self),
            try await verbs.put("a", constructingBody: fill, as: Echo.self),
            try await verbs.patch("a", constructingBody: fill, as: Echo.self),
            try await verbs.post("a", parameters: list, as: Echo.self),
            try await verbs.put("a", parameters: list, as: Echo.self),
            try await verbs.patch("a", parameters: list, as: Echo.self),
            try await verbs.post("a", parameters: ["n": 1], with: DecodableResponseSerializer(Echo.self)),
            try await verbs.put("a", with: DecodableResponseSerializer(Echo.self)),
            try await verbs.patch("a", with: DecodableResponseSerializer(Echo.self)),
            try await verbs.delete("a", with: DecodableResponseSerializer(Echo.self)),
        ]
        let bodied = ["POST", "PUT", "PATCH"]
        #expect(typed.map(\.value.method) == ["POST"] + bodied + bodied + bodied + ["DELETE"])
        #expect(typed[4...6].allSatisfy { $0.value.body == #"["a",2]"# })
        #expect(typed.allSatisfy { $0.statusCode == 200 })
        let untyped = [
            try await verbs.put("a", constructingBody: fill),
            try await verbs.patch("a", constructingBody: fill),
            try await verbs.post("a", parameters: list),
            try await verbs.put("a", parameters: list),
            try await verbs.patch("a", parameters: list),
        ]
        let names = untyped.map { ($0.value as? [String: any Sendable])?["method"] as? String }
        #expect(names == ["PUT", "PATCH", "POST", "PUT", "PATCH"])
    }

    @Test func callbacksDecode() async throws {
        let server = try echoingServer()
        let manager = manager(server)
        let values = Recorder<Echo>()
        let take: OperationManager.ValueHandler<Echo> = { _, value in values.append(value) }
        let list: [Any] = [1]
        manager.upload(body, to: "a", as: Echo.self, success: take)
        manager.post("a", constructingBody: fill, as: Echo.self, success: take)
        manager.put("a", constructingBody: fill, as: Echo.self, success: take)
        manager.patch("a", constructingBody: fill, as: Echo.self, success: take)
        manager.post("a", parameters: list, as: Echo.self, success: take)
        manager.put("a", parameters: list, as: Echo.self, success: take)
        manager.patch("a", parameters: list, as: Echo.self, success: take)
        let came = try await values.wait(count: 7)
        #expect(came.map(\.method).sorted() == ["PATCH", "PATCH", "POST", "POST", "POST", "PUT", "PUT"])
        #expect(came.count { $0.body == "[1]" } == 3)
    }

    @Test func aBodyThatCannotBeSentIsTheFailure() async throws {
        let server = try echoingServer()
        let manager = manager(server)
        let failures = Recorder<Bool>()
        let operation = manager.upload(
            body,
            to: "a",
            method: "GET",
            as: Echo.self,
            success: nil,
            failure: { operation, error in failures.append(operation == nil && error is RequestBodyError) }
        )
        #expect(operation == nil)
        #expect(try await failures.wait(count: 1) == [true])
        await #expect(throws: RequestBodyError.self) {
            _ = try await manager.responses.upload(body, to: "a", method: "GET", as: Echo.self)
        }
    }
}
