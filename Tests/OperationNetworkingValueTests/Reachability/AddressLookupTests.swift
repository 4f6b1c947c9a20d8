import OperationNetworkingSystem
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

/// When a name is looked up, and what its addresses are: a script of events for each rule.
@Suite struct AddressLookupTests {
    private let first: [RouteDestination]
    private let second: [RouteDestination]

    init() throws {
        first = [RouteDestination(try #require(InternetAddress("192.0.2.1")))]
        second = [RouteDestination(try #require(InternetAddress("192.0.2.2")))]
    }

    @Test func nothingIsKnownBeforeTheFirstResult() {
        var lookup = NameLookup()
        #expect(lookup.addresses == nil)
        #expect(lookup.ask() == .look(turn: 1))
        #expect(lookup.addresses == nil)
        #expect(lookup.end(.found(first), turn: 1) == .none)
        #expect(lookup.addresses == first)
    }

    @Test func aRequestDuringALookupCausesAnotherLookup() {
        var lookup = NameLookup()
        #expect(lookup.ask() == .look(turn: 1))
        #expect(lookup.ask() == .none)
        #expect(lookup.ask() == .none)
        #expect(lookup.end(.found(first), turn: 1) == .look(turn: 2))
        #expect(lookup.end(.found(second), turn: 2) == .none)
        #expect(lookup.addresses == second)
    }

    @Test func aNameThatDoesNotExistHasNoAddresses() {
        var lookup = NameLookup()
        _ = lookup.ask()
        #expect(lookup.end(.found(first), turn: 1) == .none)
        _ = lookup.ask()
        #expect(lookup.end(.none, turn: 2) == .none)
        #expect(lookup.addresses == [])
    }

    @Test func aLookupThatFailsForNowIsRepeatedThreeTimes() {
        var lookup = NameLookup()
        var effect = lookup.ask()
        for delay in [0.5, 2, 8] {
            guard case .look(let turn) = effect else { break }
            #expect(lookup.end(.temporaryFailure, turn: turn) == .wait(delay, turn: turn + 1))
            #expect(lookup.addresses == [])
            effect = lookup.wake(turn: turn + 1)
        }
        #expect(effect == .look(turn: 7))
        #expect(lookup.end(.temporaryFailure, turn: 7) == .none)
        // A change of the routes begins anew.
        #expect(lookup.ask() == .look(turn: 8))
        #expect(lookup.end(.temporaryFailure, turn: 8) == .wait(0.5, turn: 9))
    }

    @Test func aLookupThatFailsForNowLeavesTheEarlierAddresses() {
        var lookup = NameLookup()
        _ = lookup.ask()
        _ = lookup.end(.found(first), turn: 1)
        _ = lookup.ask()
        #expect(lookup.end(.temporaryFailure, turn: 2) == .wait(0.5, turn: 3))
        #expect(lookup.addresses == first)
    }

    @Test func aRequestDuringADelayLooksUpAtOnce() {
        var lookup = NameLookup()
        _ = lookup.ask()
        #expect(lookup.end(.temporaryFailure, turn: 1) == .wait(0.5, turn: 2))
        #expect(lookup.ask() == .look(turn: 3))
        #expect(lookup.wake(turn: 2) == .none)
        #expect(lookup.end(.found(first), turn: 3) == .none)
        #expect(lookup.wake(turn: 2) == .none)
    }

    @Test func aResultAfterAStopIsIgnored() {
        var lookup = NameLookup()
        _ = lookup.ask()
        lookup.stop()
        #expect(lookup.end(.found(first), turn: 1) == .none)
        #expect(lookup.addresses == nil)
        #expect(lookup.ask() == .look(turn: 3))
        #expect(lookup.end(.found(second), turn: 1) == .none)
        #expect(lookup.addresses == nil)
    }
}
