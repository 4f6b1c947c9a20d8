// The examples stand as the documentation has them:
// swift-format-ignore-file

import Foundation
import FoundationNetworking
import OperationNetworking

// The recipes of the migration guide. Compiled, and not called.

// MARK: Example

/// Takes the `data` out of `{"status": "ok", "data": ...}`; another status is an error.
nonisolated struct EnvelopeSerializer: ValidatingResponseSerializer {
    struct Refusal: Error {
        let message: String
    }

    var validation = JSONResponseSerializer().validation

    func responseObject(for response: HTTPURLResponse?, data: Data?) throws -> (any Sendable)? {
        var json = JSONResponseSerializer()
        json.validation = validation
        let object = try json.responseObject(for: response, data: data)
        guard let envelope = object as? [String: any Sendable] else { return object }
        guard envelope["status"] as? String == "ok" else {
            throw Refusal(message: envelope["message"] as? String ?? "no message")
        }
        return envelope["data"]
    }
}

// MARK: End of example

// MARK: Example

/// An operation that counts the connections it needed.
nonisolated final class CountingOperation: HTTPRequestOperation, @unchecked Sendable {
    // @unchecked: what it adds is behind a lock.
    private let lock = NSLock()
    private var lockedCount = 0

    var connectionCount: Int { lock.withLock { lockedCount } }

    override func didFinish() {
        super.didFinish()
        lock.withLock { lockedCount = metrics?.connectionCount ?? 0 }
    }
}

// MARK: End of example

// MARK: Example

/// A manager with a priority for its operations.
nonisolated final class PrioritizedManager: OperationManager, @unchecked Sendable {
    // @unchecked: what it adds is behind a lock.
    private let lock = NSLock()
    private var lockedPriority = Operation.QueuePriority.normal

    var priority: Operation.QueuePriority {
        get { lock.withLock { lockedPriority } }
        set { lock.withLock { lockedPriority = newValue } }
    }

    override func operation(
        for request: URLRequest,
        @_inheritActorContext success: HTTPRequestOperation.SuccessHandler? = nil,
        @_inheritActorContext failure: HTTPRequestOperation.FailureHandler? = nil
    ) -> HTTPRequestOperation {
        let operation = super.operation(for: request, success: success, failure: failure)
        operation.queuePriority = priority
        return operation
    }

    override func copied() -> Self {
        let copy = super.copied()
        copy.priority = priority
        return copy
    }
}

// MARK: End of example

// MARK: Example

/// The client of one service.
nonisolated final class PhotoClient: HTTPSessionManager, @unchecked Sendable {
    // @unchecked: what it adds is behind a lock.
    private let lock = NSLock()
    private var lockedAlbum = "all"

    var album: String {
        get { lock.withLock { lockedAlbum } }
        set { lock.withLock { lockedAlbum = newValue } }
    }

    convenience init(service url: URL) {
        self.init(baseURL: url)
        requestSerializer = JSONRequestSerializer()
        retryPolicy = RetryPolicy(maximumRetries: 2)
    }

    override func copied() -> Self {
        let copy = super.copied()
        copy.album = album
        return copy
    }

    func photos() async throws -> [String] {
        try await get("photos", parameters: ["album": album], as: [String].self)
    }
}

// MARK: End of example

// MARK: Example

/// A client that cannot be made without an album.
nonisolated final class AlbumClient: HTTPSessionManager, @unchecked Sendable {
    // @unchecked: what it adds does not change.
    let album: String

    init(album: String, service url: URL) {
        self.album = album
        super.init(baseURL: url)
    }

    required init(baseURL: URL?, configuration: SessionConfiguration) {
        album = "all"
        super.init(baseURL: baseURL, configuration: configuration)
    }
}

// MARK: End of example

// MARK: Example

/// Adds the version of the API to the parameters of each request, and lets another serializer do the rest.
nonisolated struct VersionedSerializer: RequestSerializer {
    var base = HTTPRequestSerializer()

    func emptyRequest(method: String, url: URL, headers: [String: String]) throws -> URLRequest {
        try base.emptyRequest(method: method, url: url, headers: headers)
    }

    func request(bySerializing request: URLRequest, with parameters: Any?) throws -> URLRequest {
        var fields = parameters as? [String: Any] ?? [:]
        fields["api"] = 3
        return try base.request(bySerializing: request, with: fields)
    }
}

// MARK: End of example

// MARK: Example

/// The result of an upload that has no body to parse: what the server's fields say.
nonisolated struct StoredObject: Sendable {
    let url: URL?
    let entityTag: String?
}

nonisolated struct StoredObjectSerializer: TransferResponseSerializer, TypedResponseSerializer {
    typealias Object = StoredObject

    func responseObject(for transfer: ReceivedTransfer) throws -> (any Sendable)? {
        try HTTPResponseSerializer().validate(transfer.response, data: transfer.data)
        return StoredObject(
            url: transfer.request?.url,
            entityTag: transfer.response?.value(forHTTPHeaderField: "ETag"))
    }
}

// MARK: End of example

nonisolated struct Login: Decodable, Sendable {
    let token: String
    let expiry: Date
}

nonisolated final class EndCounter: OperationObserver {
    func operationDidFinish(_ operation: ConnectionOperation, wasRunning: Bool) {}
}

@MainActor
final class Recipes {
    var title = ""
    let manager = OperationManager()
    let queue = TransferQueue()

    func envelope() async throws {
        // MARK: Example

        manager.responseSerializer = EnvelopeSerializer()
        let users = try await manager.get("users")

        // MARK: End of example
        title = "\(users ?? "nothing")"
    }

