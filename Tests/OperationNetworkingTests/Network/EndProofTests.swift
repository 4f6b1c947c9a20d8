import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworkingSystem
import Testing

@testable import OperationNetworking

@Suite(.timeLimit(.minutes(1)))
struct EndProofTests {
    private func head(_ version: String) -> ResponseHead {
        ResponseHead(version: version, status: 200, fields: [:])
    }

    @Test func onlyABodyOfHTTP2WithNeitherLengthNorCodingIsInDoubt() {
        func isPossible(_ version: String, _ length: MessageLength, _ isCoded: Bool, _ left: Bool) -> Bool {
            EndProof.isPossible(head: head(version), length: length, isCoded: isCoded, isLeftToCurl: left)
        }
        #expect(!isPossible("HTTP/2", .delimited, false, false))
        #expect(isPossible("HTTP/2", .delimited, true, false))
        #expect(isPossible("HTTP/2", .exactly(5), false, false))
        #expect(isPossible("HTTP/2", .none, false, false))
        #expect(isPossible("HTTP/1.1", .delimited, false, false))
        #expect(isPossible("HTTP/2", .delimited, false, true))
    }

    @Test func whatCannotBeAskedAgainGoesOverHTTP1() throws {
        let url = try #require(URL(string: "https://localhost/"))
        func version(_ method: String, needsChunks: Bool = false, left: Bool = false)
            -> TransferOptions.HTTPVersion
        {
            var request = TransferRequest.plain(url, method: method)
            request.version = .automatic
            return EndProof.version(for: request, needsChunks: needsChunks, isLeftToCurl: left)
        }
        #expect(version("GET") == .automatic && version("HEAD") == .automatic)
        #expect(version("POST") == .http1 && version("DELETE") == .http1)
        #expect(version("GET", needsChunks: true) == .http1)
        #expect(version("POST", needsChunks: true, left: true) == .automatic)
    }

    /// nginx compresses as it sends, so it cannot know the length; and because the caller asked for the coding
    /// himself, nothing here undoes it and sees its end.
    @Test(.enabled(if: RealServers.nginxTLS != nil && !EndProof.isLeftToCurl))
    func aBodyInDoubtIsAskedForAgainOverHTTP1() async throws {
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
            first = first ?? operation.metrics
        }
        #expect((1...2).contains(first?.transferCount ?? 0))
    }
}
