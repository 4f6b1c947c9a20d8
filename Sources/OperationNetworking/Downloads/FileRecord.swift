package import Foundation
package import FoundationNetworking
internal import OperationNetworkingSystem

/// The record of a complete file, in one extended attribute: the request that it answers, and its stamp when
/// it got its name.
///
/// ```
/// 3 <SHA-256 of salt and request> <SHA-256 of salt and file> <salt> <length> <seconds> <nanoseconds> <proof>
/// <ETag>
/// <Last-Modified>
/// <names of fields>
/// <Content-Type>
/// ```
///
/// The names are there if the server's `Vary` named fields that otherwise do not count (``VaryingFields``): the
/// hash then covers their values, too. Last lines that would be empty are left out.
///
/// No address is in it: an address may hold what others must not see, and a file's attributes travel with its
/// copies. The user of the request counts, too (``RequestIdentity``): one user's file is not another's. So does
/// how the server was verified, where that is not as usual for the URL (``ServerVerification``). The second hash
/// is without these and without the query: it tells the same file under another link from another file
/// (``KeptBody``). The attribute is set while the file still is a part, in one step, and before the
/// rename: a process that is killed leaves no record on another file. Length and time of modification bind it
/// to the bytes: after any write it is of no use.
struct FileRecord: Hashable, Sendable {
    /// The proof of the file when it got its name: less than ``DownloadedFile/Proof``, which says it to the
    /// caller then.
    enum Proof: String, Hashable, Sendable, CaseIterable {
        /// The file had a digest, or the length or the end that the server had named, and every byte was
        /// proven to be the server's.
        case complete
        /// The file was joined by comparing some bytes (``DownloadedFile/Proof/overlap``): those before them
        /// may be others.
        case overlap
        /// The file ended when its connection did (``DownloadedFile/Proof/unverifiable``): it may be cut
        /// short.
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

    static let attribute = ExtendedAttribute("user.operationnetworking.download")
    /// Longer validators are left out: file systems keep only so much.
    private static let longestValidator = 1024
    private static let version = "3"

    /// The hash of the request and its user.
    let request: SaltedDigest
    /// The hash of ``RequestRecord/file``, with the same salt.
    let file: SaltedDigest
    /// The stamp of the file when it was complete.
    let stamp: FileStamp
    let proof: Proof
    /// As the server sent it.
    let entityTag: String?
    /// `Last-Modified` as the server sent it, in a second that was over then: a weak one proves nothing
    /// later.
    let lastModified: String?
    /// The fields that the server's `Vary` named.
    let varying: [String]
    /// The media type in lower case, without parameters; `nil`: not known.
    let mediaType: String?

    init(
        _ request: RequestRecord,
        as identity: RequestIdentity,
        under verification: ServerVerification? = nil,
        stamp: FileStamp,
        proof: Proof,
        fields: HeaderFields,
        selectedBy selection: VaryingFields.Selection = .none
    ) throws {
        self.request = try SaltedDigest(of: request.fingerprint(as: identity, verification, selection))
        file = try SaltedDigest(of: request.file, salt: self.request.salt)
        varying = selection.names
        self.stamp = stamp
        self.proof = proof
        func validator(_ name: String) -> String? {
            let values = fields.values(for: name)
            guard values.count == 1, let value = values.first, value.utf8.count <= Self.longestValidator
            else {
                return nil
            }
            return value.contains(where: \.isNewline) ? nil : value
        }
        entityTag = validator("ETag").flatMap { EntityTag(fieldValue: $0) == nil ? nil : $0 }
        lastModified = validator("Last-Modified").flatMap { _ in EntityValidator.strongDate(in: fields) }
        mediaType = validator("Content-Type").flatMap(KeptBody.mediaType(of:))
    }

    // MARK: - Text

    var text: String {
        let head = [
            Self.version, request.digest, file.digest, request.salt, "\(stamp.length)", "\(stamp.seconds)",
            "\(stamp.nanoseconds)", proof.rawValue,
        ]
        var lines = [head.joined(separator: " "), entityTag ?? "", lastModified ?? ""]
        if !varying.isEmpty || mediaType != nil { lines.append(varying.joined(separator: ",")) }
        if let mediaType { lines.append(mediaType) }
        return lines.joined(separator: "\n")
    }

