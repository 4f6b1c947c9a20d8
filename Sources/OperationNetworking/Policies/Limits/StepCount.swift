/// The number of steps (lookups, comparisons, moves) that a value has taken. Tests use it to measure
/// complexity without a clock. Counts and stores nothing in an optimized build.
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
