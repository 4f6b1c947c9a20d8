import Foundation
package import FoundationNetworking
import Synchronization

/// The head of a response, and Foundation's form of it, made on demand.
///
/// Foundation looks at each field several times to make one, which is more work than all else that a small
/// request costs. Callable from any thread.
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

    /// The media type of the `Content-Type`. Not `mimeType` and `textEncodingName`, which on Linux miss a
    /// parameter that is not in lower case.
    var mediaType: MediaType? {
        let field =
            head.map { $0.fields.combined(for: "Content-Type") }
            ?? made.load()?.value(forHTTPHeaderField: "Content-Type")
        return field.flatMap(MediaType.init(fieldValue:))
    }

    /// The name of the character set, as written.
    var charset: String? { mediaType?.charset }
}

extension HTTPURLResponse {
    /// Type and subtype of the `Content-Type`, in lower case and without parameters; `nil` when it names
    /// none. Not `mimeType`, which on Linux is an empty text then, and keeps a space before the semicolon.
    package var mediaTypeName: String? { ReceivedResponse(self).mediaType?.essence }
}

/// A response that was received to its end, as our serializers see it: without Foundation's form of its head,
/// unless an error has to carry that.
struct ReceivedMessage: Sendable {
    /// `nil` when the body did not come over HTTP.
    let response: ReceivedResponse?
    /// `nil` when the body went elsewhere.
    let data: Data?
    /// `nil` outside an operation.
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

/// The operation that a message is of, as serializers see it: it knows those that look beyond the message.
protocol MessageOrigin: Sendable {
    /// - Returns: the object in a box; `nil` if the message is all that the serializer looks at.
    func responseObject(of message: ReceivedMessage, by serializer: any ResponseSerializer) throws
        -> ResponseObject?
}

/// The object of a response, which may be `nil`.
struct ResponseObject: Sendable {
    let value: (any Sendable)?
}

/// A serializer that needs no form of Foundation's.
protocol MessageSerializer: ResponseSerializer {
    /// As ``ResponseSerializer/responseObject(for:data:)``.
    func responseObject(of message: ReceivedMessage) throws -> (any Sendable)?

    /// Whether a body of this length takes a moment only, and no code of the caller's; `nil`: the body went
    /// elsewhere.
    func isQuick(byteCount: Int?) -> Bool
}

extension MessageSerializer {
    /// A body that went elsewhere is not looked at.
    func isQuick(byteCount: Int?) -> Bool { byteCount == nil }
}