    /// - Returns: `nil` for the text of another version, or of no record.
    init?(text: String) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        guard (3...5).contains(lines.count), lines.count == 3 || lines.last != "" else { return nil }
        let words = lines[0].split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        guard words.count == 8, words[0] == Self.version,
            let request = SaltedDigest(digest: words[1], salt: words[3]),
            let file = SaltedDigest(digest: words[2], salt: words[3]),
            let length = Int64(words[4]), let seconds = Int64(words[5]), let nanoseconds = Int64(words[6])
        else { return nil }
        (self.request, self.file) = (request, file)
        stamp = FileStamp(length: length, seconds: seconds, nanoseconds: nanoseconds)
        entityTag = EntityTag(fieldValue: lines[1]) == nil ? nil : lines[1]
        lastModified = HTTPDate(fieldValue: lines[2]) == nil ? nil : lines[2]
        guard let proof = Proof(rawValue: words[7]) else { return nil }
        self.proof = proof
        varying = lines.count > 3 ? lines[3].split(separator: ",").map(String.init) : []
        mediaType = lines.count > 4 ? lines[4] : nil
    }
}

extension FileRecord {
    /// The stamp in the record of a file; `nil`: it has none.
    static func stamp(in file: URL) -> FileStamp? {
        guard let found = try? NotedFile(path: file.path, attribute: attribute),
            case .text(let text) = found.note
        else { return nil }
        return FileRecord(text: text)?.stamp
    }
}

extension RequestRecord {
    /// Everything that decides which bytes are the answer, to be compared by its digest. The same in every
    /// version.
    fileprivate func fingerprint(
        as identity: RequestIdentity,
        _ verification: ServerVerification?,
        _ selection: VaryingFields.Selection
    ) -> String {
        // Before the method: nothing else is there.
        var lines = verification?.note(besides: url).map { ["verification " + $0] } ?? []
        lines += [method, url]
        lines += selectingFields.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
        return (lines + selection.lines + ["", identity.users]).joined(separator: "\n")
    }
}

/// The evidence of an existing file, before any server is asked.
package enum FileStanding: Hashable, CaseIterable, Sendable {
    /// Nothing, or no regular file.
    case nothing
    /// The file is the complete answer to the request, and was not changed since.
    case complete
    /// The file is an answer to the request, and was not changed since. Some bytes of it came again, and were
    /// equal; nothing else said that all of it is of one file.
    case joined
    /// The file is an answer to the request, and was not changed since. Nothing said where it ends.
    case perhapsIncomplete
    /// The same request made it, and then it was changed.
    case changed
    /// Another address, another request, or another user made it; or its server was verified in another way.
    case ofOtherRequest
    /// No record is with it: another program made it.
    case unrecorded
    /// The file system keeps no records.
    case unrecordable
    /// The file belongs to another user, who may have written anything into it, and into a record; or it may
    /// not be read.
    case foreign
    /// The file belongs to the effective user, and others may write it, and a record.
    case writableByOthers

    /// - Parameters:
    ///   - file: a file URL. Links are followed.
    ///   - request: what the file is to be the answer to.
    ///   - identity: as whom it is asked.
    ///   - verification: how the server is verified; `nil`: as is usual for the URL.
    /// - Throws: a `CocoaError` if it cannot be looked at.
    package init(
        of file: URL,
        for request: URLRequest,
        as identity: RequestIdentity,
        under verification: ServerVerification? = nil
    ) throws {
        self = try FileFinding(of: file, for: request, as: identity, under: verification).standing
    }
}

/// A file that is there, its record, and what both prove.
struct FileFinding {
    let standing: FileStanding
    /// Only of a file that is complete.
    var record: FileRecord? { standing == .complete ? ofRequest : nil }
    /// Of a file that the same request made, whatever it is now.
    private(set) var ofRequest: FileRecord?
    /// The same, also where the request had another query or another user.
    private(set) var ofFile: FileRecord?

    init(
        of file: URL,
        for request: URLRequest,
        as identity: RequestIdentity,
        under verification: ServerVerification? = nil
    ) throws {
        var records: (ofRequest: FileRecord?, ofFile: FileRecord?)
        standing = try Self.standing(of: file, for: request, as: identity, verification, &records)
        (ofRequest, ofFile) = records
    }

