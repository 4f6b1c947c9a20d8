// The samples stand as the documentation has them:
// swift-format-ignore-file

import Foundation
import FoundationNetworking
import OperationNetworking

// The article Serializers. Compiled, and not called.

// MARK: Example

nonisolated struct LinesSerializer: ValidatingResponseSerializer, TypedResponseSerializer {
    typealias Object = [String]

    var validation = HTTPResponseSerializer(acceptableContentTypes: ["text/plain"])

    func responseObject(for response: HTTPURLResponse?, data: Data?) throws -> (any Sendable)? {
        try validation.validate(response, data: data)
        return String(decoding: data ?? Data(), as: UTF8.self).split(separator: "\n").map(String.init)
    }
}

// MARK: End of example

// MARK: Example

nonisolated struct VersionedJSONSerializer: RequestSerializer {
    var base = JSONRequestSerializer()

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

@MainActor
final class Serializers {
    let manager = OperationManager()

    func type() async throws {
        // MARK: Example

        let users = try await manager.get("users", as: [User].self)

        // MARK: End of example
        print(users)
    }

    func decoder() {
        // MARK: Example

        manager.makeJSONDecoder = {
            let decoder = JSONDecoder()
            decoder.keyDecodingStrategy = .convertFromSnakeCase
            return decoder
        }

        // MARK: End of example
    }

    func accepted() {
        // MARK: Example

        var serializer = JSONResponseSerializer()
        serializer.acceptableStatusCodes?.insert(404)
        serializer.acceptableContentTypes?.insert("text/x-json")
        manager.responseSerializer = serializer

        // MARK: End of example
    }

    func settings() throws {
        // MARK: Example

        try manager.responseSerializer.setAcceptableContentTypes(["application/json", "text/html"])

        // MARK: End of example
        // MARK: Example

        manager.requestSerializer.setValue(nil, forHTTPHeaderField: "User-Agent")
        try manager.requestSerializer.setTimeoutInterval(20)
        try manager.requestSerializer.setCachePolicy(.reloadIgnoringLocalCacheData)
        try manager.requestSerializer.setHTTPShouldHandleCookies(false)

        // MARK: End of example
    }

    func custom() async throws {
        // MARK: Example

        let lines = try await manager.response("GET", "log", with: LinesSerializer()).value

        // MARK: End of example
        print(lines)
    }

    func parameters() throws {
        // MARK: Example

        var serializer = HTTPRequestSerializer()
        serializer.arrayStyle = .repeated               // k=1&k=2
        serializer.timeoutInterval = 5
        try serializer.setValue("secret", forHTTPHeaderField: "X-Key")
        manager.requestSerializer = serializer

        // MARK: End of example
    }
}
