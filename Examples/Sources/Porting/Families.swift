// The examples stand as the documentation has them:
// swift-format-ignore-file

import Dispatch
import Foundation
import FoundationNetworking
import FoundationXML
import OperationNetworking

// Each family of AFNetworking's classes, as the migration guide writes it. Compiled, and not called.

nonisolated struct User: Codable, Sendable {
    let id: Int
    let name: String
}

nonisolated struct Problem: Decodable, Sendable {
    let title: String
}

final class SlideReader: NSObject, XMLParserDelegate {}

@MainActor
final class Families {
    var title = ""
    let manager = OperationManager()
    let queue = TransferQueue()

    func show(_ object: Any?) {
        title = "\(object ?? "nothing")"
    }

    // MARK: - Operations

    func request(_ request: URLRequest) async throws {
        // MARK: Example

        let operation = HTTPRequestOperation(request: request)
        operation.responseSerializer = JSONResponseSerializer()
        queue.addOperation(operation)
        let object = try await operation.value

        // MARK: End of example
        show(object)
    }

    func callbacks(_ operation: HTTPRequestOperation) {
        // MARK: Example

        operation.setCompletion(
            success: { operation, object in self.show(object) },
            failure: { operation, error in self.show(error) })
        queue.addOperation(operation)

        // MARK: End of example
    }

    func batch(_ members: [HTTPRequestOperation]) async {
        // MARK: Example

        let batch = OperationBatch(members)
        batch.add(to: queue)
        let results = await batch.results()       // in the order of the members

        // MARK: End of example
        show(results)
    }

    func batchOfOperations(_ members: [HTTPRequestOperation]) {
        // MARK: Example

        let operations = ConnectionOperation.batch(
            of: members,
            progress: { finished, total in self.title = "\(finished) of \(total)" },
            completion: { operations in self.show(operations.count) })
        queue.addOperations(operations, waitUntilFinished: false)

        // MARK: End of example
    }

    func pausing(_ operation: HTTPRequestOperation) {
        // MARK: Example

        operation.pause()       // operation.isPaused
        operation.resume()

        // MARK: End of example
    }

    func download(_ request: URLRequest, _ file: URL) async throws {
        // MARK: Example

        let download = DownloadOperation(request: request, to: file)
        queue.addOperation(download)
        let saved = try await download.savedFile

        // MARK: End of example
        show(saved)
    }

    func downloads(_ urls: [URL], _ folder: URL, _ journal: URL) async throws {
        // MARK: Example

        let items = urls.map { url in
            DownloadItem(url: url, destination: folder.appendingPathComponent(url.lastPathComponent))
        }
        let downloads = try manager.downloads(items, journal: journal)
        let files = await downloads.results()

        // MARK: End of example
        show(files)
    }

    func retry() async throws {
        // MARK: Example

        manager.retryPolicy = RetryPolicy(maximumRetries: 5)
        let foo = try await manager.get("foo")

        // MARK: End of example
        show(foo)
    }

    func destinations(_ operation: HTTPRequestOperation, path: String, url: URL) {
        // MARK: Example

        operation.outputFile = URL(fileURLWithPath: path)     // not NAME.part: such names are for downloads' own files

        // MARK: End of example
        // MARK: Example

        operation.outputStream = OutputStream(url: url, append: false)

        // MARK: End of example
    }

    func progress(_ operation: HTTPRequestOperation) {
        // MARK: Example

        operation.setDownloadProgress { bytes, total, expected in self.title = "\(total) of \(expected)" }

        // MARK: End of example
    }

    func redirect(_ operation: HTTPRequestOperation) {
        // MARK: Example

        operation.setRedirect { operation, request, redirect in request }

        // MARK: End of example
    }

    func completion(_ group: DispatchGroup) {
        // MARK: Example

        manager.completionQueue = DispatchQueue(label: "callbacks")
        manager.completionGroup = group

        // MARK: End of example
    }

