import Foundation
import FoundationNetworking
import Testing

@testable import opget

@Suite struct ItemRespondedTests {
    @Test(arguments: [
        ("text/plain; charset=utf-8", "text/plain"), ("Text/HTML ;q=1", "text/html"), ("", nil),
        (";charset=utf-8", nil), (nil, nil),
    ])
    func theMediaTypeHasNoParameters(fieldValue: String?, mediaType: String?) throws {
        let url = try #require(URL(string: "http://h/a"))
        let fields = fieldValue.map { ["Content-Type": $0] }
        let response = try #require(
            HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: fields)
        )
        #expect(ItemResponded(0, response).mediaType == mediaType)
    }
}
