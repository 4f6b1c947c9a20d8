// The examples stand as the documentation has them:
// swift-format-ignore-file

import Foundation
import FoundationNetworking
import OperationNetworking

// The client of ../../Migration/before.m, which was written for AFNetworking 2.7, as it is written here:
//
//     Migration http://127.0.0.1:8080/api/ PHOTO FILE

// MARK: - Takes the "data" out of {"status": "ok", "data": ...}

nonisolated struct EnvelopeSerializer: ValidatingResponseSerializer {
    struct Refusal: LocalizedError {
        let message: String
        var errorDescription: String? { message }
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

nonisolated struct Login: Decodable, Sendable {
    let token: String
}

// MARK: - The client

@MainActor
final class PhotoClient {
    private(set) var running = 0
    let manager: OperationManager
    private var observations: [any NSObjectProtocol] = []

    init(baseURL: URL, secret: String) throws {
        manager = OperationManager(baseURL: baseURL)
        manager.responseSerializer = EnvelopeSerializer()
        manager.operationQueue.maxConcurrentOperationCount = 4
        try manager.requestSerializer.setValue("photos/1.0", forHTTPHeaderField: "User-Agent")
        try manager.requestSerializer.setTimeoutInterval(20)
        manager.securityPolicy = SecurityPolicy(pinningMode: .none)

        // A token that expired: a new one, and the request once more.
        let login = OperationManager(baseURL: baseURL)
        manager.tokenSource = TokenSource(TokenSource.Token("old")) { last in
            let answer = try await login.post("token", parameters: ["secret": secret], as: Login.self)
            return TokenSource.Token(answer.token)
        }

        // MARK: Example

        let center = NotificationCenter.default
        observations = [
            center.addObserver(forName: .operationDidStart, object: nil, queue: nil) { [weak self] _ in
                Task { @MainActor in self?.running += 1 }
            },
            center.addObserver(forName: .operationDidFinish, object: nil, queue: nil) { [weak self] _ in
                Task { @MainActor in self?.running -= 1 }
            },
        ]

        // MARK: End of example
        // MARK: Example

        let queue = manager.operationQueue
        manager.reachabilityManager = NetworkReachabilityManager(domain: baseURL.host ?? "")
        manager.reachabilityManager.setStatusChange { status in queue.isSuspended = status == .notReachable }
        manager.reachabilityManager.startMonitoring()

        // MARK: End of example
    }

    isolated deinit {
        for observation in observations { NotificationCenter.default.removeObserver(observation) }
    }

    // MARK: - Requests

    func users(onPage page: Int) async throws -> [any Sendable] {
        try await manager.get("users", parameters: ["page": page]) as? [any Sendable] ?? []
    }

    // MARK: Example

    func send(
        photo file: URL, title: String,
        progress: @escaping (_ sent: Int64, _ expected: Int64) -> Void,
        completion: @escaping (_ identifier: Int?, _ error: (any Error)?) -> Void
    ) {
        manager.post(
            "photos",
            parameters: .form(["title": title]) { form in try form.appendPart(withFileURL: file, name: "photo") },
            configure: { operation in
                operation.setUploadProgress { bytes, total, expected in progress(total, expected) }
            },
            success: { operation, object in completion((object as? [String: Any])?["id"] as? Int, nil) },
            failure: { operation, error in completion(nil, error) })
    }

    // MARK: End of example

    // MARK: - A big file, with a pause

    // MARK: Example

    func download(_ path: String, to file: URL) async throws {
        let operation = HTTPRequestOperation(request: URLRequest(url: try manager.url(for: path)))
        operation.outputFile = file
        var hasPaused = false
        operation.setDownloadProgress { [weak operation] bytes, total, expected in
            guard !hasPaused else { return }
            hasPaused = true
            operation?.pause()
            operation?.resume()
        }
        manager.operationQueue.addOperation(operation)
        _ = try await operation.value
    }

    // MARK: End of example

    // MARK: - Many small files

    // MARK: Example

    func thumbnails(
        _ paths: [String], progress: @escaping (_ finished: Int, _ total: Int) -> Void
    ) async throws -> [Data?] {
        let members = try paths.map { path in
            HTTPRequestOperation(request: URLRequest(url: try manager.url(for: path)))
        }
        let batch = OperationBatch(members, progress: { finished, total in progress(finished, total) })
        batch.add(to: manager.operationQueue)
        return await batch.results().map { result in try? result.get().responseData }
    }

    // MARK: End of example
}

// MARK: - The program

guard CommandLine.arguments.count == 4, let api = URL(string: CommandLine.arguments[1]) else {
    FileHandle.standardError.write(Data("usage: Migration URL PHOTO FILE\n".utf8))
    exit(64)
}
let photo = URL(fileURLWithPath: CommandLine.arguments[2])
let file = URL(fileURLWithPath: CommandLine.arguments[3])
do {
    let client = try PhotoClient(baseURL: api, secret: "secret")
    print("users: \(try await client.users(onPage: 2).count)")
    let identifier = try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Int?, any Error>) in
        client.send(photo: photo, title: "Summer") { sent, expected in
            if sent == expected { print("sent: \(sent) of \(expected)") }
        } completion: { identifier, error in
            if let error { continuation.resume(throwing: error) } else { continuation.resume(returning: identifier) }
        }
    }
    print("photo: \(identifier ?? 0)")
    try await client.download("big.iso", to: file)
    print("file: \(try Data(contentsOf: file).count)")
    let data = try await client.thumbnails(["1.jpg", "2.jpg", "missing.jpg"]) { finished, total in
        print("\(finished) of \(total)")
    }
    print("thumbnails: \(data.map { data in data.map { "\($0.count)" } ?? "none" }.joined(separator: ", "))")
    do {
        _ = try await client.manager.get("refused")
    } catch {
        print("refused: \(error.localizedDescription)")
    }
    // Notifications are posted asynchronously.
    while client.running != 0 { try await Task.sleep(for: .milliseconds(5)) }
    print("running: 0")
} catch {
    FileHandle.standardError.write(Data("\(api.absoluteString): \(error)\n".utf8))
    exit(1)
}