    private static func standing(
        of file: URL,
        for request: URLRequest,
        as identity: RequestIdentity,
        _ verification: ServerVerification?,
        _ records: inout (ofRequest: FileRecord?, ofFile: FileRecord?)
    ) throws -> FileStanding {
        do {
            let found = try NotedFile(path: file.path, attribute: FileRecord.attribute)
            guard let found else { return .nothing }
            return try standing(found, for: request, as: identity, verification, &records)
        } catch let error as SystemError where error.isLackOfPermission {
            return .foreign
        } catch {
            throw FileError.foundation(error, file)
        }
    }

    private static func standing(
        _ file: NotedFile,
        for request: URLRequest,
        as identity: RequestIdentity,
        _ verification: ServerVerification?,
        _ records: inout (ofRequest: FileRecord?, ofFile: FileRecord?)
    ) throws -> FileStanding {
        guard file.isMine else { return .foreign }
        guard !file.mayBeWrittenByOthers else { return .writableByOthers }
        switch file.note {
        case .unsupported: return .unrecordable
        case .none: return .unrecorded
        case .text(let text):
            guard let read = FileRecord(text: text) else { return .unrecorded }
            let selection = VaryingFields(request).selection(by: read.varying)
            let question = RequestRecord(request, as: identity)
            let accepted = (verification ?? .usual(for: question.url)).accepted
            let isOfRequest = try accepted.contains {
                try read.request.isDigest(of: question.fingerprint(as: identity, $0, selection))
            }
            if try isOfRequest || read.file.isDigest(of: question.file) { records.ofFile = read }
            guard isOfRequest else { return .ofOtherRequest }
            records.ofRequest = read
            guard read.stamp == file.stamp else { return .changed }
            switch read.proof {
            case .overlap: return .joined
            case .unverifiable: return .perhapsIncomplete
            case .complete: return .complete
            }
        }
    }
}

extension KeptBody {
    /// The complete file that has the name; `nil`: there is none, or it has no bytes. Of a file of another
    /// address than the request's, or of another program, no more counts than whether it is HTML.
    /// - Parameters:
    ///   - file: the destination.
    ///   - request: the request that will be sent.
    ///   - identity: the credentials that the request is sent with.
    ///   - verification: how the server is verified; `nil`: as is usual for the URL.
    ///   - isToBeNewer: whether only a newer file is to take its place, which says so by a validator.
    /// - Throws: a `CocoaError` if the file cannot be looked at.
    init?(
        file: URL,
        of request: URLRequest,
        as identity: RequestIdentity,
        under verification: ServerVerification?,
        isToBeNewer: Bool
    ) throws {
        let finding = try FileFinding(of: file, for: request, as: identity, under: verification)
        guard finding.standing != .nothing,
            let read = try? NotedFile(path: file.path, attribute: FileRecord.attribute), read.stamp.length > 0
        else { return nil }
        let record = finding.ofFile
        count = read.stamp.length
        total = count
        mediaType = record?.mediaType
        isHTML =
            mediaType == nil
            && (["html", "htm", "xhtml"].contains(file.pathExtension.lowercased())
                || Self.beginsAsHTML((try? read.read(512, at: 0)) ?? []))
        isNamed = record?.entityTag != nil || record?.lastModified != nil
        hasLength = isNamed || isToBeNewer && (record != nil || finding.standing != .ofOtherRequest)
    }

    private static func beginsAsHTML(_ bytes: [UInt8]) -> Bool {
        let text = String(decoding: bytes, as: UTF8.self).lowercased()
            .drop { $0.isWhitespace || $0 == "\u{FEFF}" }
        return ["<!doctype html", "<html", "<head", "<body", "<!--"].contains { text.hasPrefix($0) }
    }
}

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
    ///   - identity: the credentials that the request is sent with.
    ///   - verification: how the server is verified; `nil`: as is usual for the URL.
    ///   - digests: what the file has to be.
    /// - Throws: a `CocoaError` if the file cannot be read.
    init?(
        for file: URL,
        request: URLRequest,
        as identity: RequestIdentity,
        under verification: ServerVerification? = nil,
        digests: [FileDigest]
    ) throws {
        let finding = try FileFinding(of: file, for: request, as: identity, under: verification)
        guard let record = finding.record else { return nil }
        self.init(record)
        for digest in digests {
            guard try FileDigest.of(file: file, algorithm: digest.algorithm) == digest else { return nil }
        }
    }
}
