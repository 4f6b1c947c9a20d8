import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

/// The audiences that make an end wait for the completion queue, cell by cell.
@Suite struct AudienceTests {
    @Test func anOperationWithObserversNeedsItsQueue() {
        for number in 0..<8 {
            let audience = Audience(
                hasClosures: number & 1 != 0,
                hasObservers: number & 2 != 0,
                isSubclass: number & 4 != 0
            )
            #expect(audience.needsQueue == (number != 0), "\(audience)")
        }
    }
}

/// The objects that a queue that never runs keeps.
@Suite struct DeliveryLineTests {
    private final class Member {
        let number: Int
        init(_ number: Int) { self.number = number }
    }

    @Test func onlyTheFirstOfATurnSchedules() {
        var line = DeliveryLine<Member>(limit: 2)
        let members = (0..<3).map(Member.init)
        #expect(members.map { line.append($0) } == [true, false, false])
        #expect(line.takeAll().map(\.number) == [0, 1, 2])
        let rest = line.takeAll()
        #expect(rest.isEmpty)
        let isFirst = line.append(members[1])
        #expect(isFirst)
    }

    @Test func unfinishedOperationsAreKept() {
        var line = DeliveryLine<Member>(limit: 2)
        for number in 0..<100 { _ = line.append(Member(number)) }
        #expect(line.takeAll().map(\.number) == Array(0..<100))
    }

    @Test func aRemovedOperationIsNotReported() {
        var line = DeliveryLine<Member>(limit: 1)
        let members = (0..<4).map(Member.init)
        for member in members { _ = line.append(member) }
        _ = line.end(members[0])
        let wasThere = [members[0], members[0]].map { line.remove($0) }
        #expect(wasThere == [true, false])
        // At its place, and still running.
        _ = line.append(members[0])
        let released = [members[1], members[2]].map { line.end($0)?.number }
        #expect(released == [nil, 1])
        let numbers = line.takeAll().map(\.number)
        #expect(numbers == [1, 2, 3, 0])
    }

    @Test func theLastFinishedOperationsAreKept() {
        var line = DeliveryLine<Member>(limit: 3)
        let running = Member(-1)
        _ = line.append(running)
        for number in 0..<100 {
            let member = Member(number)
            _ = line.append(member)
            let released = line.end(member)
            #expect(released?.number == (number < 3 ? nil : number - 3))
        }
        #expect(line.takeAll().map(\.number) == [-1, 97, 98, 99])
    }

    @Test func anOperationRetainedElsewhereIsStillReported() {
        var line = DeliveryLine<Member>(limit: 1)
        let members = (0..<10).map(Member.init)
        for member in members {
            _ = line.append(member)
            _ = line.end(member)
        }
        #expect(line.takeAll().map(\.number) == Array(0..<10))
    }

    @Test func theLineStaysShort() {
        var line = DeliveryLine<Member>(limit: 10)
        for number in 0..<10_000 {
            let member = Member(number)
            _ = line.append(member)
            _ = line.end(member)
            #expect(line.count <= 40)
        }
        #expect(line.takeAll().map(\.number) == Array(9990..<10_000))
    }

    @Test func anEndOfAMemberThatIsNotInTheLineIsNothing() {
        var line = DeliveryLine<Member>(limit: 0)
        let stranger = line.end(Member(0))
        #expect(stranger == nil)
        let member = Member(1)
        _ = line.append(member)
        _ = line.takeAll()
        let late = line.end(member)
        #expect(late == nil)
    }
}
