import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// Parameters and serializers as AFNetworking's programs write them.
@Suite(.timeLimit(.minutes(1)))
struct ParametersTests {
    private static func server() throws -> ScriptedServer {
        try ScriptedServer { request in
            let text = request.query ?? request.text
            let body = try JSONSerialization.data(withJSONObject: [request.method, text])
            return .respond(200, ["Content-Type": "application/json"], body: .data(body))
        }
    }

    @MainActor @Test func anyDictionaryIsTaken() async throws {
        let server = try Self.server()
        let manager = OperationManager(baseURL: server.url)
        defer { withExtendedLifetime(server) {} }
        var parameters: [String: Any] = ["b": "x", "a": 1]
        #expect(try await manager.get("a", parameters: parameters, as: [String].self) == ["GET", "a=1&b=x"])
        // It is this code's still.
        parameters["c"] = [true]
        #expect(
            try await manager.post("a", parameters: parameters, as: [String].self)
                == ["POST", "a=1&b=x&c%5B%5D=1"]
        )
        let typed: [String: any Sendable] = ["a": 2]
        #expect(try await manager.put("a", parameters: typed, as: [String].self) == ["PUT", "a=2"])
        let parsed = try JSONSerialization.jsonObject(with: Data(#"{"k": [1]}"#.utf8)) as? [String: Any]
        #expect(try await manager.get("a", parameters: parsed, as: [String].self) == ["GET", "k%5B%5D=1"])
    }

    @Test func aListIsTakenByJSON() async throws {
        let server = try Self.server()
        let manager = OperationManager(baseURL: server.url)
        defer { withExtendedLifetime(server) {} }
        manager.requestSerializer = JSONRequestSerializer()
        let list: [Any] = [1, "x", ["k": true] as [String: Any]]
        let text = #"[1,"x",{"k":true}]"#
        #expect(try await manager.post("a", parameters: list, as: [String].self) == ["POST", text])
        #expect(try await manager.put("a", parameters: [1, 2], as: [String].self) == ["PUT", "[1,2]"])
        #expect(try await manager.patch("a", parameters: ["x"]) as? [String] == ["PATCH", #"["x"]"#])
        let ends = Recorder<[String]>()
        manager.completionQueue = DispatchQueue(label: "callbacks")
        manager.post("a", parameters: [], success: { _, object in ends.append(object as? [String] ?? []) })
        #expect(try await ends.wait() == [["POST", "[]"]])
        manager.requestSerializer = HTTPRequestSerializer()
        await #expect(throws: RequestSerializationError.self) { try await manager.post("a", parameters: [1]) }
    }

    @Test func dataIsBase64AndNeverItsDescription() throws {
        let bytes = Data([1, 2, 0xFF])
        let query = try QueryString(["k": bytes, "l": [bytes]])
        #expect(query.description == "k=AQL/&l%5B%5D=AQL/")
        #expect(try QueryString(["k": NSData(data: bytes)]).description == "k=AQL/")
        let json = JSONRequestSerializer(writingOptions: .withoutEscapingSlashes)
        #expect(try json.body(of: ["k": bytes] as [String: Any]) == Data(#"{"k":"AQL/"}"#.utf8))
    }

    // MARK: - The serializer of a manager

    @Test func fieldsOfAnySerializerChangeInPlace() throws {
        let manager = OperationManager(baseURL: URL(string: "http://example.com/"))
        let serializers: [any RequestSerializer] = [
            HTTPRequestSerializer(), JSONRequestSerializer(), PropertyListRequestSerializer(),
        ]
        for serializer in serializers {
            manager.requestSerializer = serializer
            try manager.requestSerializer.setValue("k", forHTTPHeaderField: "X-Key")
            #expect(manager.requestSerializer.value(forHTTPHeaderField: "x-key") == "k")
            try manager.requestSerializer.setAuthorization(username: "u", password: "p")
            #expect(manager.requestSerializer.httpRequestHeaders["Authorization"] == "Basic dTpw")
            manager.requestSerializer.clearAuthorization()
            #expect(manager.requestSerializer.httpRequestHeaders["Authorization"] == nil)
            #expect(throws: RequestSerializationError.self) {
                try manager.requestSerializer.setValue("a\nb", forHTTPHeaderField: "X-Key")
            }
            #expect(manager.requestSerializer.value(forHTTPHeaderField: "X-Key") == "k")
            #expect(manager.copied().requestSerializer.value(forHTTPHeaderField: "X-Key") == "k")
            let none: String? = nil
            try manager.requestSerializer.setValue(none, forHTTPHeaderField: "X-Key")
            #expect(manager.requestSerializer.value(forHTTPHeaderField: "X-Key") == nil)
        }
        let session = HTTPSessionManager(baseURL: nil)
        try session.requestSerializer.setValue("k", forHTTPHeaderField: "X-Key")
        #expect(session.requestSerializer.value(forHTTPHeaderField: "X-Key") == "k")
    }

