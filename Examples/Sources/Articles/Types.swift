// The samples stand as the documentation has them:
// swift-format-ignore-file

import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingImages

// The samples in the comments of public types. Compiled, and not called.

nonisolated struct Answer: Decodable, Sendable {
    let token: String
    let expiry: Date
}

@MainActor
final class View {
    var isSpinning = false
    var isOn = false
    var fraction = 0.0
}

struct Hash {
    var count = 0

    mutating func update(data: Data) { count += data.count }
}

@MainActor
final class Types {
    let manager = OperationManager()
    let queue = TransferQueue()

    func show(_ users: [User]) {}
    func offerAgain() {}

    // MARK: - Cookies

    func cookies(_ file: URL) throws {
        // MARK: Example

        let jar = CookieJar()
        manager.cookieJar = jar
        try jar.save(to: file)

        // MARK: End of example
    }

    // MARK: - Operations and batches

    func batches(_ urls: [URL], _ items: [DownloadItem], _ folder: URL) async throws {
        do {
            // MARK: Example

            let batch = OperationBatch(urls.map { HTTPRequestOperation(request: URLRequest(url: $0)) })
            batch.add(to: queue)
            for result in await batch.results() { print(result) }

            // MARK: End of example
        }
        // MARK: Example

        let batch = try manager.downloads(items, journal: folder.appendingPathComponent("batch.journal"))
        for result in await batch.results() { print(result) }

        // MARK: End of example
    }

    func updates(_ operation: HTTPRequestOperation, _ bar: View) async {
        // MARK: Example

        for await progress in operation.downloadUpdates { bar.fraction = progress.fraction ?? 0 }

        // MARK: End of example
    }

    func pieces(_ operation: HTTPRequestOperation) async throws {
        var hash = Hash()
        // MARK: Example

        let pieces = operation.bodyPieces()
        queue.addOperation(operation)
        for try await piece in pieces { hash.update(data: piece) }

        // MARK: End of example
    }

    func settings(_ operation: HTTPRequestOperation, _ backups: [HTTPRequestOperation]) {
        // MARK: Example

        manager.retryPolicy = RetryPolicy()
        operation.timeouts.connect = 5

        // MARK: End of example
        // MARK: Example

        let night = BandwidthLimit(bytesPerSecond: 500_000)
        for operation in backups { operation.uploadLimits = [night] }
        night.bytesPerSecond = nil   // unlimited

        // MARK: End of example
    }

    func failure(_ error: any Error) {
        // MARK: Example

        let failure = RequestFailure(error)
        if failure.isCancelled { return }
        if failure.statusCode == 404 { show([]) }
        if failure.isTemporary { offerAgain() }

        // MARK: End of example
    }

    // MARK: - Managers and sessions

    func responses() async throws {
        do {
            // MARK: Example

            let page = try await manager.response("GET", "users", as: [User].self)
            print(page.value.count, page.statusCode, page.value(forHTTPHeaderField: "Link") ?? "the last page")

            // MARK: End of example
        }
        // MARK: Example

        let page = try await manager.response("GET", "users", as: [User].self)
        let next = page.value(forHTTPHeaderField: "Link")

        // MARK: End of example
        // MARK: Example

        let users = try await manager.response("GET", "users", with: DecodableResponseSerializer([User].self))

        // MARK: End of example
        // MARK: Example

        let robots = try await manager.response("GET", "robots.txt", with: StringResponseSerializer())

        // MARK: End of example
        print(next ?? "the last page", users.value.count, robots.value)
    }

    func verbs(_ user: User, _ file: URL) async throws {
        // MARK: Example

        manager.get("users", parameters: ["page": 2], success: { operation, users in }, failure: { operation, error in })
        manager.get("users", as: [User].self, success: { operation, users in })
        let users = try await manager.get("users", parameters: ["page": 2])
        let made = try await manager.post("users", parameters: .encoding(user), as: User.self)

        // MARK: End of example
        print(users ?? "nothing", made)
        // MARK: Example

        try await manager.get("users", parameters: ["page": 2, "sort": "name"])
        try await manager.post("users", parameters: .encoding(user))
        try await manager.post("photos", parameters: .form(["title": "Lake"]) { form in
            try form.appendPart(withFileURL: file, name: "photo")
        })
        try await manager.put("photos/1", parameters: .body(.file(file)))

        // MARK: End of example
    }

    func fields(_ token: String) throws {
        // MARK: Example

        try manager.requestSerializer.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")

        // MARK: End of example
    }

