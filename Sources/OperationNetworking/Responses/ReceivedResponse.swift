import Foundation
package import FoundationNetworking
import Synchronization

/// The head of a response, and the `HTTPURLResponse` made of it on demand.
///
/// Foundation reads each field several times to create one, which takes longer than the rest of a small
/// request. Callable from any thread.
final class ReceivedResponse: Sendable {
    private let head: ResponseHead?
    private let url: URL?
    private let made = AtomicLazyReference<HTTPURLResponse>()

    init(_ head: ResponseHead, for url: URL) {
        self.head = head
        self.url = url
    }

    init(_ response: HTTPURLResponse) {
        head = nil
        url = nil
        _ = made.storeIfNil(response)
    }

    /// The same object each time.
    var value: HTTPURLResponse? {
        if let response = made.load() { return response }
        guard let head, let url, let response = head.response(for: url) else { return nil }
        return made.storeIfNil(response)
    }

    var statusCode: Int { head?.status ?? made.load()?.statusCode ?? 0 }

    /// The media type in `Content-Type`. Foundation's `mimeType` and `textEncodingName` miss parameters that
    /// are not in lower case on Linux.
    var mediaType: MediaType? {
        let field =
            head.map { $0.fields.combined(for: "Content-Type") }
            ?? made.load()?.value(forHTTPHeaderField: "Content-Type")
        return field.flatMap(MediaType.init(fieldValue:))
    }

    /// The name of the character set as written.
    var charset: String? { mediaType?.charset }
}

extension HTTPURLResponse {
    /// The type and subtype in `Content-Type`, in lower case and without parameters; `nil` if it has none. On
    /// Linux, `mimeType` is empty then, and keeps a space before the semicolon.
    package var mediaTypeName: String? { ReceivedResponse(self).mediaType?.essence }
}

/// A complete response as this library's serializers receive it. An `HTTPURLResponse` is only created for an
/// error.
struct ReceivedMessage: Sendable {
    /// `nil` if the body was not received over HTTP.
    let response: ReceivedResponse?
    /// `nil` if the body was delivered elsewhere.
    let data: Data?
    /// `nil` outside of an operation.
    let origin: (any MessageOrigin)?

    init(_ response: ReceivedResponse?, _ data: Data?, from origin: (any MessageOrigin)? = nil) {
        self.response = response
        self.data = data
        self.origin = origin
    }

    init(_ response: HTTPURLResponse?, _ data: Data?) {
        self.init(response.map { ReceivedResponse($0) }, data)
    }
}

/// The operation that received a message. It supports serializers that need more than the message.
protocol MessageOrigin: Sendable {
    /// - Returns: the object in a box; `nil` if the serializer only needs the message.
    func responseObject(of message: ReceivedMessage, by serializer: any ResponseSerializer) throws
        -> ResponseObject?
}

/// The object of a response, or `nil`.
struct ResponseObject: Sendable {
    let value: (any Sendable)?
}

/// A serializer that does not need an `HTTPURLResponse`.
protocol MessageSerializer: ResponseSerializer {
    /// As ``ResponseSerializer/responseObject(for:data:)``.
    func responseObject(of message: ReceivedMessage) throws -> (any Sendable)?

    /// Whether serializing a body of this length is quick and runs no code of the caller's; with `nil`, the
    /// body was delivered elsewhere.
    func isQuick(byteCount: Int?) -> Bool
}

extension MessageSerializer {
    /// A body that was delivered elsewhere is not read.
    func isQuick(byteCount: Int?) -> Bool { byteCount == nil }
}
