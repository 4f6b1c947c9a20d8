import Foundation
import FoundationNetworking
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

/// The responses of `StubResponse.content`.
struct StubRepresentationTests {
    private func message(_ response: StubResponse, _ fields: [String: String] = [:]) throws -> StubMessage {
        var request = URLRequest(url: try #require(URL(string: "http://a/")))
        request.allHTTPHeaderFields = fields
        guard case .representation(let representation) = response.content else {
            throw StubError.unmatched(method: "GET", url: request.url)
        }
        return representation.message(for: request)
    }

    @Test func aTypeOfTheCallersStandsForThatOfATextAndOfJSON() throws {
        for response in [
            StubResponse.text("{}").header("content-type", "application/json"),
            StubResponse.text("{}", headers: ["Content-Type": "application/json"]),
        ] {
            guard case .message(let message) = response.content else { throw CocoaError(.featureUnsupported) }
            #expect(message.fields.values(for: "Content-Type") == ["application/json"])
        }
    }

    @Test(arguments: [
        StubResponse.content(
            Data("0123".utf8),
            headers: ["content-type": "image/png", "Accept-Ranges": "none"]
        ),
        StubResponse.content(Data("0123".utf8)).header("Content-Type", "image/png")
            .header("accept-ranges", "none"),
    ])
    func aFieldOfTheCallersIsSent(response: StubResponse) throws {
        for (fields, status) in [([:], 200), (["Range": "bytes=1-2"], 206)] {
            let message = try message(response, fields)
            #expect(message.status == status)
            #expect(message.fields.values(for: "Content-Type") == ["image/png"])
            #expect(message.fields.values(for: "Accept-Ranges") == ["none"])
        }
    }

    @Test func withoutOneBytesAreOctets() throws {
        let message = try message(.content(Data("0123".utf8)))
        #expect(message.fields["Content-Type"] == "application/octet-stream")
        #expect(message.fields["Accept-Ranges"] == "bytes")
    }

    /// RFC 9110 §8.8.3: a tag may have a comma, and a backslash quotes nothing.
    @Test(arguments: [#""a,b""#, #""a\""#, #"",""#, #""a""#])
    func anEntityTagMayHaveAComma(tag: String) throws {
        let response = StubResponse.content(Data("0123".utf8), entityTag: tag)
        for list in [tag, #""x", \#(tag)"#, #"\#(tag),"x,y""#] {
            #expect(try message(response, ["If-None-Match": list]).status == 304, "\(list)")
            #expect(try message(response, ["If-Match": list]).status == 200, "\(list)")
        }
        #expect(try message(response, ["If-None-Match": #""a, b", "b""#]).status == 200)
        #expect(try message(response, ["If-Match": #""a, b", "b""#]).status == 412)
    }
}
