import Foundation
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

/// The domain of trust that settings stand for is kept while they change otherwise, and never longer.
struct SharedSettingsTests {
    private static let trusting: [@Sendable (inout TransferSettings) -> Void] = [
        { $0.securityPolicy.validatesDomainName = false },
        { $0.trustAnchors = .file(URL(fileURLWithPath: "/authorities.pem")) },
        { $0.tlsVersions = .v1_3 ... .v1_3 },
    ]
    private static let others: [@Sendable (inout TransferSettings) -> Void] = [
        { $0.retryPolicy = RetryPolicy(maximumRetries: 1) }, { $0.cookieJar = nil },
        { $0.timeouts.connect = 1 }, { $0.credential = Credential(user: "a", password: "b") },
    ]

    @Test func otherChangesKeepTheDomain() {
        var settings = SharedSettings.standard
        for change in Self.others {
            change(&settings.value)
            #expect(settings.trustDomain == SharedSettings.standard.trustDomain)
        }
    }

    @Test func eachChangeOfTrustIsAnotherDomain() {
        for change in Self.trusting {
            var settings = SharedSettings.standard
            let old = settings.trustDomain
            change(&settings.value)
            let new = settings.trustDomain
            #expect(new != old)
            // What comes after it keeps the new one.
            for other in Self.others {
                other(&settings.value)
                #expect(settings.trustDomain == new)
            }
            settings.value = TransferSettings()
            #expect(settings.trustDomain == old)
            #expect(SharedSettings.standard.trustDomain == old)
        }
    }
}
