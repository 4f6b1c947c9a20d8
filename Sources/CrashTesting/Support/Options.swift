public import Foundation

/// What can be chosen of a crash test.
public struct CrashTestOptions: Sendable {
    /// How often opget is killed, over all servers together; each server gets the same share, rounded up.
    public var kills = 300
    /// How often each other tool is killed at each server.
    public var peerKills = 10
    /// Makes the schedule: what is killed when, how long files are, when they change.
    public var seed: UInt64 = 1
    /// The lengths of files, in bytes.
    public var fileSizes = 2 << 20...6 << 20
    /// How fast a server sends, in bytes per second.
    public var bytesPerSecond = 8 << 20
    /// Where everything is written, in directories that are removed again.
    public var directory: URL
    /// The `opget` to test.
    public var opget: URL
    /// Given to opget besides what a test needs.
    public var opgetOptions: [String] = []
    /// When a run that does not end is killed, and called hung.
    public var runLimit = Duration.seconds(60)

    /// Everything else has its default.
    public init(directory: URL, opget: URL) {
        self.directory = directory
        self.opget = opget
    }
}
