import Foundation
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

/// The order in which equal requests that wait take the cache of the first one.
struct SharedRequestsTests {
    private let requests = SharedRequests()
    private let key: SharedRequests.Key

    init() throws {
        let request = TransferRequest.plain(try #require(URL(string: "http://127.0.0.1/equal")))
        key = SharedRequests.Key(
            sharing: try #require(CacheRequest(request).sharing),
            idleTimeout: 60,
            priority: .normal,
            limits: []
        )
    }

    /// As for a transfer, which never looks whether such a time has passed.
    @Test(arguments: [Double.nan, .signalingNaN, .infinity, -.infinity, -1, 0])
    func timeoutsWithoutALimitMakeARemovableKey(idleTimeout: Double) throws {
        let request = TransferRequest.plain(try #require(URL(string: "http://127.0.0.1/equal")))
        func key(waiting idleTimeout: Double) throws -> SharedRequests.Key {
            SharedRequests.Key(
                sharing: try #require(CacheRequest(request).sharing),
                idleTimeout: idleTimeout,
                priority: .normal,
                limits: []
            )
        }
        let unlimited = try key(waiting: idleTimeout)
        #expect(try unlimited == key(waiting: 0) && unlimited != self.key)
        let ids = (0..<3).map { _ in TransferID.next() }
        var areFirst: [Bool] = []
        #expect(!requests.join(unlimited, ids[0]) { _ in })
        let mustWait = requests.join(unlimited, ids[1]) { areFirst.append($0) }
        #expect(mustWait)
        requests.finish(unlimited, of: ids[0], .isStored)
        #expect(areFirst == [false])
        // Nothing is left that it would wait for.
        #expect(!requests.join(unlimited, ids[2]) { _ in })
    }

    @Test func manyThatWaitLeaveOrTakeThePlaceOneByOne() throws {
        let ids = (0...10_000).map { _ in TransferID.next() }
        var (heirs, others): ([TransferID], [TransferID]) = ([], [])
        for (index, id) in ids.enumerated() {
            let mustWait = requests.join(key, id) { isFirst in
                if isFirst { heirs.append(id) } else { others.append(id) }
            }
            #expect(mustWait == (index > 0))
        }
        // Every third one leaves while it waits, from the end; then each of the first half is stopped in turn.
        for index in stride(from: 9_999, to: 0, by: -3) { requests.leave(key, ids[index]) }
        let left = ids.indices.dropFirst().filter { $0 % 3 != 0 }.map { ids[$0] }
        var leader = ids[0]
        for successor in left.prefix(3_000) {
            #expect(requests.isAwaited(key, leader))
            requests.finish(key, of: leader, .wasStopped)
            leader = successor
        }
        requests.finish(key, of: ids[0], .isStored)
        #expect(others.isEmpty && heirs == Array(left.prefix(3_000)))
        requests.finish(key, of: leader, .isStored)
        #expect(others == Array(left.dropFirst(3_000)))
        #expect(!requests.join(key, ids[0]) { _ in })
    }

    @Test func aRequestDoesNotWaitForOneWithAnotherProxyOrTimeout() throws {
        let request = TransferRequest.plain(try #require(URL(string: "http://127.0.0.1/equal")))
        let sharing = try #require(CacheRequest(request).sharing)
        func key(_ connectTimeout: Double?, _ proxy: Proxy?) -> SharedRequests.Key {
            SharedRequests.Key(
                sharing: sharing,
                idleTimeout: 60,
                connectTimeout: connectTimeout,
                proxy: proxy,
                priority: .normal,
                limits: []
            )
        }
        let proxy = try Proxy("http://127.0.0.1:1")
        #expect(Set([key(nil, nil), key(3, nil), key(5, nil), key(nil, proxy)]).count == 4)
        #expect(key(nil, nil) == key(0, nil) && key(3, proxy) == key(3, proxy))
    }
}
