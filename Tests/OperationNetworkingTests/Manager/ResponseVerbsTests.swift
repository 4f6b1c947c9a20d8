import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

/// The verbs that return the response too, and the callbacks with a type.
@Suite(.timeLimit(.minutes(1)))
struct ResponseVerbsTests {
    private struct User: Codable, Equatable, Sendable {
        let name: String
    }

    /// Answers with the name that was sent, or else with the method.
    private static func server() throws -> ScriptedServer {
        try ScriptedServer { request in
            let sent = try? JSONDecoder().decode(User.self, from: Data(request.text.utf8))
            let name = sent?.name ?? request.method
            let fields: FieldLines = ["Content-Type": "application/json", "Link": "</next>; rel=\"next\""]
            if request.path.hasSuffix("bad") { return .respond(404, fields, body: "{}") }
            return .respond(201, fields, body: .text("{\"name\": \"\(name)\"}"))
        }
    }

    @Test func everyVerbReturnsTheResponseWithTheValue() async throws {
        let server = try Self.server()
        let manager = OperationManager(baseURL: server.url)
        manager.requestSerializer = JSONRequestSerializer()
        let verbs = manager.responses
        let sent: [String: Any] = ["name": "Ada"]
        let typed = [
            try await verbs.get("a", as: User.self), try await verbs.delete("a", as: User.self),
            try await verbs.post("a", parameters: sent, as: User.self),
            try await verbs.put("a", encoding: User(name: "Bea"), as: User.self),
            try await verbs.patch("a", parameters: sent, as: User.self),
        ]
        #expect(typed.map(\.value.name) == ["GET", "DELETE", "Ada", "Bea", "Ada"])
        for page in typed {
            #expect(page.statusCode == 201)
            #expect(page.value(forHTTPHeaderField: "link") == "</next>; rel=\"next\"")
            #expect(page.metrics.transferCount == 1)
            #expect(page.data?.isEmpty == false)
        }
        let untyped: [Response<(any Sendable)?>] = [
            try await verbs.get("a"), try await verbs.post("a", parameters: sent),
            try await verbs.put("a", parameters: sent), try await verbs.patch("a", parameters: sent),
            try await verbs.delete("a"),
            try await verbs.upload(.data(Data("{}".utf8)), to: "a"),
            try await verbs.post("a") { form in form.appendPart(withFormData: Data(), name: "a") },
            try await verbs.post("a", encoding: User(name: "Cas")),
            try await verbs.put("a", encoding: User(name: "Dee")),
            try await verbs.patch("a", encoding: User(name: "Eve")),
        ]
        let names = untyped.map { ($0.value as? [String: any Sendable])?["name"] as? String }
        let posted = ["POST", "POST", "Cas", "Dee", "Eve"]
        #expect(names == ["GET", "Ada", "Ada", "Ada", "DELETE"] + posted)
        #expect(untyped.allSatisfy { $0.statusCode == 201 })
        #expect(try await verbs.head("a").statusCode == 201)
    }

    @Test func everyKindOfBodyTakesASerializer() async throws {
        let server = try Self.server()
        let manager = OperationManager(baseURL: server.url)
        manager.requestSerializer = JSONRequestSerializer()
        let verbs = manager.responses
        let user = DecodableResponseSerializer(User.self)
        let (ada, list): (User, [Any]) = (User(name: "Ada"), [1, "b"])
        let fill: (inout MultipartFormData) -> Void = {
            $0.appendPart(withFormData: Data("x".utf8), name: "a")
        }
        let responses: [Response<User>] = [
            try await verbs.post("a", parameters: ["name": "Bea"], with: user),
            try await verbs.put("a", parameters: ["name": "Bea"], with: user),
            try await verbs.patch("a", parameters: ["name": "Bea"], with: user),
            try await verbs.post("a", encoding: ada, with: user),
            try await verbs.put("a", encoding: ada, with: user),
            try await verbs.patch("a", encoding: ada, with: user),
            try await verbs.post("a", parameters: list, with: user),
            try await verbs.put("a", parameters: list, with: user),
            try await verbs.patch("a", parameters: [1, "b"], with: user),
            try await verbs.post("a", constructingBody: fill, with: user),
            try await verbs.put("a", constructingBody: fill, with: user),
            try await verbs.patch("a", constructingBody: fill, with: user) { $0.totalTimeout = 20 },
            try await verbs.upload(.data(Data("{}".utf8)), to: "a", with: user),
            try await verbs.get("a", with: user), try await verbs.delete("a", with: user),
        ]
        let bodied = ["POST", "PUT", "PATCH"]
        let sent = ["Bea", "Bea", "Bea", "Ada", "Ada", "Ada"]
        let last = ["POST", "GET", "DELETE"]
        #expect(responses.map(\.value.name) == sent + bodied + bodied + last)
        #expect(responses.allSatisfy { $0.statusCode == 201 && $0.metrics.transferCount == 1 })
        #expect(server.requests.map(\.method) == bodied + bodied + bodied + bodied + last)
        #expect(server.requests.filter { $0.text == "[1,\"b\"]" }.count == 3)
        let forms = server.requests.filter { $0["Content-Type"]?.hasPrefix("multipart/form-data") == true }
        #expect(forms.count == 3 && forms.allSatisfy { $0.text.contains("name=\"a\"") })
    }