    func cancelling(_ operation: HTTPRequestOperation) throws {
        // MARK: Example

        operation.cancel()
        manager.operationQueue.cancelAllOperations()
        try manager.cancelAllOperations(method: "GET", path: "users")

        // MARK: End of example
    }

    // MARK: - Serializers

    func requests() async throws {
        // MARK: Example

        var serializer = JSONRequestSerializer()
        try serializer.setValue("secret", forHTTPHeaderField: "X-Key")
        serializer.timeoutInterval = 5
        manager.requestSerializer = serializer
        try await manager.post("users", parameters: ["name": "Ada"])

        // MARK: End of example
    }

    func settings() throws {
        // MARK: Example

        try manager.requestSerializer.setTimeoutInterval(20)
        try manager.requestSerializer.setCachePolicy(.reloadIgnoringLocalCacheData)
        try manager.responseSerializer.setAcceptableContentTypes(["text/html"])

        // MARK: End of example
    }

    func xml(_ operation: HTTPRequestOperation) {
        // MARK: Example

        operation.responseSerializer = XMLParserResponseSerializer()
        operation.setCompletion(
            success: { operation, object in
                guard let parser = object as? XMLParser else { return }
                let delegate = SlideReader()                  // an XMLParserDelegate of yours; import FoundationXML
                parser.delegate = delegate
                if !parser.parse() { self.show(parser.parserError) }
            })

        // MARK: End of example
    }

    func propertyLists() async throws {
        // MARK: Example

        manager.requestSerializer = PropertyListRequestSerializer()
        manager.responseSerializer = PropertyListResponseSerializer()
        let stored = try await manager.post("settings", parameters: ["volume": 0.5, "since": Date()])

        // MARK: End of example
        show(stored)
    }

    func compound(_ operation: HTTPRequestOperation) {
        // MARK: Example

        operation.responseSerializer = CompoundResponseSerializer([
            JSONResponseSerializer(), ImageHeadResponseSerializer(),
        ])

        // MARK: End of example
    }

    func decodable() async throws {
        // MARK: Example

        let users = try await manager.get("users", as: [User].self)

        // MARK: End of example
        show(users)
    }

    func decodable(_ operation: HTTPRequestOperation) async {
        // MARK: Example

        operation.responseSerializer = DecodableResponseSerializer([User].self).decodingErrors(as: Problem.self)
        queue.addOperation(operation)
        let users = try? await operation.value(as: [User].self)
        let problem = (operation.error as? ResponseSerializationError)?.responseObject as? Problem

        // MARK: End of example
        show(users)
        show(problem)
    }

    // MARK: - Archives

    func archive(_ operation: HTTPRequestOperation) throws {
        // MARK: Example

        let data = try JSONEncoder().encode(operation.archive)      // nil for a body that comes from a stream
        let later = try JSONDecoder().decode(OperationArchive.self, from: data).makeOperation()

        // MARK: End of example
        queue.addOperation(later)
    }

    // MARK: - Security

    func security(_ operation: HTTPRequestOperation, pins: URL) throws {
        // MARK: Example

        operation.securityPolicy = SecurityPolicy(
            pinningMode: .publicKey,
            pinnedCertificates: try X509Certificate.all(inDirectory: pins),
            allowInvalidCertificates: true)

        // MARK: End of example
    }

    func authentication(_ operation: HTTPRequestOperation, user: String, password: String) {
        // MARK: Example

        operation.credential = Credential(user: user, password: password)     // or Credential(aURLCredential)

        // MARK: End of example
    }

    func challenge(_ operation: HTTPRequestOperation, keychain: Keychain) {
        // MARK: Example

        operation.setAuthenticationChallenge { operation, challenge in
            challenge.previousFailureCount == 0 ? .use(await keychain.credential(for: challenge.host)) : .refuse
        }

        // MARK: End of example
    }

    func cookies() throws {
        // MARK: Example

        manager.cookieJar = nil
        manager.proxyConfiguration = .proxy(try Proxy("socks5h://localhost:1080"))

        // MARK: End of example
    }

