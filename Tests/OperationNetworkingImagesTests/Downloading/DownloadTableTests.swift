import Foundation
import Testing

@testable import OperationNetworkingImages

/// The downloader's decisions, without a transfer: keys and handlers are words.
@Suite struct DownloadTableTests {
    private typealias Table = DownloadTable<String, String>

    /// A table with what happened to it, each event answered in a line.
    private struct Story {
        var table: Table
        var receipts: [String: UUID] = [:]

        init(limit: Int = 2, isLastFirst: Bool = false) {
            table = Table(limit: limit, isLastFirst: isLastFirst)
        }

        /// `ask KEY HANDLER [PRIORITY]`, `cancel HANDLER`, `end TRANSFER KEY`.
        mutating func perform(_ event: String) -> String {
            let words = event.split(separator: " ").map(String.init)
            switch words[0] {
            case "ask":
                let receipt = UUID()
                receipts[words[2]] = receipt
                let priority = words.count > 3 ? Int(words[3]) ?? 0 : 0
                return text(table.ask(for: words[1], receipt, words[2], priority: priority))
            case "cancel":
                guard let receipt = receipts[words[1]], let result = table.cancel(receipt) else { return "" }
                return "report \(result.handler)" + (result.stopped.map { " stop \($0)" } ?? "")
            default:
                let end = table.end(Int(words[1]) ?? 0, of: words[2])
                let reported = end.handlers.isEmpty ? [] : ["report " + end.handlers.joined(separator: " ")]
                return (reported + [text(end.starts)]).filter { !$0.isEmpty }.joined(separator: ", ")
            }
        }

        private func text(_ starts: [Table.Start]) -> String {
            starts.map { "start \($0.transfer) \($0.key)" }.joined(separator: " ")
        }
    }

    @Test(
        "Events, each with its effect",
        arguments: [
            (
                "one transfer for all",
                ["ask a 1 > start 1 a", "ask a 2 >", "end 1 a > report 1 2", "cancel 1 >"]
            ),
            (
                "asked again after its end",
                ["ask a 1 > start 1 a", "end 1 a > report 1", "ask a 2 > start 2 a"]
            ),
            (
                "no more than the limit",
                ["ask a 1 > start 1 a", "ask b 2 > start 2 b", "ask c 3 >", "end 2 b > report 2, start 3 c"]
            ),
            (
                "one handler of two is cancelled",
                [
                    "ask a 1 > start 1 a", "ask a 2 >", "cancel 1 > report 1", "cancel 1 >",
                    "end 1 a > report 2",
                ]
            ),
            (
                "the others are called in the order of their requests",
                [
                    "ask a 1 > start 1 a", "ask a 2 >", "ask a 3 >", "ask a 4 >", "cancel 2 > report 2",
                    "ask a 5 >",
                    "end 1 a > report 1 3 4 5",
                ]
            ),
            (
                "the last handler is cancelled",
                ["ask a 1 > start 1 a", "cancel 1 > report 1 stop 1", "end 1 a >"]
            ),
            (
                "one that waits is cancelled",
                [
                    "ask a 1 > start 1 a", "ask b 2 > start 2 b", "ask c 3 >", "cancel 3 > report 3",
                    "end 1 a > report 1",
                ]
            ),
            (
                "the end of a stopped transfer is not that of the next one",
                [
                    "ask a 1 > start 1 a", "cancel 1 > report 1 stop 1", "ask a 2 > start 2 a", "end 1 a >",
                    "end 2 a > report 2",
                ]
            ),
            (
                "a stopped transfer keeps its place until it ends",
                [
                    "ask a 1 > start 1 a", "ask b 2 > start 2 b", "cancel 1 > report 1 stop 1", "ask c 3 >",
                    "end 1 a > start 3 c",
                ]
            ),
            (
                "the priority goes before the order, and a handler raises its image",
                [
                    "ask a 1 > start 1 a", "ask b 2 > start 2 b", "ask low 3 -4 >", "ask normal 4 >",
                    "ask high 5 8 >", "end 1 a > report 1, start 5 high", "ask low 6 8 >",
                    "end 2 b > report 2, start 3 low", "end 3 low > report 3 6, start 4 normal",
                ]
            ),
            ("an unknown receipt", ["cancel 1 >"]),
        ] as [(String, [String])]
    )
    func follows(name: String, events: [String]) {
        var story = Story()
        for line in events {
            let parts = line.split(separator: ">", omittingEmptySubsequences: false)
            let event = parts[0].trimmingCharacters(in: .whitespaces)
            let effect = story.perform(event)
            #expect(effect == parts[1].trimmingCharacters(in: .whitespaces), "\(event)")
        }
    }

    @Test(arguments: [(false, "c d e"), (true, "e d c")])
    func theOrderIsFirstOrLast(isLastFirst: Bool, expected: String) {
        var story = Story(limit: 1, isLastFirst: isLastFirst)
        for key in ["a", "c", "d", "e"] { _ = story.perform("ask \(key) \(key)") }
        var order: [String] = []
        var next = [Table.Start(transfer: 1, key: "a")]
        while let start = next.first {
            next = story.table.end(start.transfer, of: start.key).starts
            order += next.map(\.key)
        }
        #expect(order.joined(separator: " ") == expected)
        #expect(story.table.activeCount == 0 && story.table.waitingCount == 0)
    }

    @Test func aLimitBelowOneIsOne() {
        var story = Story(limit: 0)
        let effect = story.perform("ask a 1")
        #expect(effect == "start 1 a")
    }

    @Test func manyThatWaitStartInTheOrderOfTheirPriorities() {
        for isLastFirst in [false, true] {
            var table = Table(limit: 1, isLastFirst: isLastFirst)
            let count = 20_000
            var started: [Int] = []
            var next = table.ask(for: "first", UUID(), "", priority: 0)
            for number in 0..<count {
                next += table.ask(for: "\(number)", UUID(), "", priority: number % 3)
            }
            // Raised to the highest, and cancelled again.
            for number in stride(from: 0, to: count, by: 300) {
                next += table.ask(for: "\(number)", UUID(), "", priority: 9)
            }
            for _ in 0..<100 {
                let ticket = UUID()
                next += table.ask(for: "cancelled", ticket, "", priority: 100)
                _ = table.cancel(ticket)
            }
            while let start = next.first {
                if let number = Int(start.key) { started.append(number) }
                next = table.end(start.transfer, of: start.key).starts
            }
            let raised = Array(stride(from: 0, to: count, by: 300))
            var expected = isLastFirst ? raised.reversed() : raised
            for priority in [2, 1, 0] {
                let rest = (0..<count).filter { $0 % 3 == priority && $0 % 300 != 0 }
                expected += isLastFirst ? rest.reversed() : rest
            }
            #expect(started == expected)
            #expect(table.waitingCount == 0 && table.activeCount == 0)
        }
    }
}