    func authentication(_ login: OperationManager, saved: String) throws {
        // MARK: Example

        manager.tokenSource = TokenSource(TokenSource.Token(saved)) { last in
            let answer = try await login.post("token", as: Answer.self)    // with another manager
            return TokenSource.Token(answer.token, expiry: answer.expiry)
        }

        // MARK: End of example
    }

    func sessions(_ request: URLRequest) async throws {
        do {
            // MARK: Example

            let session = HTTPSessionManager(baseURL: URL(string: "https://example.com/v1"))
            session.get("users", parameters: ["page": 2], success: { task, users in }, failure: { task, error in })
            let user = try await session.post("users", parameters: ["name": "Ada"])

            // MARK: End of example
            print(user ?? "nothing")
        }
        do {
            // MARK: Example

            let session = URLSessionManager()
            let task = session.dataTask(with: request) { response, object, error in print(error ?? object ?? "") }
            task.resume()

            // MARK: End of example
        }
        // MARK: Example

        var configuration = SessionConfiguration.ephemeral
        configuration.additionalHeaders = ["Accept-Language": "de"]
        configuration.settings.timeouts.total = 600
        let session = URLSessionManager(configuration: configuration)

        // MARK: End of example
        print(session)
    }

    func stubs(_ data: Data) {
        // MARK: Example

        let stubs = RequestStubs([RequestStub("GET", "https://api.example.com/users/1", .json(["name": "Ann"]))])
        manager.stubs = stubs

        // MARK: End of example
        // MARK: Example

        let responses: [StubResponse] = [
            .json(["id": 1, "name": "Ann"]).delayed(by: 0.2),
            .content(data, entityTag: "\"v1\"").breaking(after: 1000),
            .failure(URLError(.notConnectedToInternet)),
        ]

        // MARK: End of example
        print(responses.count)
    }

    // MARK: - Serializers

    func requests() throws {
        // MARK: Example

        var serializer = JSONRequestSerializer()
        try serializer.setValue("secret", forHTTPHeaderField: "X-Key")
        serializer.timeoutInterval = 5

        // MARK: End of example
        manager.requestSerializer = serializer
    }

    func bodies(_ url: URL, _ video: URL) throws {
        // MARK: Example

        var request = URLRequest(url: url)
        request.httpMethod = "PUT"
        request.bodySource = try .file(video)

        // MARK: End of example
        manager.operationQueue.addOperation(manager.operation(for: request))
    }

    func archives(_ data: Data) throws {
        // MARK: Example

        ImageResponseSerializer.registerForArchives()
        let archive = try JSONDecoder().decode(OperationManagerArchive.self, from: data)
        let manager = OperationManager(archive: archive)

        // MARK: End of example
        print(manager)
    }

    func decoding() {
        // MARK: Example

        let serializer = DecodableResponseSerializer([User].self) {
            let decoder = JSONDecoder()
            decoder.keyDecodingStrategy = .convertFromSnakeCase
            return decoder
        }

        // MARK: End of example
        manager.responseSerializer = serializer
    }

    func validation() {
        // MARK: Example

        var serializer = JSONResponseSerializer()
        serializer.acceptableStatusCodes?.insert(404)

        // MARK: End of example
        manager.responseSerializer = serializer
    }

    // MARK: - What is shown

    func caching() {
        // MARK: Example

        let cache = ResponseCache(
            memoryCapacity: 20 << 20,
            diskCapacity: 500 << 20,
            directory: URL(fileURLWithPath: "/var/cache/app/responses", isDirectory: true)
        )

        // MARK: End of example
        manager.cache = cache
    }

    func reachability(_ queue: OperationQueue) {
        // MARK: Example

        let reachability = NetworkReachabilityManager.shared
        reachability.setStatusChange { status in queue.isSuspended = !status.isReachable }
        reachability.startMonitoring()

        // MARK: End of example
    }

    func activity(_ operation: HTTPRequestOperation, _ spinner: View, _ lamp: View) {
        // MARK: Example

        operation.addObserver(NetworkActivityManager { isActive in spinner.isSpinning = isActive })

        // MARK: End of example
        // MARK: Example

        NetworkActivityManager.shared.setNetworkingActivityAction { isActive in lamp.isOn = isActive }
        NetworkActivityManager.shared.isEnabled = true

        // MARK: End of example
    }

    // MARK: - Images

    func decoder(_ data: Data) throws {
        // MARK: Example

        let image = try ImageDecoder(maximumPixelSize: 256).image(from: data)

        // MARK: End of example
        print(image.pixelWidth)
    }

    func downloader(_ url: URL) async throws {
        // MARK: Example

        let image = try await ImageDownloader.shared.image(from: url)

        // MARK: End of example
        print(image.pixelWidth)
    }
}
