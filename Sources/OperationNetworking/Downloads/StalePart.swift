package import Foundation
package import FoundationNetworking
internal import OperationNetworkingSystem

/// Partial files of processes that died, beside a file that is done without them: the user, or another
/// program, has completed it meanwhile.
///
/// | A partial file of that name, and its checkpoint                   | Current | Record  |
/// |--------------------------------------------------------------------|---------|---------|
/// | that are not certainly of this user's downloads (``FileTrust``)   | stay    | stay    |
/// | that are locked: a download is running                            | stay    | stay    |
/// | of another address                                                | stay    | stay    |
/// | a copy of another program's file (P20), which was another one     | removed | removed |
/// | any other: it may be of a later version, and is then continued    | removed | stay    |
///
/// *Current*: a digest, or the server, has just said that the file is what the server has. *Record*: only the
/// file's own record says that it is done.
package enum StalePart {
    /// Removes those that are of no use any more.
    /// - Parameters:
    ///   - file: the file that is done.
    ///   - request: the request that it is the answer to.
    ///   - isCurrent: whether a digest, or the server, has just said that the file is what the server has.
    /// - Throws: ``DownloadError``, or a `CocoaError`.
    package static func remove(beside file: URL, of request: URLRequest, isCurrent: Bool) throws {
        let place = try DownloadPlace(file, watch: nil)
        let name = PartialName(of: place.name)
        let url = RequestRecord(request).url
        try FileError.translating(file) {
            for number in 0..<PartialName.candidateCount {
                let names = name.candidate(number)
                guard try place.folder.status(of: names.part) != .nothing else { return }
                try place.folder.removeStale(names, of: url, isCurrent: isCurrent)
            }
        }
    }
}

extension DownloadFolder {
    fileprivate func removeStale(_ names: PartialName.Candidate, of url: String, isCurrent: Bool) throws {
        guard case .file(let found) = try status(of: names.part), try mayBeOurs(found),
            let file = try open(names.part), try trust(file, as: .part) == .full,
            try file.lock() == .taken,
            // Another file may have had the name since, or have it now.
            case .file(let named) = try status(of: names.part), try named.identity == file.status.identity,
            case .checkpoint(let checkpoint) = try finding(names),
            checkpoint.request.url == url, isCurrent || checkpoint.copy != nil
        else { return }
        // First: bytes without a checkpoint would be taken for another program's.
        try file.truncate(to: 0)
        try remove(names.temporary)
        try remove(names.checkpoint)
        try remove(names.part)
    }
}
