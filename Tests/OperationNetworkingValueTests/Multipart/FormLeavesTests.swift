import Foundation
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite struct FormLeavesTests {
    /// The leaves as text, bytes as their number.
    private func leaves(
        _ parameters: [String: any Sendable],
        _ style: QueryString.ArrayStyle
    ) throws -> [String] {
        try FormLeaves(parameters, arrayStyle: style).leaves.map { leaf in
            switch leaf.value {
            case .text(let text): "\(leaf.name)=\(text)"
            case .data(let data): "\(leaf.name): \(data.count) bytes"
            }
        }
    }

    @Test(arguments: [.brackets, .indices, .repeated, .comma] as [QueryString.ArrayStyle])
    func namesAndTextsAreThoseOfAQuery(style: QueryString.ArrayStyle) throws {
        let parameters: [String: any Sendable] = [
            "user": ["name": "Zoë & co", "tags": ["b", "a"], "empty": [String]()] as [String: any Sendable],
            "e\u{301}": Set([3, 1, 2]), "x": NSNull(), "list": [1, Int?.none, 3],
            "deep": [["k": [1, 2]], ["k": [3]]],
        ]
        let pairs = try QueryString(parameters, arrayStyle: style).pairs
        #expect(try leaves(parameters, style) == pairs.map { "\($0.name)=\($0.value ?? "")" })
        #expect(pairs.count > 8)
    }

    @Test func bytesAreNotText() throws {
        let bytes = Data([1, 2, 3])
        let parameters: [String: any Sendable] = ["a": bytes, "b": Data?.some(bytes), "c": [bytes, bytes]]
        #expect(
            try leaves(parameters, .repeated) == ["a: 3 bytes", "b: 3 bytes", "c: 3 bytes", "c: 3 bytes"]
        )
    }

    @Test func bytesAreNotJoinedByCommas() throws {
        let parameters: [String: any Sendable] = ["a": [Data([1]), "x"] as [any Sendable], "b": [1, 2]]
        #expect(try leaves(parameters, .comma) == ["a[]: 1 bytes", "a[]=x", "b=1,2"])
    }
}
