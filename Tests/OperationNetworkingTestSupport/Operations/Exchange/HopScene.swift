import Foundation
import FoundationNetworking
import Testing

@testable import OperationNetworking

/// Makes the transfer of one hop with ``ExchangeConfiguration/transferRequest``: without an exchange, a
/// network, a jar, or a proxy unless one is set.
struct HopScene: Sendable {
    var configuration: ExchangeConfiguration
    var hop: URLRequest
    var body: RequestBody?
    var asked = ResumeRequest.whole
    var continues = false
    var cookies: [Cookie]?
    var proof: Authentication.Proof?
    var digest: DigestSession?
    var isAtHome = true

    /// The first hop of an operation into memory.
    init(
        _ url: String = "http://example.org/a?b=c",
        _ method: String = "GET",
        _ fields: [String: String] = [:]
    ) throws {
        hop = URLRequest(url: try #require(URL(string: url)))
        hop.httpMethod = method
        hop.allHTTPHeaderFields = fields
        var settings = TransferSettings()
        settings.proxyConfiguration = .none
        settings.cookieJar = nil
        configuration = ExchangeConfiguration(
            request: hop,
            shared: SharedSettings(settings),
            destination: .memory,
            memoryLimit: .max,
            resumesByRange: true
        )
    }

    func transfer() throws -> TransferRequest {
        try configuration.transferRequest(
            for: hop,
            body: body,
            asking: asked,
            continues: continues,
            cookies: cookies.map { JarCookies(cookies: $0, version: 0) },
            authentication: proof,
            digest: digest,
            isAtHome: isAtHome,
            anchorVersions: configuration.anchorVersions
        )
    }
}

extension HopScene {
    /// A row of a table: how it differs from a plain request, and the result.
    struct Row<Result: Sendable>: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let change: @Sendable (inout HopScene) throws -> Void
        let result: Result

        init(_ name: String, _ result: Result, _ change: @escaping @Sendable (inout HopScene) throws -> Void)
        {
            testDescription = name
            self.result = result
            self.change = change
        }

        func transfer() throws -> TransferRequest {
            var scene = try HopScene()
            try change(&scene)
            return try scene.transfer()
        }
    }
}

extension TransferRequest {
    /// The lines with that name, as libcurl gets them.
    func lines(_ name: String) -> [String] {
        headerLines(holdsBody: false).filter { $0.lowercased().hasPrefix(name.lowercased() + ":") }
    }
}
