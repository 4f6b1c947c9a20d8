/// The number of steps that a value has taken: looks at members, comparisons, moves. A test sees by it how
/// the work grows, without a clock. Nothing is counted, and nothing kept, in an optimized build.
struct StepCount: Sendable {
    #if DEBUG
        private(set) var value = 0
    #else
        var value: Int { 0 }
    #endif

    mutating func add(_ steps: Int = 1) {
        #if DEBUG
            value += steps
        #endif
    }
}