    /// No `try`: this compiles because nothing throws.
    @Test func clearingAFieldCannotFail() throws {
        let (manager, session) = (OperationManager(), HTTPSessionManager(baseURL: nil))
        let serializers: [any RequestSerializer] = [
            HTTPRequestSerializer(), JSONRequestSerializer(), PropertyListRequestSerializer(),
        ]
        for var serializer in serializers {
            try serializer.setValue("k", forHTTPHeaderField: "X-Key")
            (manager.requestSerializer, session.requestSerializer) = (serializer, serializer)
            manager.requestSerializer.setValue(nil, forHTTPHeaderField: "x-key")
            session.requestSerializer.setValue(nil, forHTTPHeaderField: "X-KEY")
            serializer.setValue(nil, forHTTPHeaderField: "X-Key")
            // Neither is there a field with this name.
            serializer.setValue(nil, forHTTPHeaderField: "no name\n")
            for left in [manager.requestSerializer, session.requestSerializer, serializer] {
                #expect(left.httpRequestHeaders.keys.sorted() == ["Accept-Language", "User-Agent"])
            }
        }
        var (form, json) = (HTTPRequestSerializer(), JSONRequestSerializer())
        form.setValue(nil, forHTTPHeaderField: "User-Agent")
        json.setValue(nil, forHTTPHeaderField: "User-Agent")
        #expect(form.value(forHTTPHeaderField: "User-Agent") == nil)
        #expect(json.value(forHTTPHeaderField: "User-Agent") == nil)
    }

    /// Read, changed and written in one hold of the lock: none of the changes is lost.
    @Test func changesFromManyThreadsAreAllThere() {
        let manager = OperationManager()
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
            for index in 0..<50 {
                try? manager.requestSerializer.setValue("1", forHTTPHeaderField: "X-\(thread)-\(index)")
            }
        }
        let fields = manager.requestSerializer.httpRequestHeaders.keys.count { $0.hasPrefix("X-") }
        #expect(fields == 400)
    }

    @Test func aSerializerWithoutFieldsRefusesThem() throws {
        struct Plain: RequestSerializer {
            func request(bySerializing request: URLRequest, with parameters: Any?) -> URLRequest { request }
        }
        let manager = OperationManager()
        manager.requestSerializer = Plain()
        let refused = RequestSerializationError.fieldsNotSupported(serializer: "Plain")
        #expect(throws: refused) {
            try manager.requestSerializer.setValue("a", forHTTPHeaderField: "X-Key")
        }
        #expect(throws: refused) {
            try manager.requestSerializer.setAuthorization(username: "u", password: "p")
        }
        // There is nothing to clear.
        manager.requestSerializer.clearAuthorization()
        manager.requestSerializer.setValue(nil, forHTTPHeaderField: "X-Key")
        #expect(manager.requestSerializer.httpRequestHeaders.isEmpty)
        #expect(manager.requestSerializer.value(forHTTPHeaderField: "X-Key") == nil)
    }
}
