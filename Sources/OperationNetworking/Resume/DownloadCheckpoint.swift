internal import Foundation
internal import FoundationNetworking
internal import OperationNetworkingSystem

/// The saved state of a file that is not complete, so that a later process can go on with it.
///
/// It may say less than there is in the file, never more: the bytes that it counts were on the disk before it
/// was written.
///
/// The stored properties are the keys of the JSON in the file.
struct DownloadCheckpoint: Hashable, Codable, Sendable {
    /// The bytes before an offset, as they were when everything before it was known to be on the disk (P5,
    /// P6).
    struct Block: Hashable, Codable, Sendable {
        static let maximumLength = 64 * 1024
        /// The first byte that is not part of it.
        let end: Int64
        /// At least 1, at most ``maximumLength``.
        let length: Int
        /// SHA-256 of the bytes, in hexadecimal.
        let digest: String
    }

    /// The response that began the file.
    struct Response: Hashable, Codable, Sendable {
        /// The URL that it came from, redirects followed.
        let url: String
        let isHTTP10: Bool
        /// The fields of its head that later answers are compared with, in order, as they were received.
        let fields: [Field]

        /// A line of a head.
        struct Field: Hashable, Codable, Sendable {
            let name: String
            let value: String
        }

        init(url: String, fields: HeaderFields, isHTTP10: Bool) {
            self.url = url
            self.isHTTP10 = isHTTP10
            self.fields = Response.fieldNames.flatMap { name in
                fields.values(for: name).map { Field(name: name, value: $0) }
            }
        }

        var headerFields: HeaderFields {
            var result = HeaderFields()
            for field in fields { result.append(name: field.name, value: field.value) }
            return result
        }

        /// `Age` and `Via` are there for the strength of a date.
        private static let fieldNames = [
            "ETag", "Last-Modified", "Date", "Age", "Via", "Content-Length", "Content-Type",
            "Content-Location",
            "Content-Encoding", "Accept-Ranges", "Vary",
        ]
    }

    /// The number of blocks that are kept.
    static let maximumBlockCount = 16

    /// The request, for a process that has nothing but the checkpoint.
    var request: RequestRecord
    /// The request, for comparison with a later one.
    var asked: RequestDigests
    /// The ``ServerVerification`` of the bytes; `nil`: the usual one for the URL of ``request``.
    var verification: String?
    /// The servers that only the challenge's closure trusted, by their digests; `nil`: there were none.
    var trustedServers: [String]?
    var origin: Response
    /// The length of the whole, `nil` while no response has said it.
    var total: Int64?
    /// The bytes that are on the disk for certain.
    private(set) var ranges = ByteRanges()
    /// The latest ones, in order.
    private(set) var blocks: [Block] = []
    /// The digest that the server names of the whole.
    var digests: [String] = []
    /// Whether bytes were joined of which nothing but an overlap says that they belong together; `nil` is no.
    var isJoinedByOverlap: Bool?
    /// Whether bytes came that were asked for at another scheme, host, port or path than that of ``request``;
    /// `nil` is no.
    var isOfSeveralLocations: Bool?
    /// The digest of a file that began with the bytes and was to have another one: these, or their rest, are not of
    /// the file that their validator names, and the rest is not asked for again. `nil`: there was none.
    var refutedDigest: String?
    /// Whether its first bytes are a copy of another program's file (P20): only a digest of the whole proves them.
    /// `nil` is no.
    var isForeign: Bool?
    /// The name of the complete file, in the directory of the checkpoint.
    var name = ""
    /// The options of the caller: for a process that knows nothing but the checkpoint.
    var options = DownloadOptions()
    /// Bytes that were received and thrown away; never negative.
    var wasted: Int64 = 0
    /// Transfers that were begun for it; never negative.
    var attempts = 0
    /// Seconds since 1970.
    var created: Int64
    /// Seconds since 1970.
    var updated: Int64
    /// The identity of the partial file. Its device has another number after another boot or mount.
    var part: FileIdentity
    /// When that file was made; `nil`: the file system does not tell, and no later process believes this.
    var birth: FileBirth?
    /// The run of the kernel, and the mount, under which the file is being written; `nil` if the system does
    /// not tell.
    var session: String?
    /// Whether the transfer had stopped, with all its bytes committed: bytes behind them are another
    /// program's. `nil` is no.
    var isAtRest: Bool?
    /// The number of parts that were begun before this one, each to take the place of the one before; `nil` is
    /// none. The one before is kept until this one is whole.
    var generation: Int?

