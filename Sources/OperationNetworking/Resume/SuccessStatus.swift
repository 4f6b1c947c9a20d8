import FoundationNetworking

/// The status of a response to a request for a file
/// ([RFC 9110 §15.3](https://www.rfc-editor.org/rfc/rfc9110#section-15.3)).
///
/// | Status                          | ``code`` | Is the body the file?                                        |
/// |---------------------------------|----------|--------------------------------------------------------------|
/// | 200, 203, 206                   | itself   | yes                                                          |
/// | 201, 202                        | itself   | not for GET: it describes an action; for other methods it may be the result |
/// | 204, 205, 207, 208, 226         | itself   | no: it is empty, several statuses, or a difference           |
/// | another 2xx, with a length      | 200      | yes: an unknown status counts as the x00 of its class (RFC 9110 §15) |
/// | another 2xx, without a length   | itself   | no: nothing says where the file ends                         |
/// | not 2xx                         | itself   | no                                                           |
struct SuccessStatus: Hashable, Sendable {
    /// The status to treat the response as.
    let code: Int

    /// - Parameters:
    ///   - code: the status that was received.
    ///   - hasLength: whether the response has a `Content-Length`.
    init(_ code: Int, hasLength: @autoclosure () -> Bool) {
        let isKnown = !(200..<300).contains(code) || (200...208).contains(code) || code == 226
        self.code = isKnown || !hasLength() ? code : 200
    }

    /// Whether the body of a response to a request with `method` is the file, or a part of it.
    func hasFile(method: String?) -> Bool {
        switch code {
        case 200, 203, 206: true
        case 201, 202: (method ?? "GET").uppercased() != "GET"
        default: false
        }
    }

    /// Checks that the body of a response is a file.
    static func check(_ response: HTTPURLResponse, method: String?) throws {
        let status = SuccessStatus(response.statusCode, hasLength: response.expectedContentLength >= 0)
        guard status.hasFile(method: method) else { throw ResumeError.unexpectedStatus(response.statusCode) }
    }
}
