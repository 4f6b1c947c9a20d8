import AsyncHTTPClient
import Foundation
import Measuring
import NIOSSL

// The work of `Workload get` by AsyncHTTPClient. HTTP/2 when the URL has https and the server offers it. The authority of
// the server's certificate is OPERATIONNETWORKING_CA.
//
//   AsyncPeer get async URL COUNT IN-FLIGHT

var arguments = Arguments(CommandLine.arguments.dropFirst())
guard try arguments.next("work") == "get", try arguments.next("client") == "async" else {
    throw WorkError.unknown("work")
}
let url = try arguments.next("URL")
let count = try arguments.number("count")
let inFlight = try arguments.number("number in flight")

var configuration = HTTPClient.Configuration()
configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = inFlight
if url.hasPrefix("https:") {
    guard let authority = ProcessInfo.processInfo.environment["OPERATIONNETWORKING_CA"] else {
        throw WorkError.missing("OPERATIONNETWORKING_CA")
    }
    var tls = TLSConfiguration.makeClientConfiguration()
    tls.trustRoots = .file(authority)
    configuration.tlsConfiguration = tls
}
let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)

/// Each of `inFlight` tasks gets one after the other.
@Sendable func getAll(_ count: Int) async throws {
    let url = url
    let inFlight = inFlight
    let client = client
    let failed = try await withThrowingTaskGroup(of: Int.self) { group in
        for task in 0..<inFlight {
            group.addTask {
                var failed = 0
                for _ in stride(from: task, to: count, by: inFlight) {
                    let response = try await client.execute(
                        HTTPClientRequest(url: url),
                        timeout: .seconds(60)
                    )
                    let body = try await response.body.collect(upTo: 1 << 20)
                    if response.status != .ok || body.readableBytes == 0 { failed += 1 }
                }
                return failed
            }
        }
        return try await group.reduce(0, +)
    }
    guard failed == 0 else { throw WorkError.failed(failed) }
}

try await getAll(inFlight)
let usage = try await Usage.of { try await getAll(count) }
try printResult(usage)
try await client.shutdown()
