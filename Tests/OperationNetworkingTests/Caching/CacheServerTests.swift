import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingSystem
@testable import OperationNetworkingTestSupport

/// The cache against servers of other authors: nginx and nghttpd over HTTP/2 with TLS, httpbin, and Python's
/// `http.server`.
@Suite(.timeLimit(.minutes(2)), .enabled(if: RealServers.nginxTLS != nil))
struct CacheServerTests {
    private let cache = ResponseCache(memoryCapacity: 32 << 20, diskCapacity: 0, directory: nil)

    private func manager(_ url: URL?, _ change: (OperationManager) -> Void = { _ in }) throws
        -> OperationManager
    {
        let manager = OperationManager(baseURL: url)
        manager.completionQueue = DispatchQueue(label: "CacheServerTests")
        manager.responseSerializer = HTTPResponseSerializer()
        manager.trustAnchors = .file(try #require(RealServers.authorities))
        manager.cache = cache
        change(manager)
        return manager
    }

    private func operation(
        _ manager: OperationManager,
        _ path: String,
        _ fields: [String: String] = [:],
        policy: URLRequest.CachePolicy = .useProtocolCachePolicy
    ) throws -> HTTPRequestOperation {
        var request = URLRequest(url: try manager.url(for: path), cachePolicy: policy)
        request.allHTTPHeaderFields = fields
        return manager.operation(for: request)
    }

    private func fetch(
        _ manager: OperationManager,
        _ path: String,
        _ fields: [String: String] = [:],
        policy: URLRequest.CachePolicy = .useProtocolCachePolicy
    ) async throws -> HTTPRequestOperation {
        let operation = try operation(manager, path, fields, policy: policy)
        operation.start()
        _ = try? await operation.value
        return operation
    }

    private func file(_ name: String) throws -> Data {
        try Data(contentsOf: try #require(RealServers.nginxRoot).appendingPathComponent(name))
    }

    // MARK: - HTTP/2

    @Test func aFileIsValidatedOverHTTP2() async throws {
        let manager = try manager(RealServers.nginxTLS)
        let first = try await fetch(manager, "64k.bin")
        #expect(first.responseSource == .network && first.metrics?.httpVersion == "2")
        let second = try await fetch(manager, "64k.bin", policy: .reloadRevalidatingCacheData)
        #expect(second.responseSource == .validated && second.metrics?.httpVersion == "2")
        #expect(second.response?.statusCode == 200)
        #expect(try second.responseData == file("64k.bin"))
    }

    @Test(arguments: [40, 200]) func equalRequestsOverHTTP2AreOne(count: Int) async throws {
        let manager = try manager(RealServers.nginxTLS)
        let marker = UUID().uuidString
        let operations = try (0..<count).map { _ in try operation(manager, "fresh/1m.bin?\(marker)") }
        for operation in operations { operation.start() }
        for index in stride(from: 3, to: count, by: 5) { operations[index].cancel() }
        let expected = try file("1m.bin")
        for (index, operation) in operations.enumerated() {
            _ = try? await operation.value
            guard index % 5 != 3 else { continue }
            #expect(operation.error == nil && operation.responseData == expected)
        }
        #expect(operations.count { !$0.isCancelled && $0.responseSource == .network } <= 1)
    }

    /// The first of many is cancelled, again and again. The number of transfers is not looked at: once in some
    /// runs the others go on by themselves, as after a failure of the first one.
    @Test func theFirstOfManyOverHTTP2MayBeCancelled() async throws {
        let manager = try manager(RealServers.nginxTLS)
        let marker = UUID().uuidString
        let operations = try (0..<30).map { _ in try operation(manager, "fresh/slow/1m.bin?\(marker)") }
        for operation in operations { operation.start() }
        for index in 0..<10 {
            try await networkThreadIsDone()
            operations[index].cancel()
        }
        let expected = try file("1m.bin")
        for operation in operations.dropFirst(10) {
            _ = try? await operation.value
            #expect(operation.error == nil && operation.responseData == expected)
        }
    }

    @Test func aBodyWithTrailersIsStoredWhole() async throws {
        for url in [RealServers.nghttpd, RealServers.nghttpdTrailers] {
            let manager = try manager(url)
            for round in 0..<3 {
                let operation = try await fetch(manager, "64k.bin")
                #expect(operation.error == nil && operation.metrics?.bytesKept == (round == 0 ? 0 : 65_536))
                #expect(try operation.responseData == file("64k.bin"))
                #expect((operation.responseSource == .network) == (round == 0))
            }
        }
    }

    // MARK: - Trust

    private static let policies: [URLRequest.CachePolicy] = [
        .useProtocolCachePolicy, .returnCacheDataElseLoad, .returnCacheDataDontLoad,
        .reloadRevalidatingCacheData,
    ]

    /// A response that one trust has let in is of no use under another that refuses the server.
    @Test(arguments: policies) func storedResponsesAreNotForPoliciesThatRefuseTheServer(
        policy: URLRequest.CachePolicy
    ) async throws {
        let path = "fresh/1k.bin"
        let good = try manager(RealServers.nginxTLS)
        _ = try await fetch(good, path)
        let lax = try manager(NginxTLSServer.attacker.url) {
            $0.securityPolicy = SecurityPolicy(allowInvalidCertificates: true, validatesDomainName: false)
        }
        _ = try await fetch(lax, path)
        #expect(try await fetch(good, path).responseSource == .cache)
        #expect(try await fetch(lax, path).responseSource == .cache)
        let otherLeaf = try TestCertificates.all("other-leaf")
        let refusing = [
            try manager(NginxTLSServer.attacker.url),
            try manager(RealServers.nginxTLS) { $0.trustAnchors = .system },
            try manager(RealServers.nginxTLS) {
                $0.securityPolicy = SecurityPolicy(pinningMode: .publicKey, pinnedCertificates: otherLeaf)
            },
        ]
        for manager in refusing {
            let operation = try await fetch(manager, path, policy: policy)
            #expect(operation.responseData?.isEmpty != false && operation.responseSource != .cache)
            if policy == .returnCacheDataDontLoad {
                #expect((operation.error as? URLError)?.code == .resourceUnavailable)
            } else {
                #expect(operation.error is ServerTrustError)
            }
        }
    }

    @Test func aClientsCertificateIsAUser() async throws {
        func manager(_ name: String) throws -> OperationManager {
            let identity = try ClientIdentity(
                pemFile: try #require(TestCertificates.pem(name)),
                keyFile: TestCertificates.key(name)
            )
            return try self.manager(NginxTLSServer.clientOptional.url) {
                $0.clientIdentity = identity
            }
        }
        _ = try await fetch(try manager("client"), "fresh/1k.bin")
        #expect(try await fetch(try manager("client2"), "fresh/1k.bin").responseSource == .network)
        let anonymous = try self.manager(NginxTLSServer.clientOptional.url)
        #expect(try await fetch(anonymous, "fresh/1k.bin").responseSource == .network)
    }

    // MARK: - HTTP/1

    @Test func httpbinsResponsesAreFreshForTheirTime() async throws {
        let manager = try manager(RealServers.httpbin)
        let operations = try (0..<20).map { _ in try operation(manager, "cache/60") }
        for operation in operations { operation.start() }
        for operation in operations { _ = try? await operation.value }
        #expect(operations.allSatisfy { $0.error == nil })
        #expect(operations.count { $0.responseSource == .network } == 1)
        // It has a validator, and answers 304.
        for _ in 0..<2 { _ = try await fetch(manager, "cache", policy: .reloadRevalidatingCacheData) }
        let last = try await fetch(manager, "cache", policy: .reloadRevalidatingCacheData)
        #expect(last.responseSource == .validated && last.response?.statusCode == 200)
    }

    @Test func secretsOfHttpbinAreTheirUsers() async throws {
        let manager = try manager(RealServers.httpbin)
        for (password, status) in [("p", 200), ("q", 401), ("p", 200)] {
            let operation = try operation(manager, "digest-auth/auth/ann/p")
            operation.credential = Credential(user: "ann", password: password)
            operation.start()
            _ = try? await operation.value
            #expect(operation.response?.statusCode == status, "\(password)")
        }
    }
}