    /// GET and DELETE have a query, whatever is encoded.
    @Test func anEncodedValueIsTheQueryOfAGet() async throws {
        let server = try Self.server()
        let verbs = OperationManager(baseURL: server.url).responses
        let ada = User(name: "Ada")
        let user = DecodableResponseSerializer(User.self)
        #expect(try await verbs.get("a", encoding: ada).statusCode == 201)
        #expect(try await verbs.delete("a", encoding: ada).statusCode == 201)
        #expect(try await verbs.get("a", encoding: ada, with: user).value.name == "GET")
        #expect(try await verbs.delete("a", encoding: ada, with: user).value.name == "DELETE")
        #expect(server.requests.map(\.target) == Array(repeating: "/a?name=Ada", count: 4))
    }

    @Test func theSerializerSaysTheType() async throws {
        let server = try Self.server()
        let manager = OperationManager(baseURL: server.url)
        let page = try await manager.responses.get("a", with: DecodableResponseSerializer(User.self))
        let user: User = page.value
        #expect(user == User(name: "GET"))
        let request = URLRequest(url: server.url)
        let bytes = try await manager.responses.response(for: request, with: HTTPResponseSerializer())
        let data: Data = bytes.value
        #expect(data == Data(#"{"name": "GET"}"#.utf8))
        let operation = manager.operation(for: request)
        operation.responseSerializer = DecodableResponseSerializer(User.self)
        operation.start()
        #expect(try await operation.value(as: User.self) == user)
        #expect(try await operation.response(as: User.self).statusCode == 201)
        await #expect(throws: ResponseSerializationError.self) { try await operation.value(as: Int.self) }
    }

    @Test func aRefusedStatusIsThrown() async throws {
        let server = try Self.server()
        let manager = OperationManager(baseURL: server.url)
        let error = try await #require(throws: (any Error).self) {
            try await manager.responses.get("bad", as: User.self)
        }
        #expect(RequestFailure(error).statusCode == 404)
    }

    @Test func aDownloadGivesItsFile() async throws {
        let server = try ScriptedServer { _ in .respond(body: "four") }
        let folder = try TemporaryDirectory()
        let download = DownloadOperation(request: URLRequest(url: server.url), to: folder.file("a"))
        download.start()
        let saved: URL = try await download.savedFile
        #expect(saved.lastPathComponent == "a")
        #expect(try await download.response(as: URL.self).statusCode == 200)
    }

    // MARK: - Callbacks with a type

    @MainActor @Test func callbacksGetAValueOfTheType() async throws {
        let server = try Self.server()
        let manager = OperationManager(baseURL: server.url)
        manager.requestSerializer = JSONRequestSerializer()
        manager.completionQueue = DispatchQueue(label: "callbacks")
        var names: [String] = []
        let ends = Recorder<Bool>()
        let show: @MainActor (User) -> Void = { user in
            names.append(user.name)
            ends.append(true)
        }
        manager.get("a", as: User.self, success: { _, user in show(user) })
        manager.delete("a", as: User.self, success: { _, user in show(user) })
        manager.post("a", parameters: ["name": "Ada"], as: User.self, success: { _, user in show(user) })
        manager.put("a", encoding: User(name: "Bea"), as: User.self, success: { _, user in show(user) })
        manager.patch("a", encoding: User(name: "Cas"), as: User.self, success: { _, user in show(user) })
        manager.get("bad", as: User.self, success: nil) { operation, error in
            names.append("\(RequestFailure(error).statusCode ?? 0)")
            ends.append(true)
        }
        manager.get("http://", as: User.self, success: nil) { operation, _ in
            names.append("\(operation == nil)")
            ends.append(true)
        }
        _ = try await ends.wait(count: 7)
        #expect(names.sorted() == ["404", "Ada", "Bea", "Cas", "DELETE", "GET", "true"])
    }
}