    func cache(_ m: Int, _ d: Int, _ directory: URL, _ operation: HTTPRequestOperation) {
        // MARK: Example

        manager.cache = ResponseCache(memoryCapacity: m, diskCapacity: d, directory: directory)
        operation.setCacheResponse { proposed in proposed }

        // MARK: End of example
    }

    // MARK: - Observing

    func reachability() {
        // MARK: Example

        let reachability = NetworkReachabilityManager.shared
        reachability.setStatusChange { status in self.queue.isSuspended = !status.isReachable }
        reachability.startMonitoring()

        // MARK: End of example
    }

    func activity() {
        // MARK: Example

        let activity = NetworkActivityManager.shared
        activity.setNetworkingActivityAction { isActive in self.title = isActive ? "busy" : "idle" }
        activity.isEnabled = true

        // MARK: End of example
    }

    func views(_ operation: HTTPRequestOperation, bar: Bar, spinner: Spinner) {
        // MARK: Example

        Task { [updates = operation.downloadUpdates] in for await progress in updates { bar.value = progress.fraction ?? 0 } }
        operation.addObserver(NetworkActivityManager { isActive in spinner.isShown = isActive })

        // MARK: End of example
        // MARK: Example

        Task { [updates = operation.uploadUpdates] in for await progress in updates { bar.value = progress.fraction ?? 0 } }

        // MARK: End of example
    }

    func views(_ session: HTTPSessionManager, bar: Bar, spinner: Spinner) {
        // MARK: Example

        session.addObserver(NetworkActivityManager { isActive in spinner.isShown = isActive })
        session.get("users", progress: { progress in bar.value = progress.fractionCompleted },
                    success: { task, users in self.show(users) })

        // MARK: End of example
    }

    // MARK: - Sessions

    func session(_ url: URL) async throws {
        // MARK: Example

        let session = HTTPSessionManager(baseURL: url)
        let users = try await session.get("users", parameters: ["page": 2])
        session.get(
            "users", parameters: ["page": 2],
            success: { task, object in self.show(object) },
            failure: { task, error in self.show(error) })

        // MARK: End of example
        show(users)
    }

    func download(in session: URLSessionManager, _ request: URLRequest, _ folder: URL) {
        // MARK: Example

        let task = session.downloadTask(
            with: request,
            progress: { progress in self.title = progress.localizedDescription },
            destination: { temporary, response in
                folder.appendingPathComponent(response?.url?.lastPathComponent ?? "file")
            },
            completion: { response, file, error in self.show(file ?? error) })
        task.resume()

        // MARK: End of example
    }

    func upload(in session: URLSessionManager, _ request: URLRequest, _ file: URL) {
        // MARK: Example

        let task = session.uploadTask(
            with: request, fromFile: file,
            progress: { progress in self.title = progress.localizedDescription },
            completion: { response, object, error in self.show(object) })
        task.resume()

        // MARK: End of example
    }

    func formInAFile(_ url: URL, _ photo: URL, _ file: URL, in session: HTTPSessionManager) async throws {
        // MARK: Example

        let serializer = HTTPRequestSerializer()
        let form = try serializer.multipartFormRequest(method: "POST", url: url, parameters: ["title": "Summer"]) { form in
            try form.appendPart(withFileURL: photo, name: "photo")
        }
        let request = try await serializer.request(withMultipartFormRequest: form, writingStreamContentsToFile: file)
        session.uploadTask(with: request, fromFile: file, progress: nil, completion: nil).resume()

        // MARK: End of example
    }

    func hooks(of session: HTTPSessionManager) {
        // MARK: Example

        session.setDataTaskDidReceiveResponse { task, response in
            response.statusCode == 200 ? .allow : .cancel
        }
        session.setTaskDidComplete { task, error in self.show(task.originalRequest.url) }

        // MARK: End of example
    }
}

actor Keychain {
    func credential(for host: String) -> Credential { Credential(user: host, password: "secret") }
}

@MainActor
final class Bar {
    var value = 0.0
}

@MainActor
final class Spinner {
    var isShown = false
}
