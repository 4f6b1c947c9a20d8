import Foundation
import OperationNetworkingSystem
import Testing

@testable import OperationNetworking

@Suite struct HostWaitsTests {
    private let start = MonotonicTime(seconds: 1000)

    private func origin(_ text: String) throws -> Origin {
        Origin(try #require(URL(string: text)))
    }

    @Test func whatIsNotKnownIsNotWaitedFor() throws {
        var waits = HostWaits()
        #expect(waits.remaining(for: try origin("http://a"), now: start) == nil)
    }

    @Test func aWaitGetsShorterAndIsForgottenAtItsEnd() throws {
        var waits = HostWaits()
        let origin = try origin("http://a")
        waits.note(origin, seconds: 10, now: start)
        #expect(waits.remaining(for: origin, now: start) == 10)
        #expect(waits.remaining(for: origin, now: start + 9) == 1)
        #expect(waits.count == 1)
        #expect(waits.remaining(for: origin, now: start + 10) == nil)
        #expect(waits.count == 0)
    }

    @Test(arguments: [
        ("http://a/x", true), ("HTTP://A:80/", true), ("https://a/", false), ("http://a:81/", false),
        ("http://b/", false), ("http://www.a/", false),
    ])
    func aWaitIsForOneSchemeHostAndPort(url: String, isMeant: Bool) throws {
        var waits = HostWaits()
        waits.note(try origin("http://a/y?z"), seconds: 10, now: start)
        #expect((waits.remaining(for: try origin(url), now: start) != nil) == isMeant)
    }

    @Test func theLaterOfTwoEndsCounts() throws {
        var waits = HostWaits()
        let origin = try origin("http://a")
        waits.note(origin, seconds: 10, now: start)
        waits.note(origin, seconds: 1, now: start + 1)
        #expect(waits.remaining(for: origin, now: start + 1) == 9)
        waits.note(origin, seconds: 20, now: start + 1)
        #expect(waits.remaining(for: origin, now: start + 1) == 20)
    }

    @Test(arguments: [0, -1]) func noTimeIsNoWait(seconds: Double) throws {
        var waits = HostWaits()
        waits.note(try origin("http://a"), seconds: seconds, now: start)
        #expect(waits.count == 0)
    }

    @Test func aFullTableForgetsWhatIsOver() throws {
        var waits = HostWaits(capacity: 3)
        for (name, seconds) in [("a", 1.0), ("b", 100), ("c", 2)] {
            waits.note(try origin("http://\(name)"), seconds: seconds, now: start)
        }
        waits.note(try origin("http://d"), seconds: 50, now: start + 3)
        #expect(waits.count == 2)
        #expect(waits.remaining(for: try origin("http://b"), now: start + 3) == 97)
    }

    @Test func aFullTableOfWaitsForgetsTheOneThatIsOverFirst() throws {
        var waits = HostWaits(capacity: 3)
        for (name, seconds) in [("a", 20.0), ("b", 10), ("c", 30), ("d", 5)] {
            waits.note(try origin("http://\(name)"), seconds: seconds, now: start)
        }
        #expect(waits.count == 3)
        #expect(waits.remaining(for: try origin("http://b"), now: start) == nil)
        #expect(waits.remaining(for: try origin("http://d"), now: start) == 5)
        // An origin that is kept already needs no room.
        waits.note(try origin("http://a"), seconds: 40, now: start)
        #expect(waits.count == 3)
    }

    @Test func aTableWithoutRoomRemembersNothing() throws {
        var waits = HostWaits(capacity: 0)
        waits.note(try origin("http://a"), seconds: 20, now: start)
        #expect(waits.count == 0)
    }
}
