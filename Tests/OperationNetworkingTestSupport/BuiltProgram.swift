import Foundation

/// The executable of this package with this name, beside the bundle of the tests; `nil` if it was not built.
func builtProgram(_ name: String) -> URL? {
    let folders =
        [Bundle.main.bundleURL]
        + CommandLine.arguments.map { URL(fileURLWithPath: $0).deletingLastPathComponent() }
    return folders.map { $0.appendingPathComponent(name) }.first {
        FileManager.default.isExecutableFile(atPath: $0.path)
    }
}
