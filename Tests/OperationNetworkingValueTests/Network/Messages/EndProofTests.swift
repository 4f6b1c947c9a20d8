import Foundation
import OperationNetworkingSystem
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite struct EndProofTests {
    private func head(_ version: String) -> ResponseHead {
        ResponseHead(version: version, status: 200, fields: [:])
    }

    @Test(arguments: [
        ("HTTP/2", MessageLength.delimited, false, [:], EndProof.nothing),
        ("HTTP/2", .delimited, false, ["Trailer": "x"], .trailers),
        ("HTTP/2", .delimited, true, [:], .coding),
        ("HTTP/2", .exactly(5), false, [:], .length), ("HTTP/2", .none, false, [:], .length),
        ("HTTP/1.1", .delimited, false, [:], .chunks),
        ("HTTP/1.1", .delimited, false, ["Trailer": "x"], .chunks),
        ("HTTP/1.1", .delimited, true, [:], .chunks),
        ("HTTP/1.1", .untilClose, false, [:], .closeNotify),
        ("HTTP/1.1", .untilClose, true, [:], .closeNotify),
    ])
    func whatProvesTheEnd(
        version: String,
        length: MessageLength,
        isCoded: Bool,
        fields: [String: String],
        proof: EndProof
    ) {
        let head = ResponseHead(version: version, status: 200, fields: HeaderFields(fields))
        #expect(EndProof(head: head, length: length, isCoded: isCoded, isTLS: true) == proof)
        guard length == .untilClose else { return }
        #expect(
            EndProof(head: head, length: length, isCoded: isCoded, isTLS: false)
                == (isCoded ? .coding : .nothing)
        )
    }

    @Test func repeatableRequestsNeedAProof() throws {
        let url = try #require(URL(string: "https://localhost/"))
        func suffices(_ proof: EndProof, _ method: String, _ version: TransferOptions.HTTPVersion) -> Bool {
            proof.suffices(
                for: .plain(url, method: method, version: version),
                head: head("HTTP/2")
            )
        }
        #expect(!suffices(.nothing, "GET", .automatic) && !suffices(.nothing, "GET", .http2))
        #expect(suffices(.nothing, "POST", .automatic) && suffices(.nothing, "DELETE", .http2))
        // Over HTTP/1.1 the last chunk is sure to come.
        #expect(!suffices(.trailers, "GET", .automatic) && suffices(.trailers, "GET", .http2))
        #expect(suffices(.length, "GET", .automatic) && suffices(.coding, "GET", .automatic))
        let closing = EndProof.nothing.suffices(for: .plain(url), head: head("HTTP/1.1"))
        #expect(closing)
    }

    @Test func whatCannotBeAskedAgainGoesOverHTTP1IfResetsAreNotReported() throws {
        let url = try #require(URL(string: "https://localhost/"))
        func version(_ method: String, needsChunks: Bool = false, reports: Bool)
            -> TransferOptions.HTTPVersion
        {
            EndProof.version(
                for: .plain(url, method: method),
                needsChunks: needsChunks,
                curlReportsResets: reports
            )
        }
        for reports in [false, true] {
            #expect(version("GET", reports: reports) == .automatic)
            #expect(version("HEAD", reports: reports) == .automatic)
            #expect(version("GET", needsChunks: true, reports: reports) == .http1)
            #expect(version("POST", needsChunks: true, reports: reports) == (reports ? .automatic : .http1))
            #expect(version("DELETE", reports: reports) == (reports ? .automatic : .http1))
        }
    }
}
