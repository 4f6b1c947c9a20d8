import COperationNetworking

/// Header fields as a `curl_slist`; see CURLOPT_HTTPHEADER(3).
///
/// libcurl only reads it, so transfers with the same fields share one. Used on one thread, like the handles.
/// Each handle retains it until it is replaced.
package final class HeaderList {
    /// As in ``TransferOptions/headerLines``.
    package let lines: [String]
    /// Whether the caller sets `Host`.
    let namesHost: Bool
    let pointer: UnsafeMutablePointer<curl_slist>?

    /// - Parameters:
    ///   - lines: the lines, in UTF-8.
    ///   - octetLine: the line that has one scalar per octet instead.
    /// - Throws: if out of memory.
    package init(_ lines: [String], octetLine: String? = nil) throws(CurlError) {
        var list: UnsafeMutablePointer<curl_slist>?
        for line in lines {
            guard let longer = Self.append(line, isOctets: line == octetLine, to: list) else {
                curl_slist_free_all(list)
                throw CurlError(code: Int32(CURLE_OUT_OF_MEMORY.rawValue))
            }
            list = longer
        }
        self.lines = lines
        namesHost = lines.contains { line in
            let name = line.utf8.prefix { $0 != UInt8(ascii: ":") && $0 != UInt8(ascii: ";") }
            return name.map { $0 | 0x20 }.elementsEqual("host".utf8)
        }
        pointer = list
    }

    private static func append(
        _ line: String,
        isOctets: Bool,
        to list: UnsafeMutablePointer<curl_slist>?
    ) -> UnsafeMutablePointer<curl_slist>? {
        guard isOctets else { return curl_slist_append(list, line) }
        return (line.octets + [0]).withUnsafeBufferPointer { octets in
            octets.withMemoryRebound(to: CChar.self) { curl_slist_append(list, $0.baseAddress) }
        }
    }

    deinit {
        curl_slist_free_all(pointer)
    }
}
