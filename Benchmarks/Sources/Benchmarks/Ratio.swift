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
    var times: [(first: Double, second: Double)] = []
    for round in 0..<rounds {
        // The first one warms the caches for the other: so each goes first equally often.
        if round % 2 == 0 {
            let one = try seconds(first)
            times.append((one, try seconds(second)))
        } else {
            let other = try seconds(second)
            times.append((try seconds(first), other))
        }
    }
    let ratios = times.map { $0.first / $0.second }
    return (median(ratios), median(times.map(\.first)), median(times.map(\.second)))
}

private func seconds(_ body: () throws -> Void) rethrows -> Double {
    let clock = ContinuousClock()
    let start = clock.now
    try body()
    return (clock.now - start) / .seconds(1)
}

private func median(_ values: [Double]) -> Double {
    values.sorted()[values.count / 2]
}
