import Foundation
import Measuring

/// Fresh responses of 1 KiB from the cache, beside the same from a server in another process; and 1 GiB that is stored
/// while it comes.
func caching() throws -> [Figure] {
    let url = try nginx("fresh/kibibyte").absoluteString
    let clients = ["memory", "many", "managed"]
    let names = ["memory", "disk", "nginx"]
    let (many, single) = (12_000, 3000)
    let crowd = try rotating(7, clients) { client in
        try Child.result(Child.workload, ["get", client, url, "\(many)", "64"]) as Usage
    }
    let alone = try rotating(7, clients) { client in
        try Child.result(Child.workload, ["get", client, url, "\(single)", "1"]) as Usage
    }
    func bars(_ rounds: Rounds<Usage>, _ value: (Usage) -> Double) -> [Figure.Bar] {
        clients.indices.map { index in
            Figure.Bar(name: names[index], value: rounds.median(index, value) * 1e6)
        }
    }
    let goals = [(processor: 0.5, elapsed: 0.5), (processor: 0.7, elapsed: 0.7)]
    var figures: [Figure] = []
    for (index, goal) in goals.enumerated() {
        figures.append(
            Figure(
                name: "fresh 1 KiB from \(names[index]), 64 in flight: processor time",
                value: crowd.ratio(index, 2, \.processor),
                goal: goal.processor,
                unit: "of that of the same from nginx",
                bars: index == 0 ? bars(crowd) { $0.processor / Double(many) } : [],
                barUnit: index == 0 ? "us each" : ""
            )
        )
        figures.append(
            Figure(
                name: "fresh 1 KiB from \(names[index]), one at a time",
                value: alone.ratio(index, 2, \.seconds),
                goal: goal.elapsed,
                unit: "of the time of the same from nginx",
                bars: index == 0 ? bars(alone) { $0.seconds / Double(single) } : [],
                barUnit: index == 0 ? "us each" : ""
            )
        )
    }
    return figures + [try storing()] + (try finding())
}

/// Looks into a cache of 100,000 entries on the disk, by a process that has just started.
private func finding() throws -> [Figure] {
    struct Looks: Decodable {
        let first: Double
        let each: Double
    }

    let directory = try TemporaryFolder()
    let path = directory.url.appendingPathComponent("cache").path
    _ = try Child.run(Child.workload, ["plant", path, "100000"])
    let rounds = try rotating(5, ["found"]) { _ in
        try Child.result(Child.workload, ["find", path]) as Looks
    }
    return [
        Figure(
            name: "a look for a response among 100,000 on the disk, with its body",
            value: rounds.median(0, \.each) * 1000,
            goal: 0.1,
            unit: "ms"
        ),
        Figure(
            name: "the first of them in a process",
            value: rounds.median(0, \.first) * 1000,
            goal: 50,
            unit: "ms"
        ),
    ]
}

private func storing() throws -> Figure {
    let directory = try TemporaryFolder()
    try makeFile(URL(fileURLWithPath: try variable("OPERATIONNETWORKING_NGINX_ROOT") + "/1g.bin"))
    let url = try nginx("fresh/1g.bin").absoluteString
    let file = directory.url.appendingPathComponent("body")
    let rounds = try rotating(3, ["stored", "file"]) { way in
        defer {
            try? FileManager.default.removeItem(at: file)
            try? FileManager.default.removeItem(at: file.appendingPathExtension("cache"))
        }
        return try Child.run(Child.workload, ["fetch", way, url, file.path]).usage
    }
    return Figure(
        name: "1 GiB to a file, and stored",
        value: rounds.ratio(0, 1, \.processor),
        goal: 1.1,
        unit: "of the processor time without a cache",
        remark: "\(rounded(rounds.ratio(0, 1, \.seconds))) of its time"
    )
}
