import COperationNetworking

/// A failure reported by libcurl: a `CURLcode` and its message; see libcurl-errors(3).
package struct CurlError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The `CURLcode`.
    package let code: Int32
    /// libcurl's message for this case, or else its general message for the code.
    package let message: String
    /// The underlying `errno`; 0 if there was none.
    package let systemError: Int32

    package init(code: Int32, message: String? = nil, systemError: Int32 = 0) {
        self.code = code
        self.message = message ?? Self.sentence(for: code)
        self.systemError = systemError
    }

    /// libcurl's general message for a `CURLcode`.
    package static func sentence(for code: Int32) -> String {
        curl_easy_strerror(CURLcode(UInt32(bitPattern: code))).map { String(cString: $0) } ?? "error \(code)"
    }

    /// One more than the largest `CURLcode` that this libcurl knows.
    package static var codeCount: Int32 {
        Int32(CURL_LAST.rawValue)
    }

    package var description: String {
        "\(message) (curl error \(code))"
    }
}

/// Throws the result of a `curl_easy_setopt`, unless it is `CURLE_OK`.
func check(_ code: CURLcode) throws(CurlError) {
    guard code == CURLE_OK else { throw CurlError(code: Int32(code.rawValue)) }
}
