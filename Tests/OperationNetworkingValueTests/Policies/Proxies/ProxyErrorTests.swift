import Foundation
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite(.timeLimit(.minutes(1)))
struct ProxyErrorTests {
    private static let http = "http://p:1"
    private static let socks = "socks5h://p:1"

    private func error(
        _ proxy: String,
        _ code: Int32,
        _ message: String = "why",
        tunnel: Int = 0,
        proxyCode: Int = 0,
        hasConnection: Bool = false
    ) throws -> ProxyError? {
        ProxyError(
            try Proxy(proxy),
            ProxyError.Evidence(
                code: code,
                message: message,
                tunnelStatus: tunnel,
                proxyCode: proxyCode,
                hasConnection: hasConnection
            )
        )
    }

    @Test(arguments: [5, 7] as [Int32], [http, socks])
    func aMissingProxyIsUnreachable(code: Int32, proxy: String) throws {
        #expect(try error(proxy, code) == .unreachable(proxy: proxy, reason: "why"))
    }

    @Test(arguments: [
        (407, ProxyError.authenticationRequired(proxy: http)), (401, .authenticationRequired(proxy: http)),
        (403, .refused(proxy: http, status: 403)), (502, .refused(proxy: http, status: 502)),
        (301, .refused(proxy: http, status: 301)),
        (101, .refused(proxy: http, status: 101)),
        (200, .failed(proxy: http, reason: "why", isTemporary: true)),
    ])
    func theAnswerToCONNECTSaysWhatFailed(status: Int, expected: ProxyError) throws {
        let message = status == 200 ? "why" : "CONNECT tunnel failed, response \(status)"
        #expect(try error(Self.http, 56, message, tunnel: status) == expected)
        // Nothing comes from such an answer when a SOCKS proxy is used: there was no CONNECT.
        #expect(try error(Self.socks, 56, tunnel: status) == nil)
    }

    /// The status is that of the 407 before, while the CONNECT with credentials has no answer.
    @Test(arguments: [401, 407], [8, 52, 55, 56] as [Int32])
    func aProxyThatClosesAfterItsChallengeHasFailed(status: Int, code: Int32) throws {
        let failure = ProxyError.failed(proxy: Self.http, reason: "why", isTemporary: true)
        #expect(try error(Self.http, code, tunnel: status) == failure)
        #expect(try error(Self.http, 28, tunnel: status) == nil)
        #expect(
            try error(Self.http, 7, tunnel: status) == .unreachable(proxy: Self.http, reason: "why")
        )
    }

    /// Later versions of libcurl have another code for it.
    @Test(arguments: [
        (407, ProxyError.authenticationRequired(proxy: http)), (502, .refused(proxy: http, status: 502)),
    ])
    func aRefusalIsNotAConnectionFailure(status: Int, expected: ProxyError) throws {
        let message = "CONNECT tunnel failed, response \(status)"
        #expect(try error(Self.http, 7, message, tunnel: status) == expected)
    }

    @Test(arguments: [8, 52, 55, 56] as [Int32])
    func aProxyThatLeavesBeforeTheTunnelStandsHasFailed(code: Int32) throws {
        #expect(try error(Self.http, code) == .failed(proxy: Self.http, reason: "why", isTemporary: true))
        #expect(try error(Self.http, code, tunnel: 200, hasConnection: true) == nil)
        #expect(try error(Self.http, code, hasConnection: true) == nil)
    }

    @Test(arguments: [0, 6, 18, 28, 35, 60] as [Int32])
    func otherFailuresAreNotTheProxys(code: Int32) throws {
        #expect(try error(Self.http, code, tunnel: 200) == nil)
        #expect(try error(Self.http, code) == nil)
        #expect(try error(Self.socks, code) == nil)
    }

    @Test(arguments: [
        (12, true, false), (33, true, false), (19, false, true), (21, false, true), (20, false, true),
        (23, false, false), (2, false, false), (3, false, true), (11, false, false),
        (26, false, true), (7, false, false), (8, false, false),
    ])
    func aSOCKSProxySaysWhy(proxyCode: Int, isAuthentication: Bool, isTemporary: Bool) throws {
        let expected: ProxyError =
            isAuthentication
            ? .authenticationRequired(proxy: Self.socks)
            : .failed(proxy: Self.socks, reason: "why", isTemporary: isTemporary)
        let error = try error(Self.socks, 97, proxyCode: proxyCode)
        #expect(error == expected)
        #expect(error?.isTemporary == isTemporary)
    }

    @Test func aNameThatIsLookedUpHereIsNotTheProxys() throws {
        #expect(try error("socks5://p:1", 97, proxyCode: 27) == nil)
    }

    @Test(arguments: [
        (ProxyError.malformed(reason: "x"), URLError.Code.badURL, false),
        (.unsupported(reason: "x"), .unsupportedURL, false),
        (.unreachable(proxy: http, reason: "x"), .cannotConnectToHost, true),
        (.authenticationRequired(proxy: http), .userAuthenticationRequired, false),
        (.refused(proxy: http, status: 403), .cannotConnectToHost, false),
        (.refused(proxy: http, status: 502), .cannotConnectToHost, true),
        (.failed(proxy: http, reason: "x", isTemporary: true), .cannotConnectToHost, true),
    ])
    func theUnderlyingErrorIsAURLError(error: ProxyError, code: URLError.Code, isTemporary: Bool) {
        #expect(error.code == code && error.isTemporary == isTemporary)
        let object = error as NSError
        #expect(object.domain == "OperationNetworking.ProxyError" && object.code == code.rawValue)
        #expect((object.userInfo[NSUnderlyingErrorKey] as? URLError)?.code == code)
        #expect(error.localizedDescription == error.description && error.description.hasSuffix("."))
    }
}
