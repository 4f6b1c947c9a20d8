import Foundation

// Prints figures, and exits with 1 when one misses its goal. Built optimized and run by `make bench`.
//
//   Benchmarks              all, each in a process of its own: none begins with the memory of another
//   Benchmarks upload       this one

let benchmarks: [String: () throws -> Figure] = [
    "decode-json": decodingJSON,
    "decode-values": decodingValues,
    "encode-json": encodingJSON,
    "encode-query": encodingParameters,
    "requests": manyRequests,
    "upload": uploadingForm,
]

let names = Array(CommandLine.arguments.dropFirst())
if let unknown = names.first(where: { benchmarks[$0] == nil }) {
    print("There is no benchmark called \(unknown): \(benchmarks.keys.sorted().joined(separator: ", ")).")
    exit(2)
}
if names.count == 1, let benchmark = benchmarks[names[0]] {
    let figure = try benchmark()
    print(figure)
    exit(figure.isReached ? 0 : 1)
}
var isMissed = false
for name in names.isEmpty ? benchmarks.keys.sorted() : names {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
    process.arguments = [name]
    try process.run()
    process.waitUntilExit()
    if process.terminationStatus != 0 { isMissed = true }
}
exit(isMissed ? 1 : 0)
