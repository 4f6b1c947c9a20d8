import Testing

@testable import OperationNetworkingTestSupport

/// Most tests with real servers are disabled where theirs is missing, as in a run without `scripts/with-servers`.
struct RealServersTests {
    static let names = [
        "HTTPBIN", "NGINX_HTTP", "NGINX_HTTPS", "NGHTTPD", "NGHTTPD_NO_LENGTH", "NGHTTPD_TRAILERS", "APACHE",
        "NTLM",
        "HTTP_PROXY", "HTTP_PROXY_PASSWORD", "HTTP_PROXY_DIGEST", "SOCKS", "SOCKS_PASSWORD",
    ]

    @Test(
        .enabled(if: RealServersTests.names.contains { RealServers.url($0) != nil }),
        arguments: RealServersTests.names
    )
    func noneIsMissing(name: String) {
        #expect(RealServers.url(name) != nil)
    }
}
