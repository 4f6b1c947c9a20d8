import Foundation
import FoundationNetworking
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite struct BodyEndTests {
    typealias Facts = BodyEnd.Facts

    private static let uses: [BodyUse] = [
        .deliver, .skip(1, then: []), .compare(1), .check([1]), .bufferSeparately(1), .drop, .discard(1),
    ]

    private static let broken = TransferError.truncatedHead
    private static let lengthError = URLError.tooLong(url: nil)

    private static func name(_ end: BodyEnd) -> String {
        switch end {
        case .askAboutServer: "ask about the server"
        case .again: "again"
        case .finish: "finish"
        case .lost: "lost"
        case .changed: "changed"
        case .retry: "retry"
        case .differs: "differs"
        case .askForMore: "ask for more"
        case .wrongLength: "wrong length"
        }
    }

    @Test(arguments: uses)
    func aRefusedServerCausesAChallenge(use: BodyUse) throws {
        let url = try #require(URL(string: "https://example.org/"))
        let refusal = ServerTrustError(host: "example.org", check: .host, serverTrust: nil, url: url)
        let error = TransferError.untrusted(refusal)
        let facts = Facts(error: error, use: use, bodyExplains: true, wasHeldForGood: true)
        guard case .askAboutServer(let asked) = BodyEnd(facts) else {
            Issue.record("the challenge closure may know it")
            return
        }
        #expect(asked.url == url)
    }

    private static let rows: [(Facts, String)] = [
        // Nothing was sent.
        (Facts(error: .expired, use: .drop), "again"),
        // The rest of an error's body was not wanted, or did not come.
        (Facts(error: .refused, use: .bufferSeparately(0)), "finish"),
        (Facts(error: .client(TransferError.refused), use: .bufferSeparately(0)), "finish"),
        (Facts(error: .client(broken), use: .bufferSeparately(0)), "retry"),
        (Facts(error: broken, use: .bufferSeparately(0), bodyExplains: true), "finish"),
        (Facts(error: broken, use: .bufferSeparately(0)), "retry"),
        // No byte of it can be had.
        (Facts(error: .unrequestedCoding("br"), use: .bufferSeparately(0)), "lost"),
        (Facts(error: .length(.malformedLength("x")), use: .bufferSeparately(0)), "lost"),
        (Facts(error: .unrequestedCoding("br"), use: .bufferSeparately(0), bodyExplains: true), "finish"),
        (Facts(error: .unrequestedCoding("br")), "retry"),
        (Facts(error: .length(.malformedLength("x")), use: .drop), "retry"),
        // An error within the body.
        (Facts(error: broken), "retry"),
        (Facts(error: .refused), "retry"),
        (Facts(error: broken, bodyExplains: true), "retry"),
        (Facts(error: broken, use: .drop), "retry"),
        (Facts(error: broken, use: .skip(1, then: [])), "retry"),
        (Facts(error: broken, use: .check([1])), "retry"),
        (Facts(error: broken, use: .compare(1)), "retry"),
        (Facts(error: broken, use: .discard(1)), "retry"),
        (Facts(error: broken, wasHeldForGood: true), "changed"),
        (Facts(error: broken, use: .bufferSeparately(0), wasHeldForGood: true), "changed"),
        (Facts(error: broken, use: .bufferSeparately(0), bodyExplains: true, wasHeldForGood: true), "finish"),
        // A body that came whole.
        (Facts(), "finish"),
        (Facts(use: .compare(1)), "finish"),
        (Facts(use: .bufferSeparately(0)), "finish"),
        (Facts(use: .drop), "finish"),
        (Facts(use: .discard(1)), "finish"),
        (Facts(use: .skip(1, then: [])), "changed"),
        (Facts(use: .check([1])), "differs"),
        (Facts(isShort: true), "ask for more"),
        (Facts(isShort: true, lengthError: lengthError), "ask for more"),
        (Facts(lengthError: lengthError), "wrong length"),
        (Facts(wasHeldForGood: true), "finish"),
    ]

    @Test(arguments: rows.indices)
    func eachEndHasItsConsequence(row: Int) {
        let (facts, expected) = Self.rows[row]
        #expect(Self.name(BodyEnd(facts)) == expected, "\(facts)")
    }
}
