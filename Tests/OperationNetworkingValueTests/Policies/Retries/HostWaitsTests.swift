import Foundation
import OperationNetworkingSystem
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite struct HostWaitsTests {
    private let start = MonotonicTime(seconds: 1000)

    private func host(_ text: String, of servers: ServerSet = .network) throws -> HostWaits.Host {
        HostWaits.Host(servers: servers, origin: Origin(try #require(URL(string: text))))
    }

    @Test func anUnknownServerIsNotWaitedFor() throws {
        var waits = HostWaits()
        #expect(waits.remaining(for: try host("http://a"), now: start) == nil)
    }

    @Test func aWaitGetsShorterAndIsForgottenAtItsEnd() throws {
        var waits = HostWaits()
        let host = try host("http://a")
        waits.note(host, seconds: 10, now: start)
        #expect(waits.remaining(for: host, now: start) == 10)
        #expect(waits.remaining(for: host, now: start + 9) == 1)
        #expect(waits.count == 1)
        #expect(waits.remaining(for: host, now: start + 10) == nil)
        #expect(waits.count == 0)
    }

    @Test(arguments: [
        ("http://a/x", true), ("HTTP://A:80/", true), ("https://a/", false), ("http://a:81/", false),
        ("http://b/", false), ("http://www.a/", false),
    ])
    func aWaitIsForOneSchemeHostAndPort(url: String, isMeant: Bool) throws {
        var waits = HostWaits()
        waits.note(try host("http://a/y?z"), seconds: 10, now: start)
        #expect((waits.remaining(for: try host(url), now: start) != nil) == isMeant)
    }

    @Test func serversOfAnotherSetAreSeparate() throws {
        var waits = HostWaits()
        let (one, other) = (ServerSet(), ServerSet())
        waits.note(try host("http://a", of: one), seconds: 10, now: start)
        #expect(waits.remaining(for: try host("http://a", of: one), now: start) == 10)
        #expect(waits.remaining(for: try host("http://a", of: other), now: start) == nil)
        #expect(waits.remaining(for: try host("http://a"), now: start) == nil)
    }

    @Test func theLaterOfTwoEndsCounts() throws {
        var waits = HostWaits()
        let host = try host("http://a")
        waits.note(host, seconds: 10, now: start)
        waits.note(host, seconds: 1, now: start + 1)
        #expect(waits.remaining(for: host, now: start + 1) == 9)
        waits.note(host, seconds: 20, now: start + 1)
        #expect(waits.remaining(for: host, now: start + 1) == 20)
    }

    @Test(arguments: [0, -1]) func aDelayOfZeroIsNoWait(seconds: Double) throws {
        var waits = HostWaits()
        waits.note(try host("http://a"), seconds: seconds, now: start)
        #expect(waits.count == 0)
    }

    @Test func aFullTableForgetsWhatIsOver() throws {
        var waits = HostWaits(capacity: 3)
        for (name, seconds) in [("a", 1.0), ("b", 100), ("c", 2)] {
            waits.note(try host("http://\(name)"), seconds: seconds, now: start)
        }
        waits.note(try host("http://d"), seconds: 50, now: start + 3)
        #expect(waits.count == 2)
        #expect(waits.remaining(for: try host("http://b"), now: start + 3) == 97)
    }

    @Test func aFullTableOfWaitsForgetsTheOneThatIsOverFirst() throws {
        var waits = HostWaits(capacity: 3)
        for (name, seconds) in [("a", 20.0), ("b", 10), ("c", 30), ("d", 5)] {
            waits.note(try host("http://\(name)"), seconds: seconds, now: start)
        }
        #expect(waits.count == 3)
        #expect(waits.remaining(for: try host("http://b"), now: start) == nil)
        #expect(waits.remaining(for: try host("http://d"), now: start) == 5)
        // An origin that is kept already needs no room.
        waits.note(try host("http://a"), seconds: 40, now: start)
        #expect(waits.count == 3)
    }

    @Test func aTableWithoutCapacityStoresNothing() throws {
        var waits = HostWaits(capacity: 0)
        waits.note(try host("http://a"), seconds: 20, now: start)
        #expect(waits.count == 0)
    }
}
