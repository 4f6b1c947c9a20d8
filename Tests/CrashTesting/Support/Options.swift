public import Foundation

/// The options of a crash test.
public struct CrashTestOptions: Sendable {
    /// Makes the schedule: what is killed when, how long files are, when they change.
    public var seed: UInt64 = 1
    /// The lengths of files, in bytes.
    public var fileSizes = 2 << 20...6 << 20
    /// The rate at which a server sends, in bytes per second.
    public var bytesPerSecond = 4 << 20
    /// The directory of all files, in directories that are removed again.
    public var directory: URL
    /// The `opget` to test.
    public var opget: URL
    /// Given to opget besides what a test needs.
    public var opgetOptions: [String] = []
    /// The time after which a run is killed, and called hung.
    public var runLimit = Duration.seconds(60)

    /// Everything else has its default. Without an `opget`, the one that was built with this program.
    ///
    /// - Throws: `ProgramMissing`.
    public init(directory: URL, opget: URL? = nil) throws {
        self.directory = directory
        self.opget = try opget ?? Self.builtOpget()
    }

    /// The one beside this program, or beside the bundle of tests that it runs.
    private static func builtOpget() throws -> URL {
        let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let places = ([own] + CommandLine.arguments).map {
            URL(fileURLWithPath: $0).deletingLastPathComponent()
        }
        let candidates = places.map { $0.appendingPathComponent("opget") }
        let found = candidates.first { FileManager.default.isExecutableFile(atPath: $0.path) }
        guard let found else { throw ProgramMissing(places: places.map(\.path)) }
        return found
    }
}

/// There is no `opget` to test.
public struct ProgramMissing: Error, CustomStringConvertible {
    let places: [String]

    /// The places that were searched.
    public var description: String { "There is no opget in \(places.joined(separator: ", "))." }
}
