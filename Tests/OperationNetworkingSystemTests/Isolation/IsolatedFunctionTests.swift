import Foundation
import OperationNetworkingSystem
import Testing

/// The call of a closure whose isolation is known only at run time.
@Suite struct IsolatedFunctionTests {
    private actor Counter {
        private var count = 0

        func add(_ number: Int, _ text: String) -> String {
            call(number, text) { number, text in
                self.count += number
                return text + "\(self.count)"
            }
        }

        private func call(
            _ number: Int,
            _ text: String,
            @_inheritActorContext _ closure: @escaping @isolated(any) @Sendable (Int, String) -> String
        ) -> String {
            #expect(closure.isolation === self)
            return callAssumingIsolation(of: closure, number, text)
        }
    }

    private final class Token: Sendable {}

    @MainActor @Test func aMainActorClosureIsCalledWithItsArguments() {
        var sum = 0
        let add: @MainActor @Sendable (Int, String) -> String = { number, text in
            sum += number
            return text + "\(sum)"
        }
        let closure: @isolated(any) @Sendable (Int, String) -> String = add
        #expect(closure.isolation === MainActor.shared)
        let results = (1...3).map { callAssumingIsolation(of: closure, $0, "sum ") }
        #expect(results == ["sum 1", "sum 3", "sum 6"] && sum == 6)
    }

    @Test func anActorsClosureIsCalledWithItsArguments() async {
        let counter = Counter()
        #expect(await counter.add(2, "count ") == "count 2")
        #expect(await counter.add(3, "count ") == "count 5")
    }

    @Test func aClosureWithoutIsolationIsCalledAndReleased() {
        weak var released: Token?
        do {
            let token = Token()
            released = token
            let closure: @isolated(any) @Sendable () -> Bool = { withExtendedLifetime(token) { true } }
            #expect(closure.isolation == nil && callAssumingIsolation(of: closure))
        }
        #expect(released == nil)
    }

    #if DEBUG
        @Test func aMainActorClosureIsNotCalledElsewhere() async {
            await #expect(processExitsWith: .signal(SIGILL)) {
                alarm(20)
                let closure: @isolated(any) @Sendable () -> Void = { @MainActor in }
                callAssumingIsolation(of: closure)
            }
        }
    #endif
}
