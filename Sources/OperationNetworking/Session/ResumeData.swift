import Foundation

/// The data from which a download goes on in another process: it names the checkpoint beside the partial
/// file, which says the rest.
struct ResumeData: Codable, Hashable, Sendable {
    /// The version of the form.
    private let resumeData: Int
    /// The place of the checkpoint.
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

    /// The same each time; `nil` if there is no checkpoint any more.
    var data: Data? {
        guard FileManager.default.fileExists(atPath: checkpoint) else { return nil }
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return try? encoder.encode(self)
    }
}
