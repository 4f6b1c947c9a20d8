import Foundation
import Measuring

private let gibibyte: Int64 = 1 << 30

/// 1 GiB from a server in another process to a file, as a download, and to memory, beside curl(1).
func fetching() throws -> [Figure] {
    let directory = try TemporaryFolder()
    // Nothing but zeros, and no blocks on the disk.
    let source = URL(fileURLWithPath: try variable("OPERATIONNETWORKING_NGINX_ROOT") + "/1g.bin")
    try makeFile(source)
    let url = try nginx("1g.bin").absoluteString
    let file = directory.url.appendingPathComponent("body").path
    let ways = ["file", "download", "memory", "curl", "limited", "digest"]
    let rounds = try rotating(5, ways) { way in
        defer { try? FileManager.default.removeItem(atPath: file) }
        if way == "curl" {
            return try Child.run("curl", ["--silent", "--fail", "--output", file, url]).usage
        }
        return try Child.run(Child.workload, ["fetch", way, url, file]).usage
    }
    let names = ["outputFile", "DownloadOperation", "memory", "curl -o", "at 512 MiB/s", "with SHA-256"]
    func bars(_ value: (Usage) -> Double) -> [Figure.Bar] {
        names.indices.map { Figure.Bar(name: names[$0], value: rounds.median($0, value)) }
    }
    let goals = [1.0, 1.1, 0.9]
    var figures = (0..<3).map { index in
        let elapsed = rounds.ratio(index, 3) { $0.seconds }
        return Figure(
            name: "1 GiB: \(names[index])",
            value: rounds.ratio(index, 3) { $0.processor },
            goal: goals[index],
            unit: "of the processor time of curl -o",
            remark: "\(rounded(elapsed)) of its time",
            bars: index == 0 ? bars { $0.processor } : [],
            barUnit: index == 0 ? "s" : ""
        )
    }
    figures.append(
        Figure(
            name: "1 GiB: DownloadOperation at 512 MiB a second, with SHA-256",
            value: rounds.ratio(5, 4) { $0.seconds },
            goal: 1.1,
            unit: "of its time without"
        )
    )
    let small = try Child.run(
        Child.workload,
        ["get", "operations", nginx("kibibyte").absoluteString, "1", "1"]
    ).usage
    let memory = (0..<3).map { rounds.median($0) { Double($0.peak) / 1024 } }
    figures.append(
        Figure(
            name: "1 GiB: memory beside the body",
            value: max(memory[0], memory[1], memory[2] - 1024),
            goal: 30,
            unit: "MiB",
            remark: "a process that gets 1 KiB: \(rounded(Double(small.peak) / 1024)) MiB",
            bars: bars { Double($0.peak) / 1024 },
            barUnit: "MiB at most"
        )
    )
    return figures
}

/// 1 GiB from a file to a server in another process, beside curl(1).
func uploadingFile() throws -> [Figure] {
    let directory = try TemporaryFolder()
    let file = directory.url.appendingPathComponent("body")
    try makeFile(file)
    let url = try nginx("discard").absoluteString
    let rounds = try rotating(5, ["upload", "curl"]) { way in
        way == "upload"
            ? try Child.run(Child.workload, ["upload", url, file.path]).usage
            : try Child.run("curl", ["--silent", "--fail", "--upload-file", file.path, url]).usage
    }
    return [
        Figure(
            name: "1 GiB from a file to a server",
            value: rounds.ratio(0, 1) { $0.processor },
            goal: 1.05,
            unit: "of the processor time of curl -T",
            remark: "\(rounded(rounds.ratio(0, 1) { $0.seconds })) of its time",
            bars: [
                Figure.Bar(name: "operation", value: rounds.median(0) { $0.processor }),
                Figure.Bar(name: "curl -T", value: rounds.median(1) { $0.processor }),
            ],
            barUnit: "s"
        )
    ]
}

func makeFile(_ file: URL) throws {
    guard FileManager.default.createFile(atPath: file.path, contents: nil) else {
        throw WorkError.system(errno)
    }
    try FileHandle(forWritingTo: file).truncate(atOffset: UInt64(gibibyte))
}

/// A folder that goes with the object.
final class TemporaryFolder {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent(
            "OperationNetworking-\(UUID().uuidString)"
        )
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
    }

    deinit { try? FileManager.default.removeItem(at: url) }
}
