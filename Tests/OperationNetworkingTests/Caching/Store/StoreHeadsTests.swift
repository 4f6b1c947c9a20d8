import Foundation
import OperationNetworkingTesting
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

/// Answers that overtake each other: the head that is stored after them.
@Suite(.timeLimit(.minutes(2)))
struct StoreHeadsTests {
    private let directory: TemporaryDirectory
    private let key = CacheKey(url: "http://a.example/1")

    init() throws {
        directory = try TemporaryDirectory()
    }

    private static func head(_ url: String, asked time: Double, _ lifetime: Int) -> CachedHead {
        var head = sampleHead(url, length: 3, ["ETag": "\"v1\"", "Cache-Control": "max-age=\(lifetime)"])
        head.requestTime = time
        head.responseTime = time
        return head
    }

    @Test(arguments: StoreKind.allCases, [true, false])
    func theResponseToTheLaterRequestWins(kind: StoreKind, isOvertaken: Bool) async throws {
        let store = kind.store(directory)
        let found = try #require(try await store.put(key, sampleBytes(3)))
        let (first, second) = (Self.head(key.url, asked: 2000, 600), Self.head(key.url, asked: 3000, 0))
        for head in isOvertaken ? [second, first] : [first, second] {
            store.update(found, of: key, to: head)
        }
        #expect(try await store.found(key).map(\.head) == [second])
        guard kind == .both else { return }
        store.waitForChanges()
        #expect(try await ResponseStore.sample(directory).found(key).map(\.head) == [second])
    }

    /// The head that was found, the one that is stored now, the new one, and the one that is stored after it:
    /// the times of their questions, and whether they are invalidated.
    static let overtaken: [[(time: Double, isInvalidated: Bool)]] = [
        [(1, false), (1, false), (2, false), (2, false)],
        [(1, false), (3, false), (2, false), (3, false)],
        [(1, false), (3, false), (2, true), (3, true)],
        [(1, false), (3, true), (2, false), (3, true)],
        [(1, false), (1, true), (2, false), (2, true)],
        [(1, true), (1, true), (2, false), (2, false)],
        // The clock was set back, and nothing came between.
        [(9, false), (9, false), (2, false), (2, false)],
    ]

    @Test(arguments: overtaken.indices) func headsThatArriveOutOfOrder(index: Int) {
        let heads = Self.overtaken[index].map { row in
            var head = Self.head(key.url, asked: row.time, Int(row.time))
            head.isInvalidated = row.isInvalidated
            return head
        }
        #expect(heads[1].updated(to: heads[2], from: heads[0]) == heads[3])
    }
}
