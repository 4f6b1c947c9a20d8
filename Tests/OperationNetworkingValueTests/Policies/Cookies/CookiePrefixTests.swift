import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

struct CookiePrefixTests {
    @Test(arguments: [
        "a=1", "", ";", "=", "__a=1", "a__Host-=1; Domain=h", "_Host-a=1", "__Hosta=1", "__Secure=1",
        "__Host-a=1; Secure; Path=/", "__host-a=1;SECURE;path=/;HttpOnly;SameSite=Lax",
        " __Host-a = 1 ; secure ; Path = / ", "__Host-a=1; Path=/p; Secure; Path=/",
        "__Host-=; Secure; Path=/",
        "__Secure-a=1; Secure", "__SECURE-a=1; secure; Domain=h; Path=/p", "a=__Host-b; Domain=h",
    ])
    func whatPromisesNothingOrKeepsIt(line: String) {
        #expect(CookiePrefix.isValid(line))
    }

    @Test(arguments: [
        "__Host-a=1", "__Host-a=1; Secure", "__Host-a=1; Path=/", "__Host-a=1; Secure; Path=/p",
        "__Host-a=1; Secure; Path=/; Path=/p", "__Host-a=1; Secure; Path=/; Domain=h",
        "__Host-a=1; Secure; Path=/; DOMAIN=127.0.0.1", "__Host-a=1; Secure; Path=/; Domain",
        "__Host-a=1; Secure; Path=/; Domain=[::1]", "__HOST-a=1; Secure; Path=\"/\"",
        "__hOsT-=; Secure; Path=//",
        "__Host-a=1; Secured; Path=/", "__Secure-a=1", "__secure-a=1; Path=/; Domain=h",
    ])
    func whatBreaksIt(line: String) {
        #expect(!CookiePrefix.isValid(line))
    }

    @Test func theLastLineOfANameCounts() {
        var prefixes = CookiePrefix()
        for line in ["__Host-a=1", "__Host-b=1; Secure; Path=/", "__Secure-c=1", "d=1", "__host-a=1"] {
            prefixes.read(line)
        }
        #expect(prefixes.brokenNames == ["__Host-a", "__host-a", "__Secure-c"])
        prefixes.read("__Host-a=2; Path=/; Secure")
        prefixes.read("__Host-b=2; Path=/")
        #expect(prefixes.brokenNames == ["__Host-b", "__host-a", "__Secure-c"])
    }
}
