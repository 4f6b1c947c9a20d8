import Foundation
internal import OperationNetworkingSystem

/// The first line of a journal: what the batch is.
struct JournalHeader: Hashable, Codable, Sendable {
    /// The version of what is written. A journal of any other is not read.
    static let currentSchema = 2

    var schema = currentSchema
    var items: [JournalItem]
    var options: JournalOptions
    /// The file that it is the first line of.
    var file: JournalFile?
}

/// The journal's own file: what no server can know that sends such a line.
struct JournalFile: Hashable, Codable, Sendable {
    let inode: UInt64
    /// `nil`: the file system does not tell.
    let birth: FileBirth?
}

/// A member, without its secrets.
struct JournalItem: Hashable, Codable, Sendable {
    let url: String
    /// A path; relative to the folder of the journal if it leads below that, so that both can be moved
    /// together.
    let destination: String
    let headers: [String: String]?
    /// Names of those whose values are not written down, sorted.
    let withheld: [String]?
    let digests: [FileDigest]?

    /// - Parameters:
    ///   - item: the member.
    ///   - folder: of the journal.
    init(_ item: DownloadItem, in folder: URL) {
        url = item.url.withoutUserInformation.absoluteString
        let (path, base) = (item.destination.standardizedFileURL.path, Self.base(folder))
        // By bytes, as file systems do: Swift takes characters for equal that are composed differently.
        destination =
            path.utf8.starts(with: base.utf8)
            ? String(decoding: path.utf8.dropFirst(base.utf8.count), as: UTF8.self) : path
        let open = item.headers.filter { !SecretFields.isSecret($0.key) }
        let secret = Set(item.headers.keys).subtracting(open.keys).union(item.withheldHeaders)
        headers = open.isEmpty ? nil : open
        withheld = secret.isEmpty ? nil : secret.sorted()
        digests = item.expectedDigests.isEmpty ? nil : item.expectedDigests
    }

    /// `nil` if the address is none.
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

/// ``DownloadBatch/Options`` as they are written. The names are those of the file.
struct JournalOptions: Hashable, Codable, Sendable {
    var maximumPerHost: Int
    var maximumAtOnce: Int
    var stopsAtFirstFailure: Bool
    var bytesPerSecond: Int64?
    var bytesPerSecondPerDownload: Int64?
    var retries: RetryPolicy?
    var existingFiles: DownloadBatch.ExistingFiles
    /// `nil`: what is not proven is discarded.
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

/// Any other line of a journal: how a member ended. The last one of a member counts.
struct JournalEntry: Hashable, Codable, Sendable {
    /// A file that is complete and on the disk, and is about to get its name.
    struct Finished: Hashable, Codable, Sendable {
        var stamp: FileStamp
        /// By which it was proven.
        var digest: FileDigest?
        /// Whether its end was marked.
        var isEndMarked: Bool
        /// The first byte of the whole that it has, if the caller's own `Range` asked for a part.
        var rangeStart: Int64?
        /// Whether nothing but an overlap says that its bytes belong together; `nil` is no.
        var isJoinedByOverlap: Bool?
        var digests: [FileDigest]?
        /// Whether the file has a ``FileRecord``; `nil` is no. Another program's file of this length and time
        /// has none.
        var isRecorded: Bool?
        /// The ``ServerVerification`` of its bytes; `nil`: the usual one for the member's URL.
        var verification: String?

        init(_ download: DownloadedFile, stamp: FileStamp, isRecorded: Bool = false) {
            self.stamp = stamp
            if isRecorded { self.isRecorded = true }
            if case .digest(let digest) = download.proof { self.digest = digest }
            if case .range(let range) = download.proof { rangeStart = range.lowerBound }
            if download.proof == .overlap { isJoinedByOverlap = true }
            isEndMarked = download.proof != .unverifiable
            digests = download.digests.isEmpty ? nil : download.digests
        }

        /// The verification of the servers of its URL that the bytes came from.
        func serverVerification(for url: URL) -> ServerVerification {
            verification.map(ServerVerification.init(text:)) ?? .usual(for: url.absoluteString)
        }

        private var ownRange: Range<Int64>? {
            guard let start = rangeStart, start >= 0, stamp.length > 0 else { return nil }
            let (end, isTooLarge) = start.addingReportingOverflow(stamp.length)
            return isTooLarge ? nil : start..<end
        }

        /// The result of it, as if every byte had been kept from before.
        func download(_ file: URL) -> DownloadedFile {
            DownloadedFile(
                file: file,
                length: stamp.length,
                proof: digest.map { .digest($0) } ?? ownRange.map { .range($0) }
                    ?? (!isEndMarked ? .unverifiable : isJoinedByOverlap ?? false ? .overlap : .length),
                digests: digests ?? [],
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
