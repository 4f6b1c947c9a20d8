import OperationNetworkingSystem
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

struct ProxyDemandTests {
    private struct Row: Sendable, CustomTestStringConvertible {
        let before: ProxyDemand
        /// After: refused, asked for Basic, asked for more, passed, cannot hold a body, nothing seen.
        let after: [ProxyDemand]

        var testDescription: String { "\(before)" }
    }

    private static let rows = [
        Row(before: .unknown, after: [.unknown, .basic, .challenge, .nothing, .nothing, .unknown]),
        Row(before: .nothing, after: [.unknown, .basic, .challenge, .nothing, .nothing, .nothing]),
        Row(before: .basic, after: [.unknown, .basic, .challenge, .basic, .nothing, .basic]),
        Row(before: .challenge, after: [.unknown, .basic, .challenge, .challenge, .nothing, .challenge]),
    ]

    @Test(arguments: rows)
    private func followsTheTable(row: Row) {
        #expect(ProxyDemand.Evidence.allCases.map { row.before.after($0) } == row.after)
    }

    @Test func theTableHasEachState() {
        #expect(Self.rows.map(\.before) == ProxyDemand.allCases)
    }

    @Test func onlyBasicNeedsNoChallenge() {
        #expect(
            ProxyDemand.allCases.map(\.authentication) == [
                .afterChallenge, .afterChallenge, .basic, .afterChallenge,
            ]
        )
        #expect(ProxyDemand.allCases.map(\.holdsBodies) == [true, false, false, true])
    }
}
