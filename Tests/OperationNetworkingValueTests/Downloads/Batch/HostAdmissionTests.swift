import Foundation
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite struct HostAdmissionTests {
    /// Members of some hosts, each named by a letter.
    private static func admission(_ hosts: String, done: Set<Int> = [], limit: Int, total: Int = .max)
        -> HostAdmission
    {
        HostAdmission(origins(hosts), done: done, limit: limit, total: total)
    }

    private static func origins(_ hosts: String) -> [Origin] {
        hosts.map { origin($0) }
    }

    private static func origin(_ host: Character) -> Origin {
        var parts = URLComponents()
        parts.scheme = "http"
        parts.host = String(host)
        return Origin(parts.url ?? URL(fileURLWithPath: "/"))
    }

    private static func all(_ admission: inout HostAdmission) -> [Int] {
        var started: [Int] = []
        while let index = admission.next() { started.append(index) }
        return started
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let hosts: String
        var done: Set<Int> = []
        let limit: Int
        var total = Int.max
        let started: [Int]

        var testDescription: String { "\(hosts) without \(done.sorted()), \(limit) each, \(total) at all" }
    }

    @Test(arguments: [
        Case(hosts: "", limit: 2, started: []),
        Case(hosts: "aaaa", limit: 2, started: [0, 1]),
        Case(hosts: "aaaa", limit: 9, started: [0, 1, 2, 3]),
        Case(hosts: "aaaabbbb", limit: 2, started: [0, 1, 4, 5]),
        Case(hosts: "abab", limit: 1, started: [0, 1]),
        Case(hosts: "aaab", limit: 2, total: 2, started: [0, 1]),
        Case(hosts: "aaab", done: [0, 3], limit: 2, started: [1, 2]),
        Case(hosts: "aa", done: [0, 1], limit: 2, started: []),
        Case(hosts: "ab", limit: 0, total: 0, started: [0]),
    ])
    func startsInOrderWhatMayRun(_ one: Case) {
        var admission = Self.admission(one.hosts, done: one.done, limit: one.limit, total: one.total)
        #expect(Self.all(&admission) == one.started)
        #expect(admission.running == one.started.count)
    }

    @Test func anEndMakesRoomForTheNextOfTheSameHost() {
        var admission = Self.admission("aaaabb", limit: 2)
        #expect(Self.all(&admission) == [0, 1, 4, 5])
        admission.leave(1)
        #expect(Self.all(&admission) == [2])
        admission.leave(4)
        #expect(Self.all(&admission) == [])
    }

    @Test func aReturnedMemberComesFirstAgain() {
        var admission = Self.admission("aaaaa", limit: 3)
        #expect(Self.all(&admission) == [0, 1, 2])
        admission.putBack(1)
        admission.putBack(0)
        admission.putBack(2)
        #expect(Self.all(&admission) == [0, 1, 2])
        #expect(admission.running == 3)
    }

    @Test func aRemovedMemberNeverStarts() {
        var admission = Self.admission("abaab", limit: 1)
        #expect(Self.all(&admission) == [0, 1])
        admission.putBack(1)
        #expect(admission.removeAll() == [1, 2, 3, 4])
        admission.leave(0)
        #expect(Self.all(&admission) == [])
    }

    /// Against the obvious way of doing it, at random.
    @Test(arguments: UInt64(0)..<20)
    func behavesLikeALinearSearch(seed: UInt64) {
        var random = RandomNumbers(seed: seed)
        let hosts = String((0..<60).map { _ in Array("abcd")[Int.random(in: 0..<4, using: &random)] })
        let (limit, total) = (Int.random(in: 1...4, using: &random), Int.random(in: 1...9, using: &random))
        var admission = Self.admission(hosts, limit: limit, total: total)
        let names = Array(hosts)
        var waiting = Array(names.indices)
        var running: [Int] = []
        while !waiting.isEmpty || !running.isEmpty {
            let expected =
                running.count < total
                ? waiting.first { index in running.count { names[$0] == names[index] } < limit } : nil
            #expect(admission.next() == expected)
            if let expected {
                waiting.removeAll { $0 == expected }
                running.append(expected)
            } else {
                let index = running.remove(at: Int.random(in: running.indices, using: &random))
                if Int.random(in: 0..<3, using: &random) == 0 {
                    admission.putBack(index)
                    waiting = (waiting + [index]).sorted()
                } else {
                    admission.leave(index)
                }
            }
        }
        #expect(admission.next() == nil && admission.running == 0)
    }

    /// A full disk sends every member back, most of them more than once.
    @Test func comparisonsGrowWithTheNumberAndItsLogarithm() {
        let origins = Self.origins("abcd")
        for count in [1 << 8, 1 << 12] {
            var admission = HostAdmission((0..<count).map { origins[$0 % 4] }, limit: count, total: count)
            for _ in 0..<2 {
                let started = Self.all(&admission)
                #expect(started.count == count)
                for index in started { admission.putBack(index) }
            }
            for index in Self.all(&admission) { admission.leave(index) }
            let logarithm = count.trailingZeroBitCount
            #expect(
                (count...40 * count * logarithm).contains(admission.steps),
                "\(count): \(admission.steps)"
            )
        }
    }
}
