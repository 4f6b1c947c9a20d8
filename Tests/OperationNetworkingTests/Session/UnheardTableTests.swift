import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite struct UnheardTableTests {
    private final class Member {
        let number: Int
        init(_ number: Int) { self.number = number }
    }

    @Test func onlyTheFirstOfATurnSchedules() {
        var table = UnheardTable<Member>(limit: 2)
        let members = (0..<3).map(Member.init)
        #expect(members.map { table.append($0) } == [true, false, false])
        #expect(table.takeAll().map(\.number) == [0, 1, 2])
        #expect(table.count == 0)
        let isFirst = table.append(members[1])
        #expect(isFirst)
    }

    @Test func whatHasNotEndedWaits() {
        var table = UnheardTable<Member>(limit: 2)
        for number in 0..<100 { _ = table.append(Member(number)) }
        #expect(table.takeAll().map(\.number) == Array(0..<100))
    }

    @Test func oneThatIsTakenOutIsNotTold() {
        var table = UnheardTable<Member>(limit: 1)
        let members = (0..<4).map(Member.init)
        for member in members { _ = table.append(member) }
        _ = table.end(members[0])
        let wasThere = [members[0], members[0]].map { table.remove($0) }
        #expect(wasThere == [true, false])
        // At its place, and still running.
        _ = table.append(members[0])
        let late = [members[1], members[2]].map { table.end($0)?.number }
        #expect(late == [nil, 1])
        #expect(table.takeAll().map(\.number) == [2, 3, 0])
    }

    @Test func theOldestThatEndedIsToldElsewhere() {
        var table = UnheardTable<Member>(limit: 2)
        let members = (0..<8).map(Member.init)
        for member in members { _ = table.append(member) }
        let late = members.dropFirst().map { table.end($0)?.number }
        #expect(late == [nil, nil, 1, 2, 3, 4, 5])
        #expect(table.takeAll().map(\.number) == [0, 6, 7])
    }

    @Test func theEndOfOneThatDoesNotWaitIsNone() {
        var table = UnheardTable<Member>(limit: 0)
        let member = Member(0)
        #expect(table.end(member) == nil)
        _ = table.append(member)
        #expect(table.end(member) === member)
        #expect(table.end(member) == nil)
    }
}

/// In a process of its own, whose main thread waits.
@Suite(.timeLimit(.minutes(2))) struct UnheardTaskTests {
    @Test func nothingIsLostWhileTheMainQueueStands() async {
        await #expect(processExitsWith: .success) {
            alarm(50)
            let (gate, isBlocked) = (Gate(), Gate())
            DispatchQueue.main.async {
                isBlocked.open()
                try? gate.waitSynchronously(within: .seconds(1000))
            }
            try await isBlocked.wait()
            let session = URLSessionManager()
            let completions = Recorder<Int>()
            let token = NotificationCenter.default.addObserver(
                forName: .taskDidComplete,
                object: nil,
                queue: nil
            ) { completions.append(($0.object as? SessionTask)?.taskIdentifier ?? 0) }
            let request = URLRequest(url: try #require(URL(string: "http://127.0.0.1:1/")))
            // Its handler is a closure, which waits for the main queue however many tasks end after it.
            let download = session.downloadTask(
                with: request,
                progress: nil,
                destination: nil,
                completion: nil
            )
            let (handlers, isMain) = (Recorder<Bool>(), DispatchSpecificKey<Bool>())
            DispatchQueue.main.setSpecific(key: isMain, value: true)
            download.cancelByProducingResumeData {
                handlers.append($0 == nil && DispatchQueue.getSpecific(key: isMain) == true)
            }
            for _ in 2...601 { session.dataTask(with: request, completion: nil).cancel() }
            // The last 256 wait for the main queue.
            try await completions.wait(count: 600 - 256)
            guard handlers.elements.isEmpty else { exit(2) }
            gate.open()
            guard try await handlers.wait() == [true] else { exit(3) }
            try await completions.wait(count: 601)
            guard Set(completions.elements) == Set(1...601), completions.elements.count == 601 else {
                exit(4)
            }
            NotificationCenter.default.removeObserver(token)
        }
    }
}
