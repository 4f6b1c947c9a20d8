import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite struct DefaultHeadersTests {
    @Test(arguments: [
        (["LANG": "pt_BR.UTF-8"], "pt-BR;q=1"),
        (["LANG": "de", "LC_ALL": "fr_FR"], "fr-FR;q=1"),
        (["LANG": "de", "LC_MESSAGES": "fr_CH@euro"], "fr-CH;q=1"),
        (["LANG": "de", "LC_ALL": ""], "de;q=1"),
        (["LANG": "de_AT", "LANGUAGE": "de_AT:de:en"], "de-AT;q=1, de;q=0.9, en;q=0.8"),
        (
            ["LANG": "a", "LC_ALL": "aa", "LANGUAGE": "aa:bb:cc:dd:ee:ff:gg"],
            "aa;q=1, bb;q=0.9, cc;q=0.8, dd;q=0.7, ee;q=0.6, ff;q=0.5"
        ),
        (["LANG": "de", "LANGUAGE": "de:de::C:de_DE"], "de;q=1, de-DE;q=0.9"),
        (["LANG": "C", "LANGUAGE": "de"], "en;q=1"),
        (["LANG": "C.UTF-8"], "en;q=1"),
        (["LC_ALL": "POSIX", "LANG": "de"], "en;q=1"),
        (["LANG": "de\r\nX-Injected: 1"], "en;q=1"),
        ([:], "en;q=1"),
    ])
    func namesTheLanguagesOfTheEnvironment(environment: [String: String], value: String) {
        #expect(DefaultHeaders.acceptLanguage(environment: environment) == value)
    }

    @Test("Of 100,000 languages only six are read", .timeLimit(.minutes(1)))
    func looksAtTheFirstLanguagesOnly() {
        let list = (0..<100_000).map { "de_\($0)" }.joined(separator: ":")
        let value = DefaultHeaders.acceptLanguage(environment: ["LANG": "de", "LANGUAGE": list])
        #expect(value == "de-0;q=1, de-1;q=0.9, de-2;q=0.8, de-3;q=0.7, de-4;q=0.6, de-5;q=0.5")
    }

    @Test(arguments: [
        (
            "opget", "1.2", "Debian GNU/Linux 12 (bookworm)",
            "opget/1.2 (Linux; Debian GNU/Linux 12 (bookworm))"
        ),
        ("opget", nil, "Debian", "opget/0 (Linux; Debian)"),
        ("mein Übergrößenprogramm", "1", "x", "mein-Ubergrossenprogramm/1 (Linux; x)"),
        ("Łódź–œuvre", "1", "x", "Lodz-oeuvre/1 (Linux; x)"),
        ("プログラム", "1", "x", "-/1 (Linux; x)"),
        ("a\r\nX-Injected: b", "1\n", "x\r\ny", "a--X-Injected--b/1- (Linux; xy)"),
        ("a", "1", "x) y", "a/1 (Linux; x y)"),
        ("a", "1", "x ((y)", "a/1 (Linux; x y)"),
    ])
    func namesTheProcessAndTheSystemInASCII(process: String, version: String?, system: String, value: String)
    {
        #expect(DefaultHeaders.userAgent(process: process, version: version, system: system) == value)
    }

    @Test func areSentUnlessRemoved() {
        var serializer = HTTPRequestSerializer()
        #expect(serializer.value(forHTTPHeaderField: "Accept-Language")?.contains(";q=1") == true)
        #expect(serializer.value(forHTTPHeaderField: "User-Agent")?.contains(" (Linux; ") == true)
        serializer.setValue(nil, forHTTPHeaderField: "user-agent")
        #expect(serializer.httpRequestHeaders.keys.sorted() == ["Accept-Language"])
    }
}
