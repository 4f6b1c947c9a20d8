import Foundation

/// URLs of all shapes: what is read the short way must be read as Foundation reads it.
enum URLSamples {
    private static let schemes = ["http", "https", "HTTP", "Https", "ftp", "httpx", "http+unix", ""]
    private static let authorities = [
        "example.org", "EXAMPLE.org", "a", "127.0.0.1", "1.2.3", "-a-.b.", ".", "a..b", "xn--mnchen-3ya.de",
        "xn--a", "under_score", "m%C3%BCnchen.de", "m%75nchen.de", "[::1]", "[fe80::1%25eth0]", "u@h",
        "u:p@h",
        "u:80@h", "h:80@i", "", ":80", "@", "h;x", "h,x", "h!", "h~", "a b",
    ]
    private static let ports = [
        "", ":", ":80", ":0", ":00", ":0080", ":00000080", ":1", ":8080", ":9999", ":10000", ":65535",
        ":65536",
        ":99999", ":123456", ":8x", ":x", ":80:90", ":-1", ":+1",
    ]
    private static let rests = [
        "", "/", "/a:b@c", "?q=a@b", "#f", "/?#", "\\@evil", "//x", "?", ";p", "/a%2Fb",
    ]

    /// All that Foundation takes for a URL, some 20,000.
    static let all = schemes.flatMap { scheme in
        authorities.flatMap { authority in
            ports.flatMap { port in
                rests.compactMap { rest in URL(string: scheme + "://" + authority + port + rest) }
            }
        }
    }
}
