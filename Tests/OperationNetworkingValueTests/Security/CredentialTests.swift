import Foundation
import FoundationNetworking
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

struct CredentialTests {
    private static let secrets: [Credential] = [
        Credential(user: "alice", password: "s3cret"), Credential(bearerToken: "s3cret"),
    ]

    @Test(arguments: secrets)
    func descriptionsAndDumpsHaveNoSecret(_ credential: Credential) {
        var dumped = ""
        dump(credential, to: &dumped)
        var settings = TransferSettings()
        settings.credential = credential
        dump(settings, to: &dumped)
        dump(TrustDomain(anchors: .system, credential: credential), to: &dumped)
        dump(Authentication.Proof(credential: credential, scheme: .ntlm).curlAuthentication, to: &dumped)
        for text in [
            "\(credential)", String(reflecting: credential), String(describing: [credential]),
            String(reflecting: Optional(credential)), dumped,
        ] {
            #expect(!text.contains("s3cret"), "\(text)")
        }
    }

    @Test func aTokenIsNotWritten() {
        var dumped = ""
        let token = TokenSource.Token("s3cret", expiry: Date(timeIntervalSince1970: 0))
        dump(token, to: &dumped)
        #expect(!dumped.contains("s3cret") && !"\(token)".contains("s3cret"))
        #expect(!String(reflecting: token).contains("s3cret"))
    }

    @Test func foundationsCredentialsAreTaken() {
        let taken = Credential(URLCredential(user: "u", password: "p", persistence: .none))
        #expect(taken == Credential(user: "u", password: "p"))
        #expect(taken?.user == "u" && Credential(bearerToken: "t").user == nil)
    }

    @Test(arguments: ["\r\nX: y", "a\nb", "a\rb", "a\0b", "a\tb", "a\u{7F}b", "a\u{85}b"])
    func controlCharactersAreRefused(_ text: String) {
        for scheme in [AuthenticationScheme.basic, .digest, .ntlm] {
            #expect(throws: CredentialError.controlCharacter(in: .user)) {
                try Credential(user: text, password: "p").check(for: scheme)
            }
            #expect(throws: CredentialError.controlCharacter(in: .password)) {
                try Credential(user: "u", password: text).check(for: scheme)
            }
        }
        #expect(throws: CredentialError.controlCharacter(in: .token)) {
            try Credential(bearerToken: text).check(for: .bearer)
        }
    }

    @Test(arguments: ["", "a b", "gr\u{FC}n"])
    func anInvalidTokenIsRefused(_ text: String) {
        #expect(throws: CredentialError.invalidToken) {
            try Credential(bearerToken: text).check(for: .bearer)
        }
    }

    @Test func aColonInANameIsRefusedForBasicOnly() throws {
        let credential = Credential(user: "a:b", password: "c:d")
        #expect(throws: CredentialError.colonInUser) { try credential.check(for: .basic) }
        try credential.check(for: .digest)
        try Credential(user: "ab", password: "c:d").check(for: .basic)
        try Credential(user: "\u{FC}", password: "\u{1F600} \"\\").check(for: .basic)
    }

    @Test(arguments: [
        ("http://u:p@h/a?q#f", "http://h/a?q#f", "u", "p"),
        ("http://u@h:81/", "http://h:81/", "u", nil), ("http://u:@h:81/", "http://h:81/", "u", ""),
        ("http://u%40e:p%3Aw@h/", "http://h/", "u@e", "p:w"),
        ("http://:p@h/", "http://h/", "", "p"), ("http://:@h/", "http://h/", nil, nil),
        ("http://@h/", "http://h/", nil, nil),
        ("http://h/a@b:c", "http://h/a@b:c", nil, nil),
    ])
    func aURLsCredentialIsTakenOut(_ text: String, _ plain: String, _ user: String?, _ password: String?)
        throws
    {
        let url = try #require(URL(string: text))
        #expect(url.withoutUserInformation.absoluteString == plain)
        let information = try url.userInformation()
        #expect(information?.user == user && information?.password == password)
    }
}
