import Foundation

/// The directories of programs: the variable `PATH`.
enum SearchPath {
    /// The program called `name` in the first of the directories that has it.
    static func find(_ name: String) -> URL? {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        let places = path.split(separator: ":").map { URL(fileURLWithPath: "\($0)/\(name)") }
        return places.first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }
}
