import Foundation

// One piece of work in a process of its own, so that what it costs is not mixed with anything else's. Prints one line of
// JSON: `Usage`, and what the work adds to it.
//
//   Workload get CLIENT URL COUNT IN-FLIGHT   bodies of 1 KiB by operations, json, curl, inbox or session

do {
    var arguments = Arguments(CommandLine.arguments.dropFirst())
    switch try arguments.next("work") {
    case "get": try get(&arguments)
    case let work: throw WorkloadError.unknown(work)
    }
} catch {
    FileHandle.standardError.write(Data("Workload: \(error)\n".utf8))
    exit(1)
}
