import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworkingTesting

@testable import OperationNetworking

/// Operations with a jar, and what a server sees of it.
struct CookieScene {
    let jar: CookieJar

    init(_ jar: CookieJar = CookieJar()) {
        self.jar = jar
    }

    /// The result of one request.
    struct Outcome {
        let operation: HTTPRequestOperation
        let error: (any Error)?
    }

    func operation(_ request: URLRequest) -> HTTPRequestOperation {
        let operation = HTTPRequestOperation(request: request)
        operation.completionQueue = DispatchQueue(label: "callbacks")
        operation.cookieJar = jar
        return operation
    }

    @discardableResult
    func get(_ url: URL, _ change: (inout URLRequest) -> Void = { _ in }) async -> Outcome {
        var request = URLRequest(url: url)
        change(&request)
        let operation = operation(request)
        operation.start()
        let result = await Result(awaiting: { try await operation.value })
        if case .failure(let error) = result { return Outcome(operation: operation, error: error) }
        return Outcome(operation: operation, error: nil)
    }

    /// Waits until what was changed before can be seen without a wait: the work of a storage is done in order.
    func waitForStorage(of host: String) async {
        await withCheckedContinuation { continuation in
            jar.read(concerning: host) { _ in continuation.resume() }
        }
    }

    /// `name=value`, sorted.
    var pairs: [String] {
        jar.cookies.map { "\($0.name)=\($0.value)" }.sorted()
    }
}

extension ScriptedServer {
    /// The server by another name. Names below `localhost` are this machine (RFC 6761 §6.3).
    func url(host: String, _ path: String = "/") throws -> URL {
        guard let url = URL(string: "http://\(host):\(port)\(path)") else {
            throw TestFailure("no URL: \(host)")
        }
        return url
    }

    /// The pairs of each request's `Cookie` field, in any order.
    var cookies: [[String]] {
        requests.map { ($0["Cookie"] ?? "").split(separator: ";").map { $0.trimmed }.sorted() }
    }

    /// A server whose first answer sets these cookies; what it answers then sets none.
    static func setting(_ values: String...) throws -> ScriptedServer {
        try ScriptedServer([
            .respond(FieldLines(values.map { ("Set-Cookie", $0) })), .respond(body: "x"),
        ])
    }
}

extension Answer {
    static func respond(_ fields: FieldLines) -> Answer { .respond(200, fields) }
}

extension Substring {
    fileprivate var trimmed: String { trimmingCharacters(in: .whitespaces) }
}
