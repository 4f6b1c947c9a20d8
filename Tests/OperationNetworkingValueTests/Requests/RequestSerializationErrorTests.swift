import Foundation
import FoundationNetworking
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite struct RequestSerializationErrorTests {
    @Test(arguments: [
        (RequestSerializationError.invalidURL("http://["), -1000),
        (.invalidMethod("G T"), -1000),
        (.unsupportedParameters(type: "Int"), -1016),
        (.unencodableBody(.ascii), -1016),
        (.invalidJSON(at: "a[1]", found: "a Date"), -1016),
        (.invalidPropertyList(at: "", found: "a null"), -1016),
        (.parametersTooDeep(limit: 512), -1016),
        (.invalidFieldName("a b"), -1),
        (.invalidFieldValue(name: "A"), -1),
    ])
    func isAnNSErrorOfAFNetworkings(error: RequestSerializationError, code: Int) {
        let bridged = error as NSError
        #expect(bridged.domain == "com.alamofire.error.serialization.request")
        #expect(bridged.code == code)
        #expect(bridged.localizedDescription == error.description)
        #expect(error.localizedDescription == error.description)
        #expect(bridged.localizedFailureReason == error.failureReason)
    }

    @Test func showsControlCharactersEscaped() {
        let error = RequestSerializationError.invalidFieldName("a\r\nb")
        #expect(error.description == #""a\r\nb" is not a header field name."#)
    }
}
