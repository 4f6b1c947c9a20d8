import Foundation
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

struct AuthenticationOfferTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var fields: [String]
        var offers: [AuthenticationOffer]
        init(_ fields: String..., offers: [AuthenticationOffer]) {
            self.fields = fields
            self.offers = offers
        }
        var testDescription: String { fields.joined(separator: " | ") }
    }

    static let rows: [Row] = [
        Row("Basic realm=\"a\"", offers: [AuthenticationOffer(.basic, parameters: ["realm": "a"])]),
        Row("bAsIc ReAlM = a", offers: [AuthenticationOffer(.basic, parameters: ["realm": "a"])]),
        Row("Basic", offers: [AuthenticationOffer(.basic)]),
        Row("Negotiate YII=", offers: [AuthenticationOffer(.negotiate, token68: "YII=")]),
        Row("NTLM TlRMTVNTUAAC==", offers: [AuthenticationOffer(.ntlm, token68: "TlRMTVNTUAAC==")]),
        Row("Negotiate, NTLM", offers: [AuthenticationOffer(.negotiate), AuthenticationOffer(.ntlm)]),
        Row(
            "Negotiate, Basic realm=\"a, b=c\"",
            offers: [
                AuthenticationOffer(.negotiate), AuthenticationOffer(.basic, parameters: ["realm": "a, b=c"]),
            ]
        ),
        Row(
            "Digest realm=\"a\", nonce=\"1==\", qop=\"auth,auth-int\", algorithm=SHA-256, Basic realm=\"a\"",
            offers: [
                AuthenticationOffer(
                    .digest,
                    parameters: [
                        "realm": "a", "nonce": "1==", "qop": "auth,auth-int", "algorithm": "SHA-256",
                    ]
                ),
                AuthenticationOffer(.basic, parameters: ["realm": "a"]),
            ]
        ),
        Row(
            "Digest realm=\"a\", algorithm=SHA-256",
            "Digest realm=\"a\", algorithm=MD5",
            offers: [
                AuthenticationOffer(.digest, parameters: ["realm": "a", "algorithm": "SHA-256"]),
                AuthenticationOffer(.digest, parameters: ["realm": "a", "algorithm": "MD5"]),
            ]
        ),
        // Quoted pairs, and what looks like a challenge in quotes.
        Row(
            #"Basic realm="a \"b\" \\ , Digest nonce=1""#,
            offers: [AuthenticationOffer(.basic, parameters: ["realm": #"a "b" \ , Digest nonce=1"#])]
        ),
        Row("Basic realm=\"\"", offers: [AuthenticationOffer(.basic, parameters: ["realm": ""])]),
        Row(
            "Basic realm=\"gr\u{FC}n\"",
            offers: [AuthenticationOffer(.basic, parameters: ["realm": "gr\u{FC}n"])]
        ),
        // Unknown names, and their parameters.
        Row("New-Way a=b", offers: [AuthenticationOffer(.other("new-way"), parameters: ["a": "b"])]),
        // Empty elements of the list.
        Row(
            ", ,Basic realm=a,,charset=UTF-8 , ",
            offers: [AuthenticationOffer(.basic, parameters: ["realm": "a", "charset": "UTF-8"])]
        ),
        // A second value of a parameter does not count.
        Row("Basic realm=a, realm=b", offers: [AuthenticationOffer(.basic, parameters: ["realm": "a"])]),
        // Garbage is passed over, up to the next comma; so are parameters of nothing.
        Row("", offers: []),
        Row("=", offers: []),
        Row("realm=a", offers: []),
        Row("\"Basic\" realm=a", offers: []),
        Row("@@@ realm=a, Basic realm=b", offers: [AuthenticationOffer(.basic, parameters: ["realm": "b"])]),
        Row(
            "Basic realm=a@b, charset=c",
            offers: [AuthenticationOffer(.basic, parameters: ["charset": "c"])]
        ),
        Row("Basic realm=a b, Bearer", offers: [AuthenticationOffer(.basic), AuthenticationOffer(.bearer)]),
        Row("Basic realm=", offers: [AuthenticationOffer(.basic, token68: "realm=")]),
        Row("Basic realm=\"a", offers: [AuthenticationOffer(.basic)]),
        Row("Basic realm=\"a\\", offers: [AuthenticationOffer(.basic)]),
        Row("Basic foo bar, Bearer", offers: [AuthenticationOffer(.basic), AuthenticationOffer(.bearer)]),
        Row("Basic/x realm=a, Bearer", offers: [AuthenticationOffer(.bearer)]),
        Row("Negotiate abc, realm=a", offers: [AuthenticationOffer(.negotiate, token68: "abc")]),
    ]

    @Test(arguments: rows)
    func reads(_ row: Row) {
        #expect(AuthenticationOffer.offers(in: row.fields) == row.offers)
    }

    @Test func aHugeFieldCostsLinearTime() {
        for piece in ["a ", "a,", "\"", "a=\"", "=", "a=b,", "Basic a"] {
            let field = String(repeating: piece, count: 200_000)
            #expect(AuthenticationOffer.offers(in: [field]).count <= 200_000)
        }
    }
}
