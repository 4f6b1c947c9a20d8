internal import Foundation
internal import FoundationNetworking
internal import OperationNetworkingSystem

/// The saved state of an incomplete file, so that a later process can resume the download.
///
/// It may lag behind the file but never runs ahead of it: the bytes that it counts were on disk before it was
/// written. The stored properties are the keys of the JSON in the file.
struct DownloadCheckpoint: Hashable, Codable, Sendable {
    /// The last bytes before an offset up to which everything was known to be on disk (P5, P6).
    struct Block: Hashable, Codable, Sendable {
        static let maximumLength = 64 * 1024
        /// The offset after its last byte.
        let end: Int64
        /// The number of bytes, from 1 to ``maximumLength``.
        let length: Int
        /// The SHA-256 of the bytes, in hexadecimal.
        let digest: String
    }

    /// The response that began the file.
    struct Response: Hashable, Codable, Sendable {
        /// The URL of the response, after redirects.
        let url: String
        let isHTTP10: Bool
        /// The fields that later responses are compared with, in order and as received.
        let fields: [Field]

        /// A header field.
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

        /// `Age` and `Via` determine the strength of a date.
        private static let fieldNames = [
            "ETag", "Last-Modified", "Date", "Age", "Via", "Content-Length", "Content-Type",
            "Content-Location",
            "Content-Encoding", "Accept-Ranges", "Vary",
        ]
    }

    /// The maximum number of blocks.
    static let maximumBlockCount = 16

    /// The request, for a process that has nothing but the checkpoint.
    var request: RequestRecord
    /// The request, for comparison with a later one.
    var asked: RequestDigests
    /// The ``ServerVerification`` of the bytes; `nil` for the usual one of the URL of ``request``.
    var verification: String?
    /// The servers that only the challenge closure trusted, as digests; `nil` if there were none.
    var trustedServers: [String]?
    var origin: Response
    /// The length of the whole in bytes; `nil` if no response has said it.
    var total: Int64?
    /// The bytes that are certainly on disk.
    private(set) var ranges = ByteRanges()
    /// The latest blocks, in order.
    private(set) var blocks: [Block] = []
    /// The digest of the whole that the server named.
    var namedDigest: FileDigest?
    /// Whether bytes were joined on the evidence of an overlap alone; `nil` means no.
    var isJoinedByOverlap: Bool?
    /// Whether some bytes were requested at another scheme, host, port or path than that of ``request``; `nil` means
    /// no.
    var isOfSeveralLocations: Bool?
    /// The digest of a file that began with these bytes and should have had another one: they, or their rest, do not
    /// belong to the file that their validator names, so the rest is not requested again. `nil` if there was no such
    /// file.
    var refutedDigest: FileDigest?
    /// Whether the first bytes are a copy of another program's file (P20), which only a digest of the whole can
    /// prove; `nil` means no.
    var isForeign: Bool?
    /// The name of the complete file, in the folder of the checkpoint.
    var name = ""
    /// The caller's options, for a process that has only the checkpoint.
    var options = DownloadOptions()
    /// The identity of the partial file. Without its time of birth, no later process trusts the checkpoint: nobody else
    /// can have known both numbers.
    var part: LastingFileIdentity
    /// The boot, the mount and the device under which the file is being written; `nil` if the system does not
    /// identify them.
    var session: String?
    /// Whether the transfer had stopped with all bytes committed: bytes after them are another program's. `nil` means
    /// no.
    var isAtRest: Bool?
    /// The number of parts that were begun before this one, each to replace the previous one, which is kept until
    /// this one is complete; `nil` means none.
    var generation: Int?

    init(
        _ downloadRequest: DownloadRequest,
        origin: Response,
        total: Int64?,
        part: LastingFileIdentity,
        session: String?
    ) throws {
        request = downloadRequest.request
        asked = try RequestDigests(of: downloadRequest.texts(varying: Self.varying(origin)))
        self.origin = origin
        self.total = total
        self.part = part
        self.session = session
    }

    /// Returns the input of the resume rules, with `offset` bytes on disk.
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

    /// How the servers of the bytes were verified.
    var serverVerification: ServerVerification {
        verification.map(ServerVerification.init(text:)) ?? .usual(for: request.url)
    }

    /// Records how the servers of the next bytes are verified.
    /// - Parameters:
    ///   - verification: one that accepts that of the bytes so far.
    ///   - servers: the servers that only the challenge closure trusts, as digests.
    mutating func note(_ verification: ServerVerification, trusting servers: Set<String>) {
        self.verification = verification.note(besides: request.url)
        let all = verification == .anyServer ? [] : servers.union(trustedServers ?? [])
        trustedServers = all.isEmpty ? nil : all.sorted()
    }

    /// Records the URL at which the next bytes are requested.
    mutating func note(_ address: URL) {
        if !request.isAt(address) { isOfSeveralLocations = true }
    }

    /// Compares its request with another one. Bytes from several locations match none.
    func match(_ downloadRequest: DownloadRequest) -> RequestDigests.Match {
        let match = asked.match(downloadRequest.texts(varying: Self.varying(origin)))
        return isOfSeveralLocations == true ? match.subtracting(.location) : match
    }

    /// Returns the names of the fields in the `Vary` of a response.
    private static func varying(_ origin: Response) -> [String] {
        VaryingFields.names(in: origin.headerFields) ?? []
    }

    /// The same without the queries of URLs, which may be signed: for a file that others may read.
    var withoutQueries: DownloadCheckpoint {
        var checkpoint = self
        checkpoint.request = request.withoutQuery
        var fields = origin.headerFields
        if let location = fields["Content-Location"] { fields["Content-Location"] = location.withoutQuery }
        checkpoint.origin = Response(url: origin.url.withoutQuery, fields: fields, isHTTP10: origin.isHTTP10)
        return checkpoint
    }

    /// The time of the last modification on the server, in seconds since 1970.
    var modified: Int64? {
        origin.headerFields["Last-Modified"].flatMap { HTTPDate(fieldValue: $0) }?.secondsSince1970
    }

    /// The number of bytes before the first one that is not certainly on disk.
    var committed: Int64 { ranges.prefix }

    /// Records that these bytes are on disk. `block` ends before the first missing byte.
    mutating func commit(_ ranges: ByteRanges, _ block: Block) {
        self.ranges = ranges
        blocks.removeAll { $0.end >= block.end }
        blocks.append(block)
        if blocks.count > DownloadCheckpoint.maximumBlockCount { blocks.removeFirst() }
    }

    /// Records that nothing after `length` remains.
    mutating func rollBack(to length: Int64) {
        ranges.cut(to: length)
        blocks.removeAll { $0.end > length }
    }
}
