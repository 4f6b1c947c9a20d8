import Foundation
import FoundationNetworking
import OperationNetworking

// Performs requests through one cache, for a suite of tests in another language: a JSON object for each
// request on standard input, one for each response on standard output, a line each.

struct Request: Decodable {
    enum CacheMode: String, Decodable {
        case `default`
        case noCache = "no-cache"
        case noStore = "no-store"
        case reload
        case forceCache = "force-cache"
        case onlyIfCached = "only-if-cached"

        /// The policy that comes nearest to Fetch's cache mode.
        var policy: URLRequest.CachePolicy {
            switch self {
            case .default: .useProtocolCachePolicy
            case .noCache: .reloadRevalidatingCacheData
            case .noStore, .reload: .reloadIgnoringLocalAndRemoteCacheData
            case .forceCache: .returnCacheDataElseLoad
            case .onlyIfCached: .returnCacheDataDontLoad
            }
        }
    }

    let id: Int
    let method: String?
    let url: String
    let headers: [[String]]?
    let body: String?
    let cache: CacheMode?
    let redirect: String?

    /// - Throws: `URLError.badURL`.
    func urlRequest() throws -> URLRequest {
        guard let url = URL(string: url) else { throw URLError(.badURL) }
        var request = URLRequest(url: url)
        request.httpMethod = method ?? "GET"
        for field in headers ?? [] where field.count == 2 {
            request.addValue(field[1], forHTTPHeaderField: field[0])
        }
        request.httpBody = body.map { Data($0.utf8) }
        request.cachePolicy = (cache ?? .default).policy
        return request
    }
}

struct Response: Encodable {
    var id: Int
    var status: Int?
    var reason: String?
    var headers: [[String]]?
    var body: String?
    var interim: [String]?
    var error: String?
    var source: String?
}

/// Writes whole lines, one after the other.
actor Output {
    func write(_ response: Response) throws {
        let line = try JSONEncoder().encode(response) + Data("\n".utf8)
        try FileHandle.standardOutput.write(contentsOf: line)
    }
}

/// All requests go through one manager, and so through one cache.
func makeManager() throws -> OperationManager {
    let directory = FileManager.default.temporaryDirectory
        .appendingPathComponent("CacheAdapter-\(ProcessInfo.processInfo.processIdentifier)")
    let manager = OperationManager()
    var serializer = HTTPResponseSerializer()
    serializer.acceptableStatusCodes = nil
    manager.responseSerializer = serializer
    manager.cache = ResponseCache(memoryCapacity: 32 << 20, diskCapacity: 64 << 20, directory: directory)
    manager.operationQueue.maxConcurrentOperationCount = 64
    manager.maximumConnectionsPerHost = 64
    manager.completionQueue = DispatchQueue(label: "CacheAdapter")
    return manager
}

func perform(_ request: Request, _ manager: OperationManager) async -> Response {
    do {
        let operation = manager.operation(for: try request.urlRequest())
        if request.redirect == "manual" { operation.redirectPolicy = .refuse }
        manager.operationQueue.addOperation(operation)
        _ = try? await operation.value
        guard let response = operation.response else { throw operation.error ?? URLError(.unknown) }
        let body = operation.responseData ?? Data()
        return Response(
            id: request.id,
            status: response.statusCode,
            reason: HTTPURLResponse.localizedString(forStatusCode: response.statusCode),
            headers: response.allHeaderFields.compactMap { name, value in
                (name as? String).map { [$0, "\(value)"] }
            },
            body: String(decoding: body, as: UTF8.self),
            interim: [],
            source: operation.responseSource?.rawValue
        )
    } catch {
        return Response(id: request.id, error: "\(error)")
    }
}

let manager = try makeManager()
let output = Output()
try await withThrowingTaskGroup(of: Void.self) { group in
    while let line = readLine() {
        let request = try JSONDecoder().decode(Request.self, from: Data(line.utf8))
        group.addTask { try await output.write(await perform(request, manager)) }
    }
    try await group.waitForAll()
}
