import Foundation
import FoundationNetworking
import Testing

/// A response of `http://example.com/` with that status and content type.
func exampleResponse(_ status: Int, _ contentType: String? = nil) throws -> HTTPURLResponse {
    let url = try #require(URL(string: "http://example.com/"))
    let fields = contentType.map { ["Content-Type": $0] } ?? [:]
    return try #require(
        HTTPURLResponse(url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: fields)
    )
}
