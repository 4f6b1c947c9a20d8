import Measuring

/// The ratio of the times of two things, measured in turns: what else the machine does meets both.
///
/// - Returns: the median of the rounds' ratios, and the median seconds of each.
func ratio(
    rounds: Int,
    of first: () throws -> Void,
    to second: () throws -> Void
) rethrows -> (ratio: Double, first: Double, second: Double) {
    try first()
    try second()
    let times = try rotating(rounds, [0, 1]) { index in
        if index == 0 { return try Usage.of(first).seconds }
        return try Usage.of(second).seconds
    }
    return (times.ratio(0, 1) { $0 }, times.median(0) { $0 }, times.median(1) { $0 })
}

/// The results of several things that were measured in turns.
struct Rounds<Result> {
    /// By round, then by thing.
    fileprivate let results: [[Result]]

    /// The median over the rounds, of one thing.
    func median(_ index: Int, _ value: (Result) -> Double) -> Double {
        Benchmarks.median(results.map { value($0[index]) })
    }

    /// The median over the rounds of the ratio of two things.
    func ratio(_ one: Int, _ other: Int, _ value: (Result) -> Double) -> Double {
        Benchmarks.median(results.map { value($0[one]) / value($0[other]) })
    }
}

/// Measures each of the things once a round. The first one warms the caches for the others: so each goes first
/// equally often.
func rotating<Thing, Result>(
    _ rounds: Int,
    _ things: [Thing],
    _ measure: (Thing) throws -> Result
) rethrows -> Rounds<Result> {
    var all: [[Result]] = []
    for round in 0..<rounds {
        var results = [Result?](repeating: nil, count: things.count)
        for turn in things.indices {
            let index = (turn + round) % things.count
            results[index] = try measure(things[index])
        }
        all.append(results.compactMap(\.self))
    }
    return Rounds(results: all)
}

func median(_ values: [Double]) -> Double {
    values.sorted()[values.count / 2]
}