    func token(_ login: OperationManager, saved: String) async throws {
        // MARK: Example

        manager.tokenSource = TokenSource(TokenSource.Token(saved)) { last in
            let answer = try await login.post("token", as: Login.self)    // by another manager
            return TokenSource.Token(answer.token, expiry: answer.expiry)
        }
        let users = try await manager.get("users")                       // after a 401: a new token, once more

        // MARK: End of example
        title = "\(users ?? "nothing")"
    }

    func late(_ request: URLRequest, _ stream: OutputStream) async throws {
        // MARK: Example

        let object = try await manager.get("big.iso", configure: { operation in operation.outputStream = stream })
        let operation = manager.operation(for: request)      // not in the queue yet, so it can be configured
        operation.responseSerializer = HTTPResponseSerializer()
        manager.operationQueue.addOperation(operation)
        let data = try await operation.value(as: Data.self)

        // MARK: End of example
        title = "\(object ?? "nothing"), \(data)"
    }

    func oneAfterAnother(
        _ manager: OperationManager,
        _ request: URLRequest,
        _ imageRequest: URLRequest,
        _ folder: URL
    ) {
        // MARK: Example

        let image = manager.operation(for: imageRequest)
        let link = manager.operation(
            for: request,
            success: { _, object in
                image.outputFile = folder.appendingPathComponent("\(object ?? "image")")
                manager.operationQueue.addOperation(image)
            })
        manager.operationQueue.addOperation(link)

        // MARK: End of example
    }

    func posts() async throws {
        // MARK: Example

        var policy = RetryPolicy(maximumRetries: 2)
        policy.methods.insert("POST")       // only if the server treats a repeated request as one
        manager.retryPolicy = policy
        try await manager.post("users", parameters: ["name": "Ada"], headers: ["Idempotency-Key": UUID().uuidString])

        // MARK: End of example
    }

    // MARK: Example

    func users(_ success: @escaping @MainActor (any Sendable) -> Void) {
        manager.get("users", success: { _, object in success(object) })
    }
    func titles(@_inheritActorContext _ success: HTTPRequestOperation.SuccessHandler?) {
        manager.get("titles", success: success)
    }

    // MARK: End of example

    func handingOn() {
        users { users in self.title = "\(users)" }
        titles { _, object in self.title = "\(object ?? "nothing")" }
    }

    func mainActor() {
        // MARK: Example

        manager.get("title") { operation, object in self.title = object as? String ?? "" }

        // MARK: End of example
    }

    func variables(_ path: String, isNew: Bool) {
        // MARK: Example

        let success = { @MainActor (operation: HTTPRequestOperation, object: (any Sendable)?) in
            self.title = object as? String ?? ""
        }
        let failure = { @MainActor (operation: HTTPRequestOperation?, error: any Error) in
            self.title = error.localizedDescription
        }
        if isNew {
            manager.post(path, success: success, failure: failure)
        } else {
            manager.put(path, success: success, failure: failure)
        }

        // MARK: End of example
    }

    func stored(_ file: URL) async throws {
        // MARK: Example

        let object = try await manager.response(
            "PUT", "photos/7", parameters: .body(.file(file)), with: StoredObjectSerializer()).value

        // MARK: End of example
        title = object.entityTag ?? "nothing"
    }

    func client(_ url: URL) async throws {
        let client = PhotoClient(service: url)
        title = try await client.copied().photos().joined()
        title += AlbumClient(album: "summer", service: url).album
        manager.requestSerializer = VersionedSerializer()
    }

    func failures(_ operation: HTTPRequestOperation) async {
        // MARK: Example

        do {
            try await manager.post("users", parameters: ["name": "Ada"])
        } catch {
            let failure = RequestFailure(error)
            if failure.isCancelled { return }
            if failure.statusCode == 401 { title = "log in again" }
            if failure.isTemporary { title = "try later" }
        }

        // MARK: End of example
    }

    func observing(_ operation: HTTPRequestOperation, _ observer: EndCounter) {
        // MARK: Example

        operation.addObserver(observer)         // an OperationObserver: starts, pauses, responses, the end
        queue.addOperation(operation)

        // MARK: End of example
    }

    func lists() async throws {
        // MARK: Example

        manager.requestSerializer = JSONRequestSerializer()
        try await manager.post("tags", parameters: ["red", 2, ["blue": true]])

        // MARK: End of example
    }
}

/// Stands for what signs requests.
nonisolated struct Signer: Sendable {
    func signature(of request: URLRequest) async throws -> String { "\(request.url?.path.count ?? 0)" }
}

func sign(requestsOf manager: OperationManager, by signer: Signer) {
    // MARK: Example

    manager.requestAdapters = [
        ClosureRequestAdapter { request, _ in
            var request = request
            request.setValue(try await signer.signature(of: request), forHTTPHeaderField: "X-Signature")
            return request
        }
    ]

    // MARK: End of example
}

func awaitBesideClosures(_ manager: OperationManager) async throws {
    // MARK: Example

    let users = try await manager.get("users")
    let (ends, end) = AsyncStream<Void>.makeStream()
    manager.get(
        "photos",
        success: { _, photos in print(photos ?? "nothing"); end.finish() },
        failure: { _, error in print(error); end.finish() })
    for await _ in ends {}              // closures are called meanwhile
    print(users ?? "nothing")

    // MARK: End of example
}

func runTheMainRunLoop(_ manager: OperationManager) {
    // MARK: Example

    Task {
        let users = try? await manager.get("users")
        print(users ?? "nothing")
        exit(0)
    }
    RunLoop.main.run()

    // MARK: End of example
}
