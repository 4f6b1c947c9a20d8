package import Foundation
package import FoundationNetworking
internal import OperationNetworkingSystem

/// The record of a complete file, as JSON in an extended attribute: the request that it answers, and its stamp when it
/// got its name. The stored properties are the keys of the JSON.
///
/// The inode and the time of birth identify the file, and do not change when it is renamed; a copy, or an unpacked
/// file, that has the attribute has other ones. The record contains no URL, which may be secret, because attributes are
/// copied with the file. The attribute is set in one step while the file is still a part, before the rename, so a
/// killed process leaves no record on another file. Length and time of modification bind the record to the bytes: any
/// write invalidates it.
struct FileRecord: Hashable, Codable, Sendable {
    /// How much was known when the file got its name: a shorter form of ``DownloadedFile/Proof``.
    enum Proof: String, Hashable, Codable, Sendable, CaseIterable {
        /// The file had a digest, or the length or end that the server named, and every byte was proven to be the
        /// server's.
        case complete
        /// The file was joined on the evidence of an overlap (``DownloadedFile/Proof/overlap``): bytes before it may
        /// be wrong.
        case overlap
        /// The file ended when the connection was closed (``DownloadedFile/Proof/unverifiable``): it may be
        /// incomplete.
        case unverifiable

        init(_ proof: DownloadedFile.Proof) {
            self =
                switch proof {
                case .digest, .length, .range: .complete
                case .overlap: .overlap
                case .unverifiable, .existing: .unverifiable  // no operation ends with .existing
                }
        }
    }

    /// The name of the extended attribute (xattr(7)), which not all file systems support.
    static let attribute = "user.operationnetworking.download"
    /// The maximum length of a validator, because file systems limit attributes.
    private static let longestValidator = 1024
    private static let currentFormat = 6

    /// The format number. Records with any other number are not read.
    private var format = currentFormat
    /// The request. ``RequestDigests/sender`` also covers how the server was verified, if that is unusual for the URL
    /// (``ServerVerification``).
    let asked: RequestDigests
    /// No copy has the same.
    let file: LastingFileIdentity
    /// The stamp of the file when it was complete.
    let stamp: FileStamp
    let proof: Proof
    /// The `ETag` as received.
    let entityTag: String?
    /// The `Last-Modified` as received, if it was strong; a weak one proves nothing later.
    let lastModified: String?
    /// The fields that the server's `Vary` named (``VaryingFields``), in lower case.
    let varying: [String]
    /// The media type in lower case, without parameters; `nil` if unknown.
    let mediaType: String?

    /// - Parameters:
    ///   - downloadRequest: the request.
    ///   - verification: how the servers were verified; `nil` if as usual for the URL.
    ///   - file: the identity of the file.
    ///   - stamp: the stamp of the complete file.
    ///   - proof: the evidence of its completeness.
    ///   - fields: the head that describes the file; empty if none does.
    ///   - varying: the fields that the server's `Vary` named.
    /// - Throws: ``DigestError`` if OpenSSL refuses SHA-256.
    init(
        _ downloadRequest: DownloadRequest,
        under verification: ServerVerification? = nil,
        file: LastingFileIdentity,
        stamp: FileStamp,
        proof: Proof,
        fields: HeaderFields,
        varying: [String] = []
    ) throws {
        asked = try RequestDigests(of: downloadRequest.texts(varying: varying, under: verification))
        self.varying = varying
        self.file = file
        self.stamp = stamp
        self.proof = proof
        func validator(_ name: String) -> String? {
            let values = fields.values(for: name)
            guard values.count == 1, let value = values.first, value.utf8.count <= Self.longestValidator
            else { return nil }
            return value
        }
        entityTag = validator("ETag").flatMap { EntityTag(fieldValue: $0) == nil ? nil : $0 }
        lastModified = validator("Last-Modified").flatMap { _ in EntityValidator.strongDate(in: fields) }
        mediaType = validator("Content-Type").flatMap(KeptBody.mediaType(of:))
    }

