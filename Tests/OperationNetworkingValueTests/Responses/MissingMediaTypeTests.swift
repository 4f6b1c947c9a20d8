import Foundation
import FoundationNetworking
import OperationNetworking
import Testing

@testable import OperationNetworkingTestSupport

/// A media type that is missing is forgiven to an empty body, and to nothing else.
@Suite struct MissingMediaTypeTests {
    @Test("205 without a Content-Type passes without data", arguments: [204, 205], [nil, Data()])
    func passesWithoutData(status: Int, data: Data?) throws {
        let serializer = HTTPResponseSerializer(acceptableContentTypes: ["application/json"])
        #expect(try serializer.responseObject(for: exampleResponse(status), data: data) as? Data == Data())
        #expect(try JSONResponseSerializer().responseObject(for: exampleResponse(status), data: data) == nil)
        #expect(
            try ImageHeadResponseSerializer().responseObject(for: exampleResponse(status), data: data) == nil
        )
    }

    @Test func fails205WithoutAContentTypeWithData() throws {
        let serializer = HTTPResponseSerializer(acceptableContentTypes: ["application/json"])
        let error = try #require(throws: ResponseSerializationError.self) {
            try serializer.responseObject(for: exampleResponse(205), data: Data("{}".utf8))
        }
        #expect(error.reason == .unacceptableContentType(nil))
    }
}
