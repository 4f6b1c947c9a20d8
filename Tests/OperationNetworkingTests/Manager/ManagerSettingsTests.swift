import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

@Suite(.timeLimit(.minutes(1)))
struct ManagerSettingsTests {
    // MARK: - Cancelling

    @Test("O5-15: cancelling by method and path cancels only what matches", arguments: [true, false])
    func cancelling(namesMethod: Bool) throws {
        let manager = OperationManager(baseURL: URL(string: "http://127.0.0.1:9/api/"))
        manager.operationQueue.isSuspended = true
        let get = try #require(manager.get("users", parameters: ["page": 2], success: nil, failure: nil))
        let post = try #require(manager.post("users", success: nil, failure: nil))
        let other = try #require(manager.get("users/1", success: nil, failure: nil))
        let elsewhere = try #require(manager.get("http://127.0.0.1:10/api/users", success: nil, failure: nil))
        try manager.cancelAllOperations(method: namesMethod ? "get" : nil, path: "users")
        #expect(get.isCancelled)
        #expect(post.isCancelled == !namesMethod)
        #expect(!other.isCancelled)
        #expect(!elsewhere.isCancelled)
        manager.operationQueue.cancelAllOperations()
        manager.operationQueue.isSuspended = false
    }

    @Test(arguments: [
        ("http://Example.com/", "users", "http://example.com:80/users", true),
        ("https://h/", "users", "https://h:443/users?page=2", true),
        ("http://h/", "a/b", "http://h/a%2Fb", false),
        ("http://h/", "a%2Fb", "http://h/a%2fb", true), ("http://h/", "~a", "http://h/%7Ea?b", true),
        ("http://h", "", "http://h/", true), ("http://h/", "é", "http://h/%c3%a9", true),
        ("http://h/", "a", "https://h/a", false),
    ])
    func pathsAreComparedLikeServersDo(base: String, path: String, address: String, isCancelled: Bool) throws
    {
        let manager = OperationManager(baseURL: URL(string: base))
        manager.operationQueue.isSuspended = true
        let operation = try #require(manager.get(address, success: nil, failure: nil))
        try manager.cancelAllOperations(method: nil, path: path)
        #expect(operation.isCancelled == isCancelled)
        manager.operationQueue.cancelAllOperations()
        manager.operationQueue.isSuspended = false
    }

