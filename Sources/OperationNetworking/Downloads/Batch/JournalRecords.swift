import Foundation
internal import OperationNetworkingSystem

/// The first line of a journal, which describes the batch.
struct JournalHeader: Hashable, Codable, Sendable {
    /// The format number. Journals with any other number are not read.
    static let currentSchema = 3

    var schema = currentSchema
    var items: [JournalItem]
    var options: JournalOptions
    /// The file that contains this line, which no server can know.
    var file: LastingFileIdentity?
}

/// A member without its secrets.
struct JournalItem: Hashable, Codable, Sendable {
    let url: String
    /// A path, relative to the folder of the journal if it leads below it, so that both can be moved together.
    let destination: String
    let headers: [String: String]?
    /// The names of the fields whose values are not stored, sorted.
    let withheld: [String]?
    let digests: [FileDigest]?

    /// - Parameters:
    ///   - item: the member.
    ///   - folder: the folder of the journal.
    init(_ item: DownloadItem, in folder: URL) {
        url = item.url.withoutUserInformation.absoluteString
        let (path, base) = (item.destination.standardizedFileURL.path, Self.base(folder))
        // By bytes, as in file systems: strings compare canonically equivalent characters as equal.
        destination =
            path.utf8.starts(with: base.utf8)
            ? String(decoding: path.utf8.dropFirst(base.utf8.count), as: UTF8.self) : path
        let open = item.headers.filter { !SecretFields.isSecret($0.key) }
        let secret = Set(item.headers.keys).subtracting(open.keys).union(item.withheldHeaders)
        headers = open.isEmpty ? nil : open
        withheld = secret.isEmpty ? nil : secret.sorted()
        digests = item.expectedDigests.isEmpty ? nil : item.expectedDigests
    }

    /// Returns the item; `nil` if its URL is invalid.
    func item(in folder: URL) -> DownloadItem? {
        guard let url = URL(string: url) else { return nil }
        let isAbsolute = destination.utf8.first == UInt8(ascii: "/")
        let path = isAbsolute ? destination : Self.base(folder) + destination
        var item = DownloadItem(
            url: url,
            destination: URL(fileURLWithPath: path, isDirectory: false),
            headers: headers ?? [:],
            expectedDigests: digests ?? []
        )
        item.withheldHeaders = withheld ?? []
        return item
    }

    private static func base(_ folder: URL) -> String {
        let path = folder.standardizedFileURL.path
        return path.hasSuffix("/") ? path : path + "/"
    }
}

/// The stored form of ``DownloadBatch/Options``. The names are those in the file.
struct JournalOptions: Hashable, Codable, Sendable {
    var maximumPerHost: Int
    var maximumAtOnce: Int
    var stopsAtFirstFailure: Bool
    var bytesPerSecond: Int64?
    var bytesPerSecondPerDownload: Int64?
    var retries: RetryPolicy?
    var existingFiles: DownloadBatch.ExistingFiles
    /// The number of bytes to compare; `nil` if unproven bytes are discarded.
    var overlap: Int64?

    init(_ options: DownloadBatch.Options) {
        maximumPerHost = options.maximumActiveDownloadsPerHost
        maximumAtOnce = options.maximumActiveDownloads
        stopsAtFirstFailure = options.policy == .stopAtFirstFailure
        bytesPerSecond = options.bytesPerSecond
        bytesPerSecondPerDownload = options.bytesPerSecondPerDownload
        retries = options.retryPolicy
        existingFiles = options.existingFiles
        overlap = options.unprovenBytes.overlap
    }

    var options: DownloadBatch.Options {
        var options = DownloadBatch.Options()
        options.maximumActiveDownloadsPerHost = maximumPerHost
        options.maximumActiveDownloads = maximumAtOnce
        options.policy = stopsAtFirstFailure ? .stopAtFirstFailure : .collectAll
        options.bytesPerSecond = bytesPerSecond
        options.bytesPerSecondPerDownload = bytesPerSecondPerDownload
        options.retryPolicy = retries
        options.existingFiles = existingFiles
        options.unprovenBytes = overlap.map { .compare(overlap: $0) } ?? .discard
        return options
    }
}

/// Any other line of a journal: the end of a member. The last one of a member counts.
struct JournalEntry: Hashable, Codable, Sendable {
    /// A file that is complete and on disk, and is about to get its name.
    struct Finished: Hashable, Codable, Sendable {
        var stamp: FileStamp
        var proof: DownloadedFile.Proof
        var digests: [FileDigest]
        /// Whether the file has a ``FileRecord``; `nil` means no. Another program's file with this length and time
        /// has none.
        var isRecorded: Bool?
        /// The ``ServerVerification`` of its bytes; `nil` for the usual one of the member's URL.
        var verification: String?

        init(_ download: DownloadedFile, stamp: FileStamp, isRecorded: Bool = false) {
            self.stamp = stamp
            if isRecorded { self.isRecorded = true }
            proof = download.proof
            digests = download.digests
        }

        /// Returns how the servers of its bytes were verified, for the member's URL.
        func serverVerification(for url: URL) -> ServerVerification {
            verification.map(ServerVerification.init(text:)) ?? .usual(for: url.absoluteString)
        }

        /// Returns the result, as if all bytes were from an earlier operation.
        func download(_ file: URL) -> DownloadedFile {
            DownloadedFile(
                file: file,
                length: stamp.length,
                proof: proof,
                digests: digests,
                bytesRecovered: stamp.length,
                restarts: []
            )
        }
    }

    /// The index of the member.
    var member: Int
    var finished: Finished?
    /// The description of the error.
    var failure: String?
}
