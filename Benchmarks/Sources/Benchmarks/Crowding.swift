import Foundation
import Measuring

/// 10,000 requests in flight at a server that sends one half of each body, and the other half when all have come.
func holding() throws -> [Figure] {
    struct Result: Decodable {
        let memoryEach: Double
        let seconds: Double
    }

    let few: Result = try Child.result(Child.workload, ["hold", "1000"])
    let many: Result = try Child.result(Child.workload, ["hold", "10000"])
    return [
        Figure(
            name: "10,000 transfers in flight",
            value: many.memoryEach / 1024,
            goal: 40,
            unit: "KiB each",
            remark: "1,000: \(rounded(few.memoryEach / 1024)) KiB each; \(rounded(many.seconds)) s"
        )
    ]
}

/// Operations that wait in a queue.
func queueing() throws -> [Figure] {
    struct Result: Decodable {
        let memoryEach: Double
        let queueEach: Double
    }

    let result: Result = try Child.result(Child.workload, ["queue", "100000"])
    return [
        Figure(
            name: "an operation that waits, with its request",
            value: result.memoryEach / 1024,
            goal: 1.2,
            unit: "KiB",
            remark: "and \(rounded(result.queueEach)) bytes of the queue"
        )
    ]
}

/// Commands to a batch of 100,000 members.
func batching() throws -> [Figure] {
    let commands = ["add", "resume", "pause", "resume again"]
    let rounds = try rotating(3, [25_000, 100_000]) { count -> [String: Double] in
        try Child.result(Child.workload, ["batch", "\(count)", "64"])
    }
    return commands.map { command in
        let value = { (times: [String: Double]) in times[command] ?? .nan }
        return Figure(
            name: "a batch of 100,000: \(command)",
            value: rounds.median(1, value),
            goal: 0.2,
            unit: "s",
            remark: "25,000: \(rounded(rounds.median(0, value) * 1000)) ms"
        )
    }
}

/// The time until an operation has stopped, while four downloads run flat out.
func stopping() throws -> [Figure] {
    struct Result: Decodable {
        let median: Double
        let percentile99: Double
        let worst: Double
        let bytesPerSecond: Double
    }

    let directory = try TemporaryFolder()
    let url = try nginx("100m.bin").absoluteString
    return try ["cancel", "pause"].map { command in
        let result: Result = try Child.result(
            Child.workload,
            ["stop", command, url, directory.url.path, "500"]
        )
        return Figure(
            name: "\(command) beside four downloads, 99th percentile",
            value: result.percentile99,
            goal: 20,
            unit: "ms",
            remark: "median \(rounded(result.median)), worst \(rounded(result.worst)) ms; "
                + "\(rounded(result.bytesPerSecond / 1e6)) MB/s"
        )
    }
}

/// Requests beside operations that write to FIFOs which drain slowly.
func draining() throws -> [Figure] {
    struct Result: Decodable {
        let alone: Double
        let beside: Double
    }

    let directory = try TemporaryFolder()
    let (url, large) = (try nginx("kibibyte").absoluteString, try nginx("100m.bin").absoluteString)
    let result: Result = try Child.result(Child.workload, ["drain", url, large, directory.url.path, "10000"])
    return [
        Figure(
            name: "1 KiB GETs beside four FIFOs that drain at 400 kB a second",
            value: result.beside / result.alone,
            goal: 0.95,
            unit: "of the rate without them",
            isMoreBetter: true,
            bars: [
                Figure.Bar(name: "alone", value: result.alone),
                Figure.Bar(name: "beside", value: result.beside),
            ],
            barUnit: "a second"
        )
    ]
}
