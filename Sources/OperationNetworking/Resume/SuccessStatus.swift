import FoundationNetworking

/// A status as the answer to a request for a file
/// ([RFC 9110 §15.3](https://www.rfc-editor.org/rfc/rfc9110#section-15.3)).
///
/// | Status                          | ``code`` | Its body is the file's                              |
/// |---------------------------------|----------|-----------------------------------------------------|
/// | 200, 203, 206                   | itself   | yes                                                 |
/// | 201, 202                        | itself   | of a GET no: it tells about an action. Of another method it may be what that made |
/// | 204, 205, 207, 208, 226         | itself   | no: nothing, several states, or a difference        |
/// | another 2xx, with a length      | 200      | yes: a status that is not known counts as the x00 of its class (RFC 9110 §15) |
/// | another 2xx, without a length   | itself   | no: nothing says where the file ends                |
/// | not 2xx                         | itself   | no                                                  |
struct SuccessStatus: Hashable, Sendable {
    /// The status that counts.
    let code: Int

    /// - Parameters:
    ///   - code: the status that was received.
    ///   - hasLength: whether the response has a `Content-Length`.
    init(_ code: Int, hasLength: Bool) {
        let isKnown = !(200..<300).contains(code) || (200...208).contains(code) || code == 226
        self.code = isKnown || !hasLength ? code : 200
    }

    /// Whether the body of a response to a request with `method` is the file's, or a part of it.
    func hasFile(method: String?) -> Bool {
        switch code {
        case 200, 203, 206: true
        case 201, 202: (method ?? "GET").uppercased() != "GET"
        default: false
        }
    }

    /// Refuses a response whose body is no file's.
    /// - Throws: ``ResumeError/unexpectedStatus(_:)``.
    static func check(_ response: HTTPURLResponse, method: String?) throws {
        let status = SuccessStatus(response.statusCode, hasLength: response.expectedContentLength >= 0)
        guard status.hasFile(method: method) else { throw ResumeError.unexpectedStatus(response.statusCode) }
    }
}
