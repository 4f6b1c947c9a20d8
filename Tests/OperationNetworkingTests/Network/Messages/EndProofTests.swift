import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingSystem
import Testing

@testable import OperationNetworkingTestSupport

@Suite(.timeLimit(.minutes(1)))
struct EndProofTests {
    @Test(.enabled(if: RealServers.hasLaterLibcurl)) func theLibcurlIsTheLaterOne() {
        #expect(CurlLibrary.versionNumber >= 0x08_00_00)
    }

    /// nginx compresses as it sends, so it cannot know the length; and because the caller asked for the coding
    /// himself, nothing here undoes it and sees its end.
    @Test(.enabled(if: RealServers.nginxTLS != nil))
    func anUnprovenBodyIsRequestedAgainOverHTTP1() async throws {
        let base = try #require(RealServers.nginxTLS)
        var request = URLRequest(url: base.appendingPathComponent("gzip/text.txt"))
        request.setValue("gzip", forHTTPHeaderField: "Accept-Encoding")
        var first: TransferMetrics?
        for _ in 0..<3 {
            let operation = HTTPRequestOperation(request: request)
            operation.completionQueue = DispatchQueue(label: "callbacks")
            operation.trustAnchors = .file(try #require(RealServers.authorities))
            operation.start()
            let body = try #require(try await operation.value as? Data)
            #expect(body.starts(with: [0x1f, 0x8b]))
            #expect(operation.metrics?.httpVersion == "1.1")
            #expect(operation.metrics?.isEndProven == true)
            first = first ?? operation.metrics
        }
        #expect((1...2).contains(first?.transferCount ?? 0))
    }
}
