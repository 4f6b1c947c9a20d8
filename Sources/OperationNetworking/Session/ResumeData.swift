import Foundation

/// The data from which a download can be resumed in another process: the path of the checkpoint next to the
/// partial file.
struct ResumeData: Codable, Hashable, Sendable {
    /// The version of the format.
    private let resumeData: Int
    /// The path of the checkpoint.
    let checkpoint: String

    private static let version = 1

    init(checkpoint: URL) {
        resumeData = Self.version
        self.checkpoint = checkpoint.path
    }

    /// - Throws: ``SessionError/resumeDataUnreadable``.
    init(_ data: Data) throws {
        guard let read = try? JSONDecoder().decode(ResumeData.self, from: data),
            read.resumeData == Self.version, read.checkpoint.hasPrefix("/")
        else { throw SessionError.resumeDataUnreadable }
        self = read
    }

    /// The encoded data, the same each time; `nil` if the checkpoint no longer exists.
    var data: Data? {
        guard FileManager.default.fileExists(atPath: checkpoint) else { return nil }
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return try? encoder.encode(self)
    }
}
