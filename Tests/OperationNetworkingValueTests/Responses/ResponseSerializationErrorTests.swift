import Foundation
import FoundationNetworking
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite struct ResponseSerializationErrorTests {
    @Test func isAnNSErrorOfAFNetworkings() throws {
        let response = try exampleResponse(404, "text/html")
        let body = Data("gone".utf8)
        let error = try #require(throws: ResponseSerializationError.self) {
            try HTTPResponseSerializer(acceptableContentTypes: ["image/png"])
                .responseObject(for: response, data: body)
        }
        let bridged = error as NSError
        #expect(bridged.domain == "com.alamofire.error.serialization.response")
        #expect(bridged.code == -1011)
        #expect(bridged.localizedDescription == "Request failed: Not Found (404)")
        #expect(bridged.userInfo["NSErrorFailingURLKey"] as? URL == response.url)
        let key = "com.alamofire.serialization.response.error"
        #expect(bridged.userInfo["\(key).response"] as? HTTPURLResponse == response)
        #expect(bridged.userInfo["\(key).data"] as? Data == body)
        let under = try #require(bridged.userInfo[NSUnderlyingErrorKey] as? any Error) as NSError
        #expect(under.code == -1016)
        #expect(under.localizedDescription == "Request failed: unacceptable content-type: text/html")
    }

    @Test(arguments: [
        (ResponseSerializationError.Reason.unacceptableContentType(nil), -1016, "content-type: none"),
        (.undecodableText(charset: "euc-jp"), -1016, "(2 bytes) is not text in the character set euc-jp"),
        (.malformedBody(.json, "Why."), -1016, "(2 bytes) is not JSON: Why."),
        (.unacceptableStatusCode(500), -1011, "(500)"),
    ])
    func hasACodeAndASentence(reason: ResponseSerializationError.Reason, code: Int, part: String) {
        let error = ResponseSerializationError(reason, response: nil, data: Data([1, 2]))
        #expect((error as NSError).code == code)
        #expect(error.description.contains(part))
        #expect(error.localizedDescription == error.description)
    }
}