    @Test func cancellingByAnInvalidPathIsAnError() {
        #expect(throws: URLError.self) {
            try OperationManager().cancelAllOperations(method: "GET", path: "users")
        }
    }

    // MARK: - Fields

    /// Foundation would drop the field and say nothing.
    @Test(arguments: ["a\r\nX-Injected: b", "a\nb", "a\rb", "a\0b"])
    func aFieldThatWouldBecomeSeveralIsAnErrorEverywhere(value: String) async throws {
        let server = try ScriptedServer { _ in .respond(body: "x") }
        let manager = OperationManager(baseURL: server.url)
        manager.completionQueue = DispatchQueue(label: "callbacks")
        let error = RequestSerializationError.invalidFieldValue(name: "X-Test")
        let headers = ["X-Test": value]
        await #expect(throws: error) { try await manager.get("a", headers: headers) }
        await #expect(throws: error) {
            try await manager.post("a", parameters: .encoding([1]), headers: headers)
        }
        await #expect(throws: error) { try await manager.upload(.data(Data()), to: "a", headers: headers) }
        await #expect(throws: error) {
            try await manager.put(
                "a",
                parameters: .form { $0.appendPart(withFormData: Data(), name: "a") },
                headers: headers
            )
        }
        await #expect(throws: error) {
            try await manager.post(
                "a",
                parameters: .form { try $0.appendPart(withHeaders: headers, body: Data()) }
            )
        }
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        let item = DownloadItem(url: server.url, destination: file, headers: headers)
        for result in await (try manager.downloads([item])).results() {
            #expect(throws: error) { try result.get() }
        }
        // What Foundation takes.
        var request = URLRequest(url: server.url)
        request.allHTTPHeaderFields = headers
        let operation = manager.operation(for: request)
        operation.start()
        await #expect(throws: error) { try await operation.value }
        #expect(server.requests.isEmpty)
    }

    // MARK: - Secrets

    /// A server may name any address in what it answers, as the next page for example.
    @Test(arguments: [
        ("http://api.example/v1/", "http://api.example/v1/next", true),
        ("http://api.example/v1/", "http://API.example:80/other", true),
        ("http://api.example/v1/", "https://api.example/v1/next", false),
        ("http://api.example/v1/", "http://api.example:8080/v1/next", false),
        ("http://api.example/v1/", "http://www.example/v1/next", false),
        (nil, "http://www.example/", true),
    ])
    func secretsAreForTheOriginOfTheBaseURL(base: String?, target: String, isHome: Bool) throws {
        let manager = OperationManager(baseURL: base.flatMap { URL(string: $0) })
        manager.credential = Credential(user: "alice", password: "secret")
        manager.tokenSource = TokenSource(TokenSource.Token("secret")) { _ in TokenSource.Token("other") }
        let request = URLRequest(url: try #require(URL(string: target)))
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("none")
        for operation in [manager.operation(for: request), manager.downloadOperation(for: request, to: file)]
        {
            #expect((operation.credential != nil) == isHome)
            #expect((operation.tokenSource != nil) == isHome)
        }
    }

    // MARK: - Copies

    private struct Marked: ResponseSerializer {
        let mark: Int

        func responseObject(for response: HTTPURLResponse?, data: Data?) throws -> (any Sendable)? { mark }
    }

    @Test("F33: a copy has all settings")
    func copies() throws {
        let manager = OperationManager(baseURL: URL(string: "http://localhost/v1"))
        let (queue, group) = (DispatchQueue(label: "callbacks"), DispatchGroup())
        let (up, down) = (BandwidthLimit(bytesPerSecond: 1), BandwidthLimit(bytesPerSecond: 2))
        var requests = HTTPRequestSerializer()
        try requests.setValue("1", forHTTPHeaderField: "X-Marked")
        requests.timeoutInterval = 5
        manager.requestSerializer = requests
        manager.responseSerializer = Marked(mark: 7)
        manager.completionQueue = queue
        manager.completionGroup = group
        manager.trustAnchors = .file(URL(fileURLWithPath: "/ca.pem"))
        manager.retryPolicy = RetryPolicy(maximumRetries: 7)
        manager.uploadLimits = [up]
        manager.downloadLimits = [down]
        manager.operationQueue.maxConcurrentOperationCount = 3
        manager.operationQueue.name = "transfers"
        let copy = try #require(manager.copy() as? OperationManager)
        #expect(copy.baseURL?.absoluteString == "http://localhost/v1/")
        let request = try copy.requestSerializer.request(
            method: "GET",
            url: copy.url(for: "a"),
            parameters: nil,
            headers: [:]
        )
        #expect(request.value(forHTTPHeaderField: "X-Marked") == "1")
        #expect(request.timeoutInterval == 5)
        let operation = copy.operation(for: request)
        #expect((operation.responseSerializer as? Marked)?.mark == 7)
        #expect(operation.completionQueue === queue)
        #expect(operation.completionGroup === group)
        #expect(operation.trustAnchors == .file(URL(fileURLWithPath: "/ca.pem")))
        #expect(operation.retryPolicy == RetryPolicy(maximumRetries: 7))
        #expect(operation.uploadLimits.first === up)
        #expect(operation.downloadLimits.first === down)
        #expect(copy.operationQueue !== manager.operationQueue)
        #expect(copy.operationQueue.maxConcurrentOperationCount == 3)
        #expect(copy.operationQueue.name == "transfers")
    }

    @Test func aCopyOfASubclassIsOne() {
        final class Own: OperationManager, @unchecked Sendable {
            // @unchecked: as its superclass; it adds nothing.
        }
        #expect(Own().copy() is Own)
    }

    @Test func aSubclassGivesItsSettingsToItsCopies() {
        final class Marked: OperationManager, @unchecked Sendable {
            // @unchecked: as its superclass; it adds what is Sendable.
            let marks = Recorder<Int>()

            override func copied() -> Self {
                let copy = super.copied()
                for mark in marks.elements { copy.marks.append(mark) }
                return copy
            }
        }
        let manager = Marked()
        manager.marks.append(7)
        #expect(manager.copied().marks.elements == [7])
        #expect((manager.copy() as? Marked)?.marks.elements == [7])
    }

    @Test func aSerializerThatIsReplacedMayAskItsManager() {
        final class Asking: Sendable {
            let manager: OperationManager
            let ends: Recorder<Bool>

            init(_ manager: OperationManager, _ ends: Recorder<Bool>) {
                self.manager = manager
                self.ends = ends
            }

            deinit {
                ends.append(manager.requestSerializer is HTTPRequestSerializer)
            }
        }
        let manager = OperationManager()
        let ends = Recorder<Bool>()
        do {
            let asking = Asking(manager, ends)
            var serializer = HTTPRequestSerializer()
            serializer.queryStringSerialization = { _, _ in "\(asking)" }
            manager.requestSerializer = serializer
        }
        #expect(ends.elements.isEmpty)
        manager.requestSerializer = HTTPRequestSerializer()
        #expect(ends.elements == [true])
    }

    // MARK: - Order

    @Test("O5-22: operations are in the queue in the order of the calls")
    func order() throws {
        let manager = OperationManager(baseURL: URL(string: "http://127.0.0.1:9/"))
        manager.operationQueue.isSuspended = true
        for index in 0..<20 { manager.get("\(index)", success: nil, failure: nil) }
        let paths = manager.operationQueue.operations.compactMap {
            ($0 as? ConnectionOperation)?.request.url?.path
        }
        #expect(paths == (0..<20).map { "/\($0)" })
        manager.operationQueue.cancelAllOperations()
        manager.operationQueue.isSuspended = false
    }
}