    // MARK: - Text

    var text: String {
        get throws {
            let encoder = JSONEncoder()
            // An attribute is short: see `NotedFile`.
            encoder.outputFormatting = .withoutEscapingSlashes
            return String(decoding: try encoder.encode(self), as: UTF8.self)
        }
    }

    /// - Returns: `nil` if the text is not a record, or has another format.
    init?(text: String) {
        guard let record = try? JSONDecoder().decode(Self.self, from: Data(text.utf8)),
            record.format == Self.currentFormat
        else { return nil }
        self = record
    }
}

extension FileRecord {
    /// Returns `nil` if the file has no record, or that of another file, of which it is a copy.
    init?(of file: NotedFile) {
        guard let record = file.note.flatMap(FileRecord.init(text:)), record.file.proves(file.lastingIdentity)
        else { return nil }
        self = record
    }

    /// Returns the stamp in the record of a file; `nil` if it has no record.
    static func stamp(in file: URL) -> FileStamp? {
        (try? NotedFile(path: file.path, attribute: attribute)).flatMap(FileRecord.init(of:))?.stamp
    }
}

/// The verdict on an existing file before the first request.
package enum FileVerdict: Hashable, CaseIterable, Sendable {
    /// There is no regular file.
    case nothing
    /// The file is the complete response to the request, and was not changed since.
    case complete
    /// The file is a response to the request, and was not changed since. It was joined on the evidence of an overlap.
    case joined
    /// The file is a response to the request, and was not changed since. It may be incomplete.
    case perhapsIncomplete
    /// The file is a response to the request, and was changed since.
    case changed
    /// The file is the response to another request, to that of another user, or its server was verified in another
    /// way.
    case ofOtherRequest
    /// The file has no record: another program created it, or copied it, with or without its attributes, or the file
    /// system does not support records.
    case unrecorded
    /// The file belongs to another user, who may have written both the file and its record, or it may not be read.
    case foreign
    /// The file belongs to the effective user, but others may write it and its record.
    case writableByOthers

    /// - Parameters:
    ///   - file: a file URL. Links are followed.
    ///   - request: the request that the file should answer.
    ///   - identity: the credentials that the request is sent with.
    ///   - verification: how the server is verified; `nil` for the usual way of the URL.
    /// - Throws: a `CocoaError` if the file cannot be examined.
    package init(
        of file: URL,
        for request: URLRequest,
        as identity: RequestIdentity,
        under verification: ServerVerification? = nil
    ) throws {
        self = try FileFinding(of: file, for: DownloadRequest(request, as: identity, under: verification))
            .verdict
    }
}

/// An existing file, its record, and the verdict on both.
struct FileFinding {
    let verdict: FileVerdict
    /// `nil` if there is none, or it may not be read.
    private(set) var file: NotedFile?
    /// The record of a complete file.
    var record: FileRecord? { verdict == .complete ? ofFile : nil }
    /// The record of a file from the same location, whatever its state, its query or its user.
    private(set) var ofFile: FileRecord?

    init(of file: URL, for downloadRequest: DownloadRequest) throws {
        do {
            let found = try NotedFile(path: file.path, attribute: FileRecord.attribute)
            guard let found else {
                verdict = .nothing
                return
            }
            self.file = found
            guard found.isMine, !found.mayBeWrittenByOthers, let record = FileRecord(of: found) else {
                verdict = Self.verdict(ofUnrecorded: found)
                return
            }
            let match = record.match(downloadRequest)
            if match.contains(.location) { ofFile = record }
            guard match == .all else {
                verdict = .ofOtherRequest
                return
            }
            guard record.stamp == found.stamp else {
                verdict = .changed
                return
            }
            verdict =
                switch record.proof {
                case .overlap: .joined
                case .unverifiable: .perhapsIncomplete
                case .complete: .complete
                }
        } catch let error as SystemError where error.isLackOfPermission {
            verdict = .foreign
        } catch {
            throw FileError.foundation(error, file)
        }
    }

