import Dispatch
import Foundation
import FoundationNetworking
import Testing

@testable import OperationNetworking

/// Operations through a proxy, for tests of what becomes of them.
enum ProxiedOperation {
    /// One that has started.
    static func start(
        _ url: URL,
        through proxy: String,
        fields: [String: String] = [:],
        anchors: TrustAnchors = .system
    ) throws -> HTTPRequestOperation {
        var request = URLRequest(url: url)
        request.allHTTPHeaderFields = fields
        return try start(request, through: proxy, anchors: anchors)
    }

    /// One that has started.
    static func start(
        _ request: URLRequest,
        through proxy: String,
        anchors: TrustAnchors = .system
    ) throws -> HTTPRequestOperation {
        let operation = HTTPRequestOperation(request: request)
        operation.trustAnchors = anchors
        operation.completionQueue = DispatchQueue(label: "callbacks")
        operation.proxyConfiguration = .proxy(try Proxy(proxy))
        operation.start()
        return operation
    }

    /// The error of the proxy; there must be no response.
    static func failure(of operation: HTTPRequestOperation) async throws -> ProxyError? {
        let error = await #expect(throws: ProxyError.self) { try await operation.value }
        #expect(operation.response == nil && operation.responseData?.isEmpty != false)
        return error
    }
}
