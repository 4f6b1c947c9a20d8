import Foundation
import FoundationNetworking
internal import OperationNetworkingSystem

/// | What there is                                                   | What is asked                                 |
/// |-----------------------------------------------------------------|-----------------------------------------------|
/// | a file that its record proves complete, with an entity tag      | `If-None-Match`, with the tag as it came      |
/// | such a file with a `Last-Modified` that was strong              | `If-Modified-Since`, with the date as it came |
/// | such a file with a weak `Last-Modified`: in that second it may have changed again | nothing: the file is wanted |
/// | any other: none, one that was changed since, one of another program or user, one whose server was verified in another way, one that its record does not prove | nothing: the file is wanted |
/// | one that does not have the digests that are expected            | nothing: the file is wanted                   |
///
/// A date alone says nothing of a file that another program may have left half-way. See
/// [RFC 9110 §13.1](https://www.rfc-editor.org/rfc/rfc9110#section-13.1), for the strength of dates
/// [§8.8.2.2](https://www.rfc-editor.org/rfc/rfc9110#section-8.8.2.2).
extension FileCondition {
    /// `nil` where the record names no validator.
    init?(_ record: FileRecord) {
        self.init(
            entityTag: record.entityTag,
            lastModified: record.lastModified,
            length: record.stamp.length
        )
    }

    /// Looks at a file, and reads all of it if there are digests. `nil` where the whole is wanted.
    /// - Parameters:
    ///   - file: the destination.
    ///   - request: the request that will be sent.
    ///   - asker: as whom.
    ///   - verification: how the server is verified; `nil`: as is usual for the URL.
    ///   - digests: what the file has to be.
    /// - Throws: a `CocoaError` if the file cannot be read.
    init?(
        for file: URL,
        request: URLRequest,
        as asker: RequestIdentity,
        under verification: ServerVerification? = nil,
        digests: [FileDigest]
    ) throws {
        let finding = try FileFinding(of: file, for: request, as: asker, under: verification)
        guard let record = finding.record else { return nil }
        self.init(record)
        for digest in digests {
            guard try FileDigest.of(file: file, algorithm: digest.algorithm) == digest else { return nil }
        }
    }
}
