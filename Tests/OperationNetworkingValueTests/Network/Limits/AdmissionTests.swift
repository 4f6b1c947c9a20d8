import Foundation
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite(.timeLimit(.minutes(1)))
struct AdmissionTests {
    private func place(
        _ limit: ConnectionLimit,
        _ address: String = "http://a.test",
        shares: Bool = false
    ) throws -> TransferPlace {
        let url = try #require(URL(string: address))
        return TransferPlace(limit: limit, origin: Origin(url), sharing: shares ? TrustDomain() : nil)
    }

    private func own(_ number: UInt64) -> ConnectionID { ConnectionID(number: number, isShared: false) }
    private func shared(_ number: UInt64) -> ConnectionID { ConnectionID(number: number, isShared: true) }

    /// `count` transfers that wait at `place`.
    private func fill(
        _ admission: inout Admission,
        _ place: TransferPlace,
        _ count: Int,
        _ priority: TransferPriority = .normal
    ) -> [TransferID] {
        (0..<count).map { _ in
            let id = TransferID.next()
            admission.append(id, to: place, priority: priority)
            return id
        }
    }

    // What is expanded of a macro cannot change a value.

    private func next(_ admission: inout Admission) -> TransferID? { admission.next() }

    private func connect(_ admission: inout Admission, _ id: TransferID, to connection: ConnectionID) -> Bool
    {
        admission.didConnect(id, to: connection)
    }

    /// All that may start now.
    private func started(_ admission: inout Admission) -> [TransferID] {
        var all: [TransferID] = []
        while let id = admission.next() { all.append(id) }
        return all
    }

    @Test(arguments: [1, 2, 6]) func aServerHasAsManyConnectionsAsItsLimitSays(limit: Int) throws {
        var admission = Admission()
        let ids = fill(&admission, try place(ConnectionLimit(limit)), 10)
        #expect(started(&admission) == Array(ids[..<limit]))
        #expect(connect(&admission, ids[0], to: own(0)))
        #expect(started(&admission) == [])
        admission.remove(ids[0])
        #expect(started(&admission) == [ids[limit]])
        // Also one that had no connection yet.
        if limit > 1 {
            admission.remove(ids[1], hasFailed: true)
            #expect(started(&admission) == [ids[limit + 1]])
        }
        #expect(admission.waitingCount == 10 - limit - min(limit, 2))
    }

    @Test func aServerAtItsLimitDelaysNoOtherServer() throws {
        var admission = Admission()
        let limit = ConnectionLimit(1)
        let silent = fill(&admission, try place(limit), 3)
        #expect(started(&admission) == [silent[0]])
        for address in ["https://a.test", "http://a.test:81", "http://b.test"] {
            let other = fill(&admission, try place(limit, address), 1)
            #expect(started(&admission) == other, "\(address)")
        }
        let another = fill(&admission, try place(ConnectionLimit(1)), 2)
        #expect(started(&admission) == [another[0]])
    }

    @Test func waitingTransfersStartByPriorityAndThenInOrder() throws {
        var admission = Admission()
        let place = try place(ConnectionLimit(1))
        let first = fill(&admission, place, 1)
        #expect(started(&admission) == first)
        var expected: [TransferID] = []
        for priority in [TransferPriority.low, .veryHigh, .normal, .veryLow, .high] {
            _ = fill(&admission, place, 1, priority)
        }
        for priority in TransferPriority.allCases.reversed() {
            expected += fill(&admission, place, 2, priority)
        }
        var order: [TransferID] = []
        var running = first[0]
        for _ in 0..<15 {
            admission.remove(running)
            running = try #require(next(&admission))
            order.append(running)
        }
        #expect(order.filter { expected.contains($0) } == expected)
        #expect(next(&admission) == nil)
    }

    @Test func theFirstTransferThatMayShareAConnectionStarts() throws {
        for connection in [own(1), shared(1)] {
            var admission = Admission()
            let ids = fill(&admission, try place(ConnectionLimit(3), "https://a.test", shares: true), 10)
            #expect(started(&admission) == [ids[0]])
            #expect(connect(&admission, ids[0], to: connection))
            // HTTP/1.1: as many as there are connections left. HTTP/2: one, to see where it arrives.
            #expect(started(&admission).count == (connection.isShared ? 1 : 2))
        }
    }

