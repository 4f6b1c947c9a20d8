import Foundation
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import opget

@Suite struct AccessTests {
    private func access(
        _ arguments: [String],
        environment: [String: String] = [:],
        answer: String? = nil
    ) throws -> Access {
        try Access(OpgetCommand(arguments: arguments), environment: environment) { _ in answer }
    }

    private func refusal(_ arguments: [String], _ environment: [String: String] = [:]) -> String? {
        do {
            _ = try access(arguments, environment: environment)
            return nil
        } catch {
            return (error as? Failure).map { $0.outcome == .usage ? $0.sentence : "\($0.outcome)" }
                ?? "\(error)"
        }
    }

    @Test func withoutOptionsTheLibrarysDefaultsApply() throws {
        let access = try access([])
        #expect(access.trustAnchors == .system)
        #expect(access.securityPolicy == .default)
        #expect(access.proxies == .environment)
        #expect(access.redirects == .follow)
        #expect(access.credential == nil && access.netrc == nil && access.clientIdentity == nil)
        #expect(access.cookieFile == nil)
    }

    @Test func authoritiesComeFromTheOptionsThenFromTheEnvironment() throws {
        let folder = try TemporaryDirectory()
        let file = folder.file("ca.pem")
        try Data().write(to: file)
        let environment = ["CURL_CA_BUNDLE": "/b", "SSL_CERT_FILE": "/c"]
        #expect(try access(["--cacert", file.path], environment: environment).trustAnchors == .file(file))
        let directory = try access(["--capath", folder.url.path], environment: environment).trustAnchors
        #expect(directory == .directory(URL(fileURLWithPath: folder.url.path)))
        #expect(try access([], environment: environment).trustAnchors == .file(URL(fileURLWithPath: "/b")))
        // The library looks at it.
        #expect(
            try access([], environment: ["SSL_CERT_FILE": "/c", "CURL_CA_BUNDLE": ""]).trustAnchors == .system
        )
        #expect(
            refusal(["--cacert", file.path, "--capath", folder.url.path])?.contains("cannot be combined")
                == true
        )
        #expect(refusal(["--cacert", "/nowhere"]) != nil)
    }

    @Test func pinsAreKeys() throws {
        let pin = "sha256//" + Data(repeating: 1, count: 32).base64EncodedString()
        let other = "sha256//" + Data(repeating: 2, count: 32).base64EncodedString()
        for arguments in [["--pin", pin, "--pin", other], ["--pin", pin + ";" + other]] {
            let policy = try access(arguments).securityPolicy
            #expect(policy.pinningMode == .publicKey)
            #expect(policy.pinnedPublicKeys == [try PublicKeyPin(pin), try PublicKeyPin(other)])
            #expect(!policy.allowInvalidCertificates && policy.validatesDomainName)
        }
        #expect(refusal(["--pin", "sha256//x"])?.hasPrefix("--pin: ") == true)
        // A pin without anything in it must not be none.
        #expect(refusal(["--pin", ""])?.hasPrefix("--pin: ") == true)
        let insecure = try access(["--insecure"]).securityPolicy
        #expect(insecure.allowInvalidCertificates && !insecure.validatesDomainName && !insecure.pins)
    }

    @Test func aPasswordIsOnTheLineInTheEnvironmentOrPrompted() throws {
        let wanted = Credential(user: "me", password: "a:b")
        #expect(try access(["-u", "me:a:b"]).credential == wanted)
        #expect(try access(["-u", "me"], environment: ["OPGET_PASSWORD": "a:b"]).credential == wanted)
        #expect(try access(["-u", "me"], answer: "a:b").credential == wanted)
        #expect(try access(["-u", "me:"]).credential == Credential(user: "me", password: ""))
        #expect(refusal(["-u", "me"])?.contains("OPGET_PASSWORD") == true)
        #expect(refusal(["-u", ""])?.contains("-u needs a user") == true)
    }

    @Test func proxiesAreWhatTheOptionsSay() throws {
        let proxy = try Proxy("http://proxy:3128")
        #expect(try access(["--proxy", "http://proxy:3128"]).proxies == .proxy(proxy))
        let named = try Proxy(host: "proxy", port: 3128, user: "me", password: "secret")
        for access in [
            try access(["-x", "http://me:secret@proxy:3128"]),
            try access(["-x", "proxy:3128", "--proxy-user", "me:secret"]),
            try access(
                ["-x", "proxy:3128", "--proxy-user", "me"],
                environment: ["OPGET_PROXY_PASSWORD": "secret"]
            ),
        ] { #expect(access.proxies == .proxy(named)) }
        let exceptions = try access(["-x", "http://proxy:3128", "--noproxy", "localhost,10.0.0.0/8"]).proxies
        #expect(exceptions == .proxy(proxy, exceptions: ["localhost", "10.0.0.0/8"]))
        #expect(try access(["--proxy", ""]).proxies == .none)
        #expect(refusal(["--noproxy", "a"])?.contains("need --proxy") == true)
        let refused = refusal(["--proxy", "https://me:secret@proxy"])
        #expect(refused?.hasPrefix("--proxy: ") == true && refused?.contains("secret") == false)
    }

    @Test func redirectsAreCounted() throws {
        #expect(try access(["--max-redirects", "0"]).redirects.maximumCount == 0)
        #expect(refusal(["--max-redirects=-1"]) != nil)
    }

    @Test func aKeyNeedsACertificateAndBothHaveToBeThere() {
        #expect(refusal(["--key", "/a"]) == "--key needs --cert.")
        #expect(refusal(["--cert", "/nowhere.pem"])?.contains("/nowhere.pem") == true)
        #expect(refusal(["--netrc-file", "/nowhere"]) == "file")
        #expect(refusal(["--cacert", "/nowhere"]) == "file")
        #expect(Failure(CertificateError.unreadable("/nowhere", reason: "x")).outcome == .file)
        #expect(Failure(CertificateError.wrongPassphrase("/nowhere")).outcome == .usage)
    }

    @Test func aDirectoryIsNotACertificate() {
        #expect(refusal(["--cert", "/"]) == "/ cannot be read: it is a directory")
        #expect(refusal(["--netrc-file", "/"]) == "file")
    }

    @Test(arguments: ["--cacert", "--capath", "--cert", "--key", "--netrc-file", "--cookie-jar"])
    func anEmptyNameIsAMistake(option: String) {
        #expect(refusal([option, ""]) == "\(option) needs a name, not an empty one.")
    }
}
