import Foundation
import Measuring

// Prints figures, writes them down as JSON, as a page and as a chart, and exits with 1 when one misses its goal. Built
// optimized and run by `make bench`.
//
//   Benchmarks               all, each in a process of its own: none begins with the memory of another
//   Benchmarks get-64 upload these
//
// BENCHMARKS_OUTPUT  the folder for figures.json, Figures.md and figures.svg; nothing is written unless it is set

let benchmarks: [String: () throws -> [Figure]] = [
    "async": gettingBesideAsync,
    "batch": batching,
    "cache": caching,
    "decode-json": { [try decodingJSON()] },
    "decode-values": { [try decodingValues()] },
    "drain": draining,
    "encode-json": { [try encodingJSON()] },
    "encode-query": { [try encodingParameters()] },
    "fetch": fetching,
    "get-1": { try getting(1) },
    "get-8": { try getting(8) },
    "get-64": { try getting(64) },
    "get-256": { try getting(256) },
    "hold": holding,
    "instructions": counting,
    "queue": queueing,
    "stop": stopping,
    "upload-file": uploadingFile,
    "upload-form": { [try uploadingForm()] },
]

let names = Array(CommandLine.arguments.dropFirst())
if names.first == "--json", names.count == 2, let benchmark = benchmarks[names[1]] {
    // A child of this program.
    try printResult(try benchmark())
    exit(0)
}
if let unknown = names.first(where: { benchmarks[$0] == nil }) {
    print("There is no benchmark called \(unknown): \(benchmarks.keys.sorted().joined(separator: ", ")).")
    exit(2)
}
/// Prints a line at once, also into a pipe.
func say(_ line: String) {
    FileHandle.standardOutput.write(Data("\(line)\n".utf8))
}

var figures: [Figure] = []
var isComplete = true
for name in names.isEmpty ? benchmarks.keys.sorted() : names {
    do {
        let measured: [Figure] = try Child.result(CommandLine.arguments[0], ["--json", name])
        for figure in measured { say("\(figure)") }
        figures += measured
    } catch {
        // What it said is on standard error.
        say("FAILED \(name)")
        isComplete = false
    }
}
if let folder = ProcessInfo.processInfo.environment["BENCHMARKS_OUTPUT"] {
    try Report(figures).write(to: URL(fileURLWithPath: folder))
}
exit(isComplete && figures.allSatisfy(\.isReached) ? 0 : 1)