    /// One after the other, each might wait until it times out.
    @Test func theOthersTryAllAtOnceWhenTheFirstHasFailed() throws {
        var admission = Admission()
        let ids = fill(&admission, try place(ConnectionLimit(3), "https://a.test", shares: true), 10)
        #expect(started(&admission) == [ids[0]])
        admission.remove(ids[0], hasFailed: true)
        #expect(started(&admission) == Array(ids[1...3]))
    }

    @Test func aStoppedTransferLeavesItsPlaceToTheNext() throws {
        var admission = Admission()
        let ids = fill(&admission, try place(ConnectionLimit(3), "https://a.test", shares: true), 10)
        #expect(started(&admission) == [ids[0]])
        admission.remove(ids[1])
        admission.remove(ids[0])
        #expect(started(&admission) == [ids[2]])
    }

    @Test func aHeldConnectionDelaysNobody() throws {
        var admission = Admission()
        let ids = fill(&admission, try place(ConnectionLimit(2)), 6)
        #expect(started(&admission) == Array(ids[..<2]))
        for id in ids[..<2] { #expect(connect(&admission, id, to: own(1))) }
        admission.didHold(ids[0])
        #expect(started(&admission) == [ids[2]])
        #expect(admission.activeCount == 2)
        // It goes on at once; the next one waits until there are fewer than two again.
        admission.didResume(ids[0])
        #expect(admission.activeCount == 3)
        admission.remove(ids[1])
        #expect(started(&admission) == [])
        admission.remove(ids[0])
        #expect(started(&admission) == [ids[3]])
        #expect(connect(&admission, ids[2], to: own(2)))
        admission.didHold(ids[2])
        #expect(started(&admission) == [ids[4]])
        admission.remove(ids[2])
        #expect(started(&admission) == [])
    }

    @Test func anotherLimitCountsAtOnce() throws {
        var admission = Admission()
        let limit = ConnectionLimit(2)
        let ids = fill(&admission, try place(limit), 10)
        #expect(started(&admission) == Array(ids[..<2]))
        limit.own = 4
        admission.limitsDidChange()
        #expect(started(&admission) == Array(ids[2..<4]))
        limit.own = 1
        admission.limitsDidChange()
        for id in ids[..<3] {
            admission.remove(id)
            #expect(started(&admission) == [])
        }
        admission.remove(ids[3])
        #expect(started(&admission) == [ids[4]])
    }

    @Test func aRaisedLimitAppliesToAllWhileItsTransfersExist() throws {
        var admission = Admission()
        let place = try place(ConnectionLimit(1))
        let ids = fill(&admission, place, 5)
        #expect(started(&admission) == [ids[0]])
        let batch = TransferID.next()
        admission.append(batch, to: place, raisedLimit: 3)
        #expect(started(&admission) == Array(ids[1..<3]))
        for id in ids + [batch] { admission.remove(id) }
        #expect(next(&admission) == nil)
        let later = fill(&admission, place, 3)
        #expect(started(&admission) == [later[0]])
    }

    /// A manager is never idle, perhaps.
    @Test func aRaisedLimitGoesWithTheLastThatRaisesIt() throws {
        var admission = Admission()
        let place = try place(ConnectionLimit(1))
        let ids = fill(&admission, place, 8)
        let batch = (0..<4).map { _ in TransferID.next() }
        for (id, limit) in zip(batch, [3, 3, 5, 2]) { admission.append(id, to: place, raisedLimit: limit) }
        #expect(started(&admission) == Array(ids[..<5]))
        admission.remove(batch[2])
        admission.remove(ids[0])
        #expect(started(&admission) == [], "four are left, and three may be")
        admission.remove(batch[0])
        admission.remove(ids[1])
        admission.remove(ids[2])
        #expect(started(&admission) == [ids[5]])
        admission.remove(batch[1])
        admission.remove(ids[3])
        #expect(started(&admission) == [], "two are left, and two may be")
        admission.remove(batch[3])
        admission.remove(ids[4])
        #expect(started(&admission) == [], "one is left, and one may be")
        admission.remove(ids[5])
        #expect(started(&admission) == [ids[6]])
    }

    @Test func aTransferWithoutAConnectionKeepsItsPlace() throws {
        var admission = Admission()
        let place = try place(ConnectionLimit(1), "https://a.test", shares: true)
        let ids = fill(&admission, place, 4)
        #expect(started(&admission) == [ids[0]])
        #expect(connect(&admission, ids[0], to: shared(1)))
        // The server takes one stream for each connection.
        #expect(started(&admission) == [ids[1]])
        #expect(!connect(&admission, ids[1], to: shared(2)))
        admission.remove(ids[1])
        admission.append(ids[1], to: place, rank: WaitingRank(priority: .normal, number: 2))
        #expect(started(&admission) == [], "the connection is full")
        admission.remove(ids[0])
        #expect(started(&admission) == [ids[1]])
    }

    /// libcurl sends more than a server takes before the server has said so, and those that are refused come back.
    @Test func whatAServerRefusesIsNotSentAgainAtOnce() throws {
        var admission = Admission()
        let ids = fill(&admission, try place(ConnectionLimit(2), "https://a.test", shares: true), 500)
        for number in 0..<30 {
            #expect(next(&admission) == ids[number])
            #expect(connect(&admission, ids[number], to: shared(1)))
        }
        // It takes four; the others try a second one, which is the last.
        for number in 4..<30 {
            #expect(connect(&admission, ids[number], to: shared(number < 8 ? 2 : 3)) == (number < 8))
            if number >= 8 { admission.remove(ids[number]) }
        }
        #expect(started(&admission) == [])
        admission.remove(ids[0])
        admission.remove(ids[7])
        let more = started(&admission)
        #expect(more == Array(ids[30..<32]))
        for id in more { #expect(connect(&admission, id, to: shared(1))) }
        // When that has gone well for a while, more are tried.
        var running = [ids[1], ids[2], ids[3], ids[4], ids[5], ids[6]] + more
        var most = 0
        while !running.isEmpty {
            admission.remove(running.removeFirst())
            for id in started(&admission) {
                #expect(connect(&admission, id, to: shared(running.count % 2 == 0 ? 1 : 2)))
                running.append(id)
            }
            most = max(most, running.count)
        }
        #expect(most > 8)
        #expect(admission.waitingCount == 0)
    }

    /// A server that takes `streams` at once over each connection, 0: HTTP/1.1; transfers that are held, go on, end and are
    /// cancelled in any order.
    @Test(arguments: [0, 1, 3, 100], [1, 2, 6]) func noServerEverHasMoreThanItsLimit(
        streams: Int,
        limit: Int
    ) throws {
        var random = SeededGenerator(seed: UInt64(streams * 10 + limit))
        var admission = Admission()
        let places = [
            try place(ConnectionLimit(limit), "https://a.test", shares: true),
            try place(ConnectionLimit(limit), "http://b.test"),
        ]
        var model = ServerModel(streams: streams)
        var waiting: [TransferID: TransferPlace] = [:]
        for _ in 0..<3000 {
            switch Int.random(in: 0..<8, using: &random) {
            case 0...2:
                let place = places[Int.random(in: 0...1, using: &random)]
                let id = TransferID.next()
                admission.append(id, to: place)
                waiting[id] = place
            case 3...5:
                guard let id = model.carried.keys.randomElement(using: &random) else { break }
                model.leave(id)
                admission.remove(id)
            case 6:
                guard let id = waiting.keys.randomElement(using: &random) else { break }
                waiting[id] = nil
                admission.remove(id)
            default:
                admission.limitsDidChange()
            }
            while let id = admission.next() {
                guard let place = waiting.removeValue(forKey: id) else {
                    Issue.record("\(id) was started twice, or after it was cancelled")
                    return
                }
                let connection = model.connect(id, shares: place.sharing != nil)
                guard !admission.didConnect(id, to: connection) else { continue }
                model.leave(id)
                admission.remove(id)
                admission.append(id, to: place)
                waiting[id] = place
            }
            #expect(model.connections(isShared: true) <= limit)
            #expect(model.connections(isShared: false) <= 2 * limit)
            // Who waits, waits for something.
            for place in places where waiting.values.contains(place) {
                #expect(model.isBusy(place, limit: limit))
            }
        }
        for id in Array(model.carried.keys) + Array(waiting.keys) { admission.remove(id) }
        #expect(admission.activeCount == 0 && admission.waitingCount == 0)
        #expect(next(&admission) == nil)
    }

    @Test func thousandsOfServersAreForgotten() throws {
        var admission = Admission()
        let limit = ConnectionLimit(1)
        let kept = fill(&admission, try place(limit, "http://kept.test"), 3)
        #expect(started(&admission) == [kept[0]])
        for number in 0..<2000 {
            let ids = fill(&admission, try place(limit, "http://h\(number).test"), 2)
            #expect(started(&admission) == [ids[0]])
            admission.remove(ids[0])
            #expect(started(&admission) == [ids[1]])
            admission.remove(ids[1])
        }
        admission.remove(kept[0])
        #expect(started(&admission) == [kept[1]])
    }

    /// The steps of `count` transfers to one server that come, wait, and are stopped or started, one by one.
    private func steps(_ count: Int, stopping: Bool) throws -> Int {
        var admission = Admission()
        let place = try place(ConnectionLimit(6), "https://a.test", shares: true)
        let ids = fill(&admission, place, count)
        var running = try #require(next(&admission))
        for id in stopping ? ids.reversed() : ids where id != running || !stopping {
            if stopping {
                admission.remove(id)
            } else {
                admission.remove(running)
                running = admission.next() ?? running
            }
        }
        return admission.steps
    }

    /// 60,000 once cost the network thread 1.3 seconds.
    @Test(arguments: [false, true]) func stepsGrowWithTheNumberAndNotWithItsSquare(stopping: Bool) throws {
        for count in [1000, 4000, 16_000] {
            let steps = try steps(count, stopping: stopping)
            #expect((1...20 * count).contains(steps), "\(count): \(steps)")
        }
    }

    /// A transfer that is sent back has its old place, at the front of the line.
    @Test func returnedTransfersDoNotMoveOthers() throws {
        for count in [1000, 4000] {
            var admission = Admission()
            let place = try place(ConnectionLimit(1))
            var ranks: [TransferID: WaitingRank] = [:]
            for _ in 0..<count {
                let id = TransferID.next()
                ranks[id] = admission.append(id, to: place)
            }
            while let id = admission.next() {
                admission.remove(id)
                admission.append(id, to: place, rank: ranks[id])
                let again = admission.next()
                #expect(again == id)
                admission.remove(id)
            }
            #expect(admission.waitingCount == 0)
            #expect((1...40 * count).contains(admission.steps), "\(count): \(admission.steps)")
        }
    }
}

/// The behavior of a server toward connections.
private struct ServerModel {
    /// 0: HTTP/1.1.
    let streams: Int
    private(set) var carried: [TransferID: ConnectionID] = [:]
    private var last: UInt64 = 0

    init(streams: Int) {
        self.streams = streams
    }

    mutating func connect(_ id: TransferID, shares: Bool) -> ConnectionID {
        var loads: [ConnectionID: Int] = [:]
        for connection in carried.values where connection.isShared { loads[connection, default: 0] += 1 }
        if shares, let free = loads.first(where: { $0.value < streams }) {
            carried[id] = free.key
            return free.key
        }
        last += 1
        let connection = ConnectionID(number: last, isShared: shares && streams > 0)
        carried[id] = connection
        return connection
    }

    mutating func leave(_ id: TransferID) {
        carried[id] = nil
    }

    func connections(isShared: Bool) -> Int {
        Set(carried.values).count { $0.isShared == isShared }
    }

    func isBusy(_ place: TransferPlace, limit: Int) -> Bool {
        place.sharing != nil && streams > 0
            ? connections(isShared: true) >= limit : connections(isShared: false) >= limit
    }
}