    init(
        _ question: DownloadQuestion,
        origin: Response,
        total: Int64?,
        part: FileIdentity,
        session: String?,
        now: Int64
    ) throws {
        request = question.request
        asked = try RequestDigests(of: question.texts(varying: Self.varying(origin)))
        self.origin = origin
        self.total = total
        self.part = part
        self.session = session
        created = now
        updated = now
    }

    /// Whether it names this file as its part: who could write such a checkpoint cannot have known both numbers.
    func names(_ file: PartFile) throws -> Bool {
        guard let birth else { return false }
        return try file.status.identity.inode == part.inode && file.birth == birth
    }

    /// The input of the resume rules, with `offset` bytes on the disk.
    func partialContent(offset: Int64) -> PartialContent {
        var content = PartialContent(
            fields: origin.headerFields,
            offset: offset,
            isHTTP10: origin.isHTTP10,
            url: origin.url
        )
        if !content.isCoded { content.total = total ?? content.total }
        content.isRefuted = refutedDigest != nil
        content.isForeign = isForeign == true
        return content
    }

    /// The verification of the servers that the bytes came from.
    var serverVerification: ServerVerification {
        verification.map(ServerVerification.init(text:)) ?? .usual(for: request.url)
    }

    /// Bytes are about to come from servers that are verified in this way, besides those that are there.
    /// - Parameters:
    ///   - verification: one that accepts that of the bytes so far.
    ///   - servers: those that only the challenge's closure trusts, by their digests.
    mutating func note(_ verification: ServerVerification, trusting servers: Set<String>) {
        self.verification = verification.note(besides: request.url)
        let all = verification == .anyServer ? [] : servers.union(trustedServers ?? [])
        trustedServers = all.isEmpty ? nil : all.sorted()
    }

    /// Bytes are about to come that are asked for at `address`.
    mutating func note(_ address: URL) {
        if !request.isAt(address) { isOfSeveralLocations = true }
    }

    /// Compares its request with another one. Bytes of several locations are of none.
    func match(_ question: DownloadQuestion) -> RequestDigests.Match {
        let match = asked.match(question.texts(varying: Self.varying(origin)))
        return isOfSeveralLocations == true ? match.subtracting(.location) : match
    }

    /// The names of the fields that the `Vary` of a response names.
    private static func varying(_ origin: Response) -> [String] {
        VaryingFields.names(in: origin.headerFields) ?? []
    }

    /// The time of the file's last change on the server, in seconds since 1970.
    var modified: Int64? {
        origin.headerFields["Last-Modified"].flatMap { HTTPDate(fieldValue: $0) }?.secondsSince1970
    }

    /// Another transfer begins.
    mutating func countAttempt() {
        attempts = attempts == .max ? .max : attempts + 1
    }

    /// Takes the counts over from the checkpoint of bytes that are thrown away.
    /// - Parameters:
    ///   - old: that checkpoint.
    ///   - count: the number of those bytes.
    mutating func succeed(_ old: DownloadCheckpoint, wasting count: Int64) {
        wasted = old.wasted.addingSaturated(count)
        attempts = old.attempts
        created = old.created
    }

    /// The number of bytes, from the first one on, that are on the disk for certain.
    var committed: Int64 { ranges.prefix }

    /// These are on the disk; `block` ends with the last one before which none is missing.
    mutating func commit(_ ranges: ByteRanges, _ block: Block) {
        self.ranges = ranges
        blocks.removeAll { $0.end >= block.end }
        blocks.append(block)
        if blocks.count > DownloadCheckpoint.maximumBlockCount { blocks.removeFirst() }
    }

    /// Nothing behind `length` is there any more.
    mutating func rollBack(to length: Int64) {
        ranges.cut(to: length)
        blocks.removeAll { $0.end > length }
    }
}
