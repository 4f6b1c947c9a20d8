import Foundation
import Measuring

/// Requests for 1 KiB, `inFlight` at once, beside libcurl by itself, a C program with the same changes of thread,
/// and URLSession.
func getting(_ inFlight: Int) throws -> [Figure] {
    let clients = ["operations", "curl", "inbox", "session"]
    let url = try nginx("kibibyte").absoluteString
    let count = inFlight == 1 ? 4000 : 12_000
    let rounds = try rotating(7, clients) { client in
        // The slowest gets fewer.
        try Cost(Child.workload, client, url, client == "session" ? count / 3 : count, inFlight)
    }
    func bars(_ value: (Cost) -> Double) -> [Figure.Bar] {
        clients.indices.map { Figure.Bar(name: clients[$0], value: rounds.median($0, value)) }
    }
    let title = "1 KiB GETs, \(inFlight) in flight"
    let rateGoals = [1: 0.25, 8: 0.42, 64: 0.62, 256: 0.65]
    let sessionGoals = [1: 2.5, 8: 5.5, 64: 8]
    var figures = [
        Figure(
            name: "\(title): rate",
            value: rounds.ratio(0, 1) { $0.rate },
            goal: rateGoals[inFlight] ?? 0.65,
            unit: "of libcurl's by itself",
            isMoreBetter: true,
            bars: bars { $0.rate },
            barUnit: "a second"
        ),
        Figure(
            name: "\(title): rate beside a C program with an inbox",
            value: rounds.ratio(0, 2) { $0.rate },
            goal: 0.8,
            unit: "of its",
            isMoreBetter: true
        ),
        Figure(
            name: "\(title): processor time against URLSession",
            value: rounds.ratio(3, 0) { $0.processor },
            goal: sessionGoals[inFlight] ?? 8,
            unit: "times less",
            isMoreBetter: true,
            bars: bars { $0.processor },
            barUnit: "us each"
        ),
    ]
    if inFlight == 1 {
        let more = rounds.median(0) { $0.microseconds } - rounds.median(1) { $0.microseconds }
        figures.append(
            Figure(name: "\(title): latency", value: more, goal: 120, unit: "us more than libcurl")
        )
    }
    if inFlight == 64 {
        figures.append(
            Figure(
                name: "\(title): times that a thread had to wait",
                value: rounds.median(0) { $0.waits },
                goal: 0.3,
                unit: "a request",
                bars: bars { $0.waits },
                barUnit: "a request"
            )
        )
    }
    return figures
}

/// The same beside AsyncHTTPClient: over HTTP/1.1, and over one connection of HTTP/2 with TLS.
func gettingBesideAsync() throws -> [Figure] {
    guard let peer = Child.asyncPeer else {
        throw WorkError.missing("AsyncPeer (BENCHMARKS_PEERS names the directory that it was built in)")
    }
    // Where the system's authorities are looked for, and so ours.
    setenv("SSL_CERT_FILE", try variable("OPERATIONNETWORKING_CA"), 1)
    let servers = [
        ("HTTP/1.1", try nginx("kibibyte").absoluteString, [8: 1.0, 64: 1.25, 256: 1.25]),
        (
            "HTTP/2 over TLS", try variable("OPERATIONNETWORKING_NGINX_HTTPS") + "/kibibyte",
            [8: 1.1, 64: 1.25, 256: 1.3]
        ),
    ]
    var figures: [Figure] = []
    for (protocolName, url, goals) in servers {
        for (inFlight, goal) in goals.sorted(by: { $0.key < $1.key }) {
            let count = 10_000
            let clients = [(Child.workload, "operations"), (peer, "async"), (Child.workload, "curl")]
            let rounds = try rotating(5, clients) { program, client in
                try Cost(program, client, url, count, inFlight)
            }
            figures.append(
                Figure(
                    name: "1 KiB GETs over \(protocolName), \(inFlight) in flight: processor time",
                    value: rounds.ratio(1, 0) { $0.processor },
                    goal: goal,
                    unit: "times less than AsyncHTTPClient",
                    remark: "rates \(rounded(rounds.median(0) { $0.rate })) and "
                        + "\(rounded(rounds.median(1) { $0.rate })) a second",
                    isMoreBetter: true,
                    bars: [
                        Figure.Bar(name: "operations", value: rounds.median(0) { $0.processor }),
                        Figure.Bar(name: "AsyncHTTPClient", value: rounds.median(1) { $0.processor }),
                        Figure.Bar(name: "curl", value: rounds.median(2) { $0.processor }),
                    ],
                    barUnit: "us each"
                )
            )
        }
    }
    return figures
}

/// Instructions and allocations of a request, counted by callgrind.
func counting() throws -> [Figure] {
    struct Count: Decodable {
        let total: Double
        let main: Double
        let network: Double
        let pool: Double
        let parsing: Double
        let allocations: Double
    }

    let file = FileManager.default.temporaryDirectory.appendingPathComponent("instructions-\(getpid()).json")
    defer { try? FileManager.default.removeItem(at: file) }
    func count(_ client: String) throws -> Count {
        let script = try variable("BENCHMARKS_DIRECTORY") + "/instructions"
        _ = try Child.run(script, [client, "--no-build", "--json", file.path])
        return try JSONDecoder().decode(Count.self, from: Data(contentsOf: file))
    }
    let (plain, json, curl) = (try count("operations"), try count("json"), try count("curl"))
    let parts = [
        Figure.Bar(name: "calling thread", value: plain.main),
        Figure.Bar(name: "network thread", value: plain.network),
        Figure.Bar(name: "other threads", value: plain.pool),
        Figure.Bar(name: "libcurl by itself", value: curl.total),
    ]
    return [
        Figure(
            name: "a GET of 1 KiB, 64 in flight",
            value: plain.total,
            goal: 150_000,
            unit: "instructions",
            bars: parts,
            barUnit: "instructions"
        ),
        Figure(
            name: "a GET of 1 KiB of JSON, 64 in flight, without its parsing",
            value: json.total - json.parsing,
            goal: 152_000,
            unit: "instructions",
            remark: "parsing \(rounded(json.parsing))"
        ),
        Figure(
            name: "a GET of 1 KiB: memory",
            value: plain.allocations,
            goal: 33,
            unit: "allocations by Swift"
        ),
    ]
}

/// The cost of one request.
private struct Cost {
    /// Requests a second.
    let rate: Double
    let microseconds: Double
    /// Of processors, in microseconds.
    let processor: Double
    /// The number of times that a thread had to wait.
    let waits: Double

    init(_ usage: Usage, of count: Int) {
        rate = Double(count) / usage.seconds
        microseconds = usage.seconds / Double(count) * 1e6
        processor = usage.processor / Double(count) * 1e6
        waits = Double(usage.voluntary) / Double(count)
    }

    /// Of `count` requests by a client.
    init(_ program: String, _ client: String, _ url: String, _ count: Int, _ inFlight: Int) throws {
        self.init(try Child.result(program, ["get", client, url, "\(count)", "\(inFlight)"]), of: count)
    }
}

/// A variable of the environment.
func variable(_ name: String) throws -> String {
    guard let value = ProcessInfo.processInfo.environment[name] else { throw WorkError.missing(name) }
    return value
}
