import COperationNetworking

/// A failure that libcurl reported: a `CURLcode` and its sentence; see libcurl-errors(3).
package struct CurlError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The `CURLcode`.
    package let code: Int32
    /// The message of libcurl for this case, or else for the code in general.
    package let message: String
    /// The `errno` behind it, 0 when there was none.
    package let systemError: Int32

    package init(code: Int32, message: String? = nil, systemError: Int32 = 0) {
        self.code = code
        self.message = message ?? Self.sentence(for: code)
        self.systemError = systemError
    }

    /// libcurl's general sentence for a `CURLcode`.
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

/// Throws what a `curl_easy_setopt` answered, unless that was `CURLE_OK`.
func check(_ code: CURLcode) throws(CurlError) {
    guard code == CURLE_OK else { throw CurlError(code: Int32(code.rawValue)) }
}
