import Foundation
import FoundationNetworking
internal import OperationNetworkingSystem

extension KeptBody {
    /// The complete file that has the name; `nil`: there is none, or it has no bytes. Of a file of another
    /// address than the request's, or of another program, no more counts than whether it is HTML.
    /// - Parameters:
    ///   - file: the destination.
    ///   - request: the request that will be sent.
    ///   - asker: as whom.
    ///   - verification: how the server is verified; `nil`: as is usual for the URL.
    ///   - isToBeNewer: whether only a newer file is to take its place, which says so by a validator.
    /// - Throws: a `CocoaError` if the file cannot be looked at.
    init?(
        file: URL,
        of request: URLRequest,
        as asker: RequestIdentity,
        under verification: ServerVerification?,
        isToBeNewer: Bool
    ) throws {
        let finding = try FileFinding(of: file, for: request, as: asker, under: verification)
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
