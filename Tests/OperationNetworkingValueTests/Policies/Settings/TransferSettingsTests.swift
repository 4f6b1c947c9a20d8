import Foundation
import Testing

@testable import OperationNetworking

@Suite struct TransferSettingsTests {
    /// Each with another value than its default.
    private static var settings: TransferSettings {
        var settings = TransferSettings()
        settings.securityPolicy = SecurityPolicy(validatesDomainName: false)
        settings.trustAnchors = .certificates([])
        settings.tlsVersions = .v1_3 ... .v1_3
        settings.shouldUseCredentialStorage = false
        settings.authenticationSchemes = [.basic]
        var policy = RetryPolicy(maximumRetries: 7)
        (policy.methods, policy.statusCodes, policy.errorCodes) = (["GET"], [503], [.timedOut])
        settings.retryPolicy = policy
        settings.redirectPolicy = .refuse
        settings.proxyConfiguration = .none
        settings.cookieJar = nil
        settings.timeouts = Timeouts(connect: 1, total: 2)
        return settings
    }

    private static func text(_ settings: TransferSettings) throws -> [String: String] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let object = try JSONSerialization.jsonObject(with: encoder.encode(settings)) as? [String: Any] ?? [:]
        return try object.mapValues { value in
            let options: JSONSerialization.WritingOptions = [.sortedKeys, .fragmentsAllowed]
            let data = try JSONSerialization.data(withJSONObject: value, options: options)
            return String(decoding: data, as: UTF8.self)
        }
    }

    @Test func everySettingThatIsEncodedIsRestored() throws {
        let settings = Self.settings
        let coded = try Self.text(settings)
        // Or the test would not see that one is left out.
        for (name, value) in try Self.text(TransferSettings()) where name != "format" {
            #expect(coded[name] != value, "\(name)")
        }
        #expect(coded.count == 11)
        let back = try JSONDecoder().decode(TransferSettings.self, from: JSONEncoder().encode(settings))
        #expect(try Self.text(back.encoded) == coded)
    }
}