    private static func verdict(ofUnrecorded file: NotedFile) -> FileVerdict {
        if !file.isMine { return .foreign }
        return file.mayBeWrittenByOthers ? .writableByOthers : .unrecorded
    }
}

extension FileRecord {
    /// Compares its request with another one, under each verification that this one accepts.
    fileprivate func match(_ downloadRequest: DownloadRequest) -> RequestDigests.Match {
        downloadRequest.verification.accepted
            .map { asked.match(downloadRequest.texts(varying: varying, under: $0)) }
            .reduce([]) { $0.union($1) }
    }
}

extension KeptBody {
    /// The existing complete file; `nil` if there is none, or it is empty. For a file of another URL, or of another
    /// program, only whether it is HTML matters.
    /// - Parameters:
    ///   - file: the destination.
    ///   - downloadRequest: the request that will be sent.
    ///   - isToBeNewer: whether only a newer file may replace it, which a validator shows.
    /// - Throws: a `CocoaError` if the file cannot be examined.
    init?(file: URL, of downloadRequest: DownloadRequest, isToBeNewer: Bool) throws {
        let finding = try FileFinding(of: file, for: downloadRequest)
        guard let read = finding.file, read.stamp.length > 0 else { return nil }
        let record = finding.ofFile
        count = read.stamp.length
        total = count
        mediaType = record?.mediaType
        isHTML =
            mediaType == nil
            && (["html", "htm", "xhtml"].contains(file.pathExtension.lowercased())
                || Self.beginsAsHTML((try? read.read(512, at: 0)) ?? []))
        isNamed = record?.entityTag != nil || record?.lastModified != nil
        hasLength = isNamed || isToBeNewer && (record != nil || finding.verdict != .ofOtherRequest)
    }

    private static func beginsAsHTML(_ bytes: [UInt8]) -> Bool {
        let text = String(decoding: bytes, as: UTF8.self).lowercased()
            .drop { $0.isWhitespace || $0 == "\u{FEFF}" }
        return ["<!doctype html", "<html", "<head", "<body", "<!--"].contains { text.hasPrefix($0) }
    }
}

/// | The existing file                                               | The condition                                 |
/// |-----------------------------------------------------------------|-----------------------------------------------|
/// | its record proves it complete, and has an entity tag            | `If-None-Match` with the tag as received      |
/// | its record proves it complete, and has a strong `Last-Modified` | `If-Modified-Since` with the date as received |
/// | its `Last-Modified` was weak: it may have changed within that second | none: it is downloaded                   |
/// | none, changed since, of another program or user, with another verification of the server, or not proven complete | none: it is downloaded |
/// | it does not have the expected digests                           | none: it is downloaded                        |
///
/// A date alone says nothing about a file that another program may have left incomplete. See [RFC 9110
/// §13.1](https://www.rfc-editor.org/rfc/rfc9110#section-13.1), and
/// [§8.8.2.2](https://www.rfc-editor.org/rfc/rfc9110#section-8.8.2.2) for the strength of dates.
extension FileCondition {
    /// Returns `nil` if the record has no validator.
    init?(_ record: FileRecord) {
        self.init(
            entityTag: record.entityTag,
            lastModified: record.lastModified,
            length: record.stamp.length
        )
    }

    /// Examines a file, and reads all of it if there are digests. `nil` if the whole has to be downloaded.
    /// - Parameters:
    ///   - file: the destination.
    ///   - downloadRequest: the request that will be sent.
    ///   - digests: the digests that the file must have.
    /// - Throws: a `CocoaError` if the file cannot be read.
    init?(for file: URL, _ downloadRequest: DownloadRequest, digests: [FileDigest]) throws {
        let finding = try FileFinding(of: file, for: downloadRequest)
        guard let record = finding.record else { return nil }
        self.init(record)
        for digest in digests {
            guard try FileDigest.of(file: file, algorithm: digest.algorithm) == digest else { return nil }
        }
    }
}
