import Foundation
import Measuring

// One piece of work in a process of its own, so that nothing else's cost is mixed with it. Prints the result as a line of
// JSON.
//
//   Workload get CLIENT URL COUNT IN-FLIGHT     bodies of 1 KiB by operations, json, memory, disk, many, curl, inbox or session
//   Workload fetch WAY URL FILE                 one body to file, memory, download, limited, digest or stored
//   Workload upload URL FILE                    PUT
//   Workload stop COMMAND URL DIRECTORY COUNT   cancel or pause, while four downloads of URL run
//   Workload hold COUNT                         in flight at a slow server
//   Workload queue COUNT                        in a queue that starts none
//   Workload drain URL LARGE-URL DIRECTORY COUNT  beside slow FIFOs
//   Workload batch COUNT LIMIT                  commands to a batch in a queue with a limit
//   Workload plant DIRECTORY COUNT              a cache on the disk with COUNT entries
//   Workload find DIRECTORY                     looks into it

let works: [String: (inout Arguments) throws -> Void] = [
    "batch": batch, "drain": drain, "fetch": fetch, "find": find, "get": get, "hold": hold, "plant": plant,
    "queue": queue,
    "stop": stop, "upload": upload,
]
do {
    var arguments = Arguments(CommandLine.arguments.dropFirst())
    let name = try arguments.next("work")
    guard let work = works[name] else { throw WorkError.unknown(name) }
    try work(&arguments)
} catch {
    FileHandle.standardError.write(Data("Workload: \(error)\n".utf8))
    exit(1)
}
