import Foundation
import OperationNetworkingSystem
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite(.timeLimit(.minutes(1)))
struct KnownVersionsTests {
    private let url: URL
    private let id = TransferID.next()

    init() throws {
        url = try #require(URL(string: "https://localhost/a"))
    }

    private func decided(
        _ versions: KnownVersions,
        _ version: TransferOptions.HTTPVersion,
        method: String = "GET",
        authentication: CurlAuthentication? = nil
    ) -> TransferRequest {
        var request = TransferRequest.plain(url, method: method, version: version)
        request.authentication = authentication
        versions.decide(&request, id: id)
        return request
    }

    @Test func aServerWithoutHTTP1IsOfferedHTTP2AndRemembered() throws {
        var versions = KnownVersions()
        let first = decided(versions, .http1)
        #expect(first.version == .http1 && first.mayOfferHTTP2 && first.trustDomain.transfer == nil)
        let second = try #require(versions.next(first, after: .httpVersionNotAgreed, id: id))
        #expect(second.version == .http2 && second.trustDomain.transfer == id)
        versions.learn(second, nil, chosen: "h2")

        // What may be held has a connection of its own; the rest shares one.
        let later = decided(versions, .http1)
        #expect(later.version == .http2 && later.trustDomain.transfer == id && !later.mayOfferHTTP2)
        let memory = decided(versions, .automatic)
        #expect(memory.version == .http2 && memory.trustDomain.transfer == nil)
        // Connections are not authenticated in HTTP/2.
        let ntlm = CurlAuthentication(scheme: .ntlm, user: "a", password: "b")
        #expect(decided(versions, .http1, authentication: ntlm).version == .http1)

        // The server has learned HTTP/1.1.
        versions.learn(later, nil, chosen: "http/1.1")
        #expect(decided(versions, .http1).version == .http1)
    }

    @Test func aServerWithoutALPNIsOfferedHTTP2Once() throws {
        var versions = KnownVersions()
        let request = try #require(
            versions.next(decided(versions, .http1), after: .httpVersionNotAgreed, id: id)
        )
        versions.learn(request, nil, chosen: .some(nil))
        let later = decided(versions, .http1)
        #expect(later.version == .http1 && !later.mayOfferHTTP2)
    }

    /// The server behind the address has been replaced by one that has HTTP/2 only.
    @Test(arguments: [
        (CurlError(code: 35, message: "tlsv1 alert no application protocol"), String??.none),
        (CurlError(code: 52, message: "Empty reply from server"), .some(nil)),
    ])
    func anOriginThatHadHTTP1IsOfferedHTTP2AfterARefusal(error: CurlError, chosen: String??) {
        var versions = KnownVersions()
        versions.learn(decided(versions, .http1), nil, chosen: "http/1.1")
        let request = decided(versions, .http1)
        #expect(!request.mayOfferHTTP2)
        // What any server may do says nothing.
        versions.learn(request, .curl(CurlError(code: 28, message: "Timeout")), chosen: chosen)
        #expect(!decided(versions, .http1).mayOfferHTTP2)
        versions.learn(request, .curl(error), chosen: chosen, hasHead: true)
        #expect(!decided(versions, .http1).mayOfferHTTP2)
        versions.learn(request, .curl(error), chosen: chosen)
        #expect(decided(versions, .http1).mayOfferHTTP2)
    }

    @Test func aBodyWithoutProofIsRequestedOverHTTP1Once() {
        var versions = KnownVersions()
        let request = decided(versions, .automatic)
        #expect(versions.next(request, after: .endNotProvable, id: id) != nil)
        versions.learn(request, .endNotProvable, chosen: "h2")
        #expect(decided(versions, .automatic).version == .http1)
        // Nothing else can be done with one that has HTTP/2 only.
        for version in [TransferOptions.HTTPVersion.http2, .http2PriorKnowledge] {
            #expect(versions.next(.plain(url, version: version), after: .endNotProvable, id: id) == nil)
        }
        #expect(versions.next(request, after: .truncatedHead, id: id) == nil)
    }

    @Test(
        arguments: [
            (35, "error:0A000460:SSL routines::tlsv1 alert no application protocol", nil, true),
            (35, "error:0A000410:SSL routines::sslv3 alert handshake failure", nil, false),
            (52, "Empty reply from server", "", true), (56, "Connection reset by peer", "", true),
            (1, "Received HTTP/0.9 when not allowed", "", true), (28, "Timeout was reached", "", false),
            (52, "Empty reply from server", "http/1.1", false),
        ] as [(Int32, String, String?, Bool)]
    )
    func whatLooksLikeAServerWithoutHTTP1(code: Int32, message: String, chosen: String?, isOne: Bool) {
        // An empty text: it chose nothing; none: there was no connection.
        let choice: String?? = chosen.map { $0.isEmpty ? nil : $0 }
        #expect(KnownVersions.isRefusal(CurlError(code: code, message: message), chosen: choice) == isOne)
    }
}
