package import Foundation
package import FoundationNetworking
internal import OperationNetworkingSystem

/// Copies of other programs' files (P20) that a killed download has left beside a file that is done without
/// them: the user, or another program, has completed it meanwhile.
///
/// | A partial file of that name, and its checkpoint                 |         |
/// |-----------------------------------------------------------------|---------|
/// | that are not certainly of this user's downloads (``FileTrust``) | stay    |
/// | that are locked: a download is running                          | stay    |
/// | of another address                                              | stay    |
/// | a copy: the file that it was made of is another one by now      | removed |
/// | any other: it may be of a later version, and is then continued  | stay    |
package enum StalePart {
    /// Removes the copies.
    /// - Parameters:
    ///   - file: the file that is done.
    ///   - request: the request that it is the answer to.
    /// - Throws: ``DownloadError``, or a `CocoaError`.
    package static func remove(beside file: URL, of request: URLRequest) throws {
        let place = try DownloadPlace(file, watch: nil)
        let name = PartialName(of: place.name)
        let url = RequestRecord(request).url
        try FileError.translating(file) {
            for number in 0..<PartialName.candidateCount {
                let names = name.candidate(number)
                guard try place.folder.status(of: names.part) != .nothing else { return }
                try place.folder.removeCopy(names, of: url)
            }
        }
    }
}

extension DownloadFolder {
    fileprivate func removeCopy(_ names: PartialName.Candidate, of url: String) throws {
        guard case .file(let found) = try status(of: names.part), try mayBeOurs(found),
            let file = try open(names.part), try trust(file, as: .part) == .full,
            try file.lock() == .taken,
            // Another file may have had the name since, or have it now.
            case .file(let named) = try status(of: names.part), try named.identity == file.status.identity,
            case .checkpoint(let checkpoint) = try finding(names),
            checkpoint.request.url == url, checkpoint.copy != nil
        else { return }
        // First: bytes without a checkpoint would be taken for another program's.
        try file.truncate(to: 0)
        try remove(names.temporary)
        try remove(names.checkpoint)
        try remove(names.part)
    }
}
