package import Foundation
package import FoundationNetworking
internal import OperationNetworkingSystem

/// The record of a complete file, in one extended attribute: the request that it answers, and its stamp when
/// it got its name.
///
/// ```
/// 4 <location> <sender> <selection> <salt> <length> <seconds> <nanoseconds> <proof>
/// <ETag>
/// <Last-Modified>
/// <names of fields>
/// <Content-Type>
/// ```
///
/// The first line has the ``RequestDigests``. Their ``RequestDigests/sender`` also covers how the server was verified,
/// if that is unusual for the URL (``ServerVerification``). The names are the fields that the server's `Vary` named
/// (``VaryingFields``). Trailing empty lines are left out.
///
/// The record contains no address, which may be secret, because attributes are copied with the file. The attribute is
/// set in one step while the file is still a part, before the rename, so a killed process leaves no record on another
/// file. Length and time of modification bind the record to the bytes: any write invalidates it.
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
    private static let version = "4"

    /// The request.
    let asked: RequestDigests
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

    /// - Parameters:
    ///   - question: the request.
    ///   - verification: how the servers were verified; `nil` if as usual for the URL.
    ///   - stamp: of the complete file.
    ///   - proof: the evidence of its completeness.
    ///   - fields: the head that describes the file; empty if none does.
    ///   - varying: the fields that the server's `Vary` named.
    init(
        _ question: DownloadQuestion,
        under verification: ServerVerification? = nil,
        stamp: FileStamp,
        proof: Proof,
        fields: HeaderFields,
        varying: [String] = []
    ) throws {
        asked = try RequestDigests(of: question.texts(varying: varying, under: verification))
        self.varying = varying
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
        let numbers = [stamp.length, stamp.seconds, stamp.nanoseconds].map { "\($0)" }
        let head = [Self.version] + asked.words + numbers + [proof.rawValue]
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
        guard words.count == 9, words[0] == Self.version, let asked = RequestDigests(words: words[1...4]),
            let length = Int64(words[5]), let seconds = Int64(words[6]), let nanoseconds = Int64(words[7])
        else { return nil }
        self.asked = asked
        stamp = FileStamp(length: length, seconds: seconds, nanoseconds: nanoseconds)
        entityTag = EntityTag(fieldValue: lines[1]) == nil ? nil : lines[1]
        lastModified = HTTPDate(fieldValue: lines[2]) == nil ? nil : lines[2]
        guard let proof = Proof(rawValue: words[8]) else { return nil }
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
        self = try FileFinding(of: file, for: DownloadQuestion(request, as: identity, under: verification)).standing
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

    init(of file: URL, for question: DownloadQuestion) throws {
        do {
            let found = try NotedFile(path: file.path, attribute: FileRecord.attribute)
            guard let found else {
                standing = .nothing
                return
            }
            guard case .text(let text) = found.note, found.isMine, !found.mayBeWrittenByOthers,
                let record = FileRecord(text: text)
            else {
                standing = Self.standing(ofUnrecorded: found)
                return
            }
            let match = record.match(question)
            if match.isSuperset(of: [.location, .selection]) { ofFile = record }
            guard match == .all else {
                standing = .ofOtherRequest
                return
            }
            ofRequest = record
            guard record.stamp == found.stamp else {
                standing = .changed
                return
            }
            standing =
                switch record.proof {
                case .overlap: .joined
                case .unverifiable: .perhapsIncomplete
                case .complete: .complete
                }
        } catch let error as SystemError where error.isLackOfPermission {
            standing = .foreign
        } catch {
            throw FileError.foundation(error, file)
        }
    }

    private static func standing(ofUnrecorded file: NotedFile) -> FileStanding {
        if !file.isMine { return .foreign }
        if file.mayBeWrittenByOthers { return .writableByOthers }
        return file.note == .unsupported ? .unrecordable : .unrecorded
    }
}

extension FileRecord {
    /// Compares its request with another one, under each verification that this one accepts.
    fileprivate func match(_ question: DownloadQuestion) -> RequestDigests.Match {
        question.verification.accepted
            .map { asked.match(question.texts(varying: varying, under: $0)) }
            .reduce([]) { $0.union($1) }
    }
}

extension KeptBody {
    /// The complete file that has the name; `nil`: there is none, or it has no bytes. Of a file of another
    /// address than the request's, or of another program, no more counts than whether it is HTML.
    /// - Parameters:
    ///   - file: the destination.
    ///   - question: the request that will be sent.
    ///   - isToBeNewer: whether only a newer file is to take its place, which says so by a validator.
    /// - Throws: a `CocoaError` if the file cannot be looked at.
    init?(file: URL, of question: DownloadQuestion, isToBeNewer: Bool) throws {
        let finding = try FileFinding(of: file, for: question)
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
    ///   - question: the request that will be sent.
    ///   - digests: what the file has to be.
    /// - Throws: a `CocoaError` if the file cannot be read.
    init?(for file: URL, _ question: DownloadQuestion, digests: [FileDigest]) throws {
        let finding = try FileFinding(of: file, for: question)
        guard let record = finding.record else { return nil }
        self.init(record)
        for digest in digests {
            guard try FileDigest.of(file: file, algorithm: digest.algorithm) == digest else { return nil }
        }
    }
}
