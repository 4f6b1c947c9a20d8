package import Foundation
package import FoundationNetworking
internal import OperationNetworkingSystem

/// Leftovers of a killed download beside a file that is done without them, and of no use to a later one: the
/// user, or another program, has completed the file meanwhile.
///
/// | A partial file of that name, and its checkpoint                 |         |
/// |-----------------------------------------------------------------|---------|
/// | that are not certainly of this user's downloads (``FileTrust``) | stay    |
/// | that are locked: a download is running                          | stay    |
/// | a part without a byte, and no checkpoint: nothing had come      | removed |
/// | of another address, or another site (`Host`)                    | stay    |
/// | a part without a byte, and its checkpoint                       | removed |
/// | a copy (P20): the file that it was made of is another one now   | removed |
/// | any other: it may be of a later version, and is then continued  | stay    |
///
/// Where the file system keeps no marks, a part without a byte counts as this user's if no other one may open
/// it.
package enum StalePart {
    /// Whether a download that was killed just after it had completed the file may have left something: a
    /// checkpoint, or the mark of the part on the file, which tells of a part with any of its names.
    package static func mayBeLeft(beside file: URL) -> Bool {
        guard let place = try? DownloadPlace(file, watch: nil) else { return false }
        var isLeft = false
        PartialName(of: place.name).search { names in
            let checkpoint = try? place.folder.status(of: names.checkpoint)
            let isTaken = checkpoint.map { $0 != .nothing } ?? false
            isLeft = isLeft || isTaken
            return isTaken
        }
        if isLeft { return true }
        guard case .file = try? place.folder.status(of: place.name) else { return false }
        return (try? place.folder.open(place.name))?.look(for: .part) == .present
    }

    /// Removes them.
    /// - Parameters:
    ///   - file: the file that is done.
    ///   - request: the request that it is the answer to.
    /// - Throws: ``DownloadError``, or a `CocoaError`.
    package static func remove(beside file: URL, of request: URLRequest) throws {
        let place = try DownloadPlace(file, watch: nil)
        let name = PartialName(of: place.name)
        let request = RequestRecord(request)
        try FileError.translating(file) {
            try place.folder.removeParts(of: name) { finding, trust, isEmpty in
                place.folder.isStale(finding, of: request, trust, isEmpty: isEmpty)
            }
        }
    }
}

extension DownloadPlace {
    /// Removes the part that was kept until one of this generation was whole.
    func removeParts(before generation: Int) throws {
        guard generation > 0 else { return }
        try folder.removeParts(of: PartialName(of: name)) { finding, trust, isEmpty in
            switch finding {
            // Its process died as it removed it.
            case .none: isEmpty
            case .checkpoint(let checkpoint):
                trust == .full && checkpoint.wish.name.utf8.elementsEqual(name.utf8)
                    && (checkpoint.generation ?? 0) < generation
            case .unreadable, .notOurs, .unmarked: false
            }
        }
    }
}

extension DownloadFolder {
    /// Removes parts of a file that are certainly ours, and that no operation has open.
    fileprivate func removeParts(
        of name: PartialName,
        where isStale: (PartRecovery.Facts.Finding, FileTrust, _ isEmpty: Bool) throws -> Bool
    ) throws {
        try name.search { names in
            guard try status(of: names.part) != .nothing else { return false }
            try remove(names, where: isStale)
            return true
        }
    }

    private func remove(
        _ names: PartialName.Candidate,
        where isStale: (PartRecovery.Facts.Finding, FileTrust, _ isEmpty: Bool) throws -> Bool
    ) throws {
        guard case .file(let found) = try status(of: names.part), try mayBeOurs(found),
            let file = try open(names.part)
        else { return }
        let trust = try trust(file, as: .part)
        guard trust != .none, try file.lock() == .taken,
            // Another file may have had the name since, or have it now.
            case .file(let named) = try status(of: names.part), try named.identity == file.status.identity,
            try isStale(finding(names), trust, file.status.size == 0)
        else { return }
        // First: bytes without a checkpoint would be taken for another program's.
        try file.truncate(to: 0)
        try remove(names.temporary)
        try remove(names.checkpoint)
        try remove(names.part)
    }

    fileprivate func isStale(
        _ finding: PartRecovery.Facts.Finding,
        of request: RequestRecord,
        _ trust: FileTrust,
        isEmpty: Bool
    ) -> Bool {
        switch finding {
        case .none: isEmpty
        case .checkpoint(let checkpoint):
            trust == .full && checkpoint.request.hasSameTarget(as: request)
                && (isEmpty || checkpoint.copy != nil)
        case .unreadable, .notOurs, .unmarked: false
        }
    }
}
