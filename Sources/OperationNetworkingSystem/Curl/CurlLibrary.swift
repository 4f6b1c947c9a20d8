import COperationNetworking

/// The libcurl library: its one-time initialization, version and features.
package enum CurlLibrary {
    /// The version, as in `7.88.1`.
    package static var version: String {
        versionInformation.map { String(cString: $0.pointee.version) } ?? "unknown"
    }

    /// The version number, as in `0x075801` for 7.88.1.
    package static var versionNumber: UInt32 {
        versionInformation?.pointee.version_num ?? 0
    }

    /// The TLS library, as in `OpenSSL/3.0.19`, which trust evaluation requires.
    package static var tlsVersion: String {
        versionInformation.flatMap { $0.pointee.ssl_version }.map { String(cString: $0) } ?? "none"
    }

    /// Whether HTTP/2 is compiled in.
    package static var speaksHTTP2: Bool {
        (versionInformation?.pointee.features ?? 0) & Int32(CURL_VERSION_HTTP2) != 0
    }

    /// libcurl's default locations of certificate authorities.
    package static var authorities: ChainVerifier.Anchors {
        let information = versionInformation?.pointee
        return .places(
            file: information?.cainfo.map { String(cString: $0) },
            directory: information?.capath.map { String(cString: $0) }
        )
    }

    /// Whether a reused handle would read freed memory if the next response began with a folded line: before
    /// 8.1.0. See ``EasyHandle/FoldWatch``.
    static let remembersFreedFields = versionNumber < 0x080100

    private static var versionInformation: UnsafePointer<curl_version_info_data>? {
        clibcurl_version()
    }

    /// Initializes libcurl once per process, before anything else (curl_global_init(3)). Swift initializes a
    /// static exactly once.
    static func initialize() {
        precondition(
            startCode == CURLE_OK,
            "libcurl could not be initialized: \(CurlError(code: Int32(startCode.rawValue)))"
        )
    }

    private static let startCode = {
        ctls_do_not_clean_up_at_exit()
        return clibcurl_global_init()
    }()
}
