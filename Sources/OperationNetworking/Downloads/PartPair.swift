internal import Foundation
internal import FoundationNetworking
internal import OperationNetworkingSystem

/// The partial files of one destination: the one that is being written, and the others.
///
/// ```
/// name.part                 a part, and another version begins
/// name.part  name.1.part    name.1.part is written, name.part is kept
/// name                      name.1.part is complete, and name.part is removed
/// name.part                 name.1.part was interrupted and cannot be resumed, or was unusable
/// ```
///
/// No useful bytes are removed before a server has responded. When a body starts over, one of the other parts is kept
/// until the file is complete. A failure of this operation removes nothing of an earlier one.
///
/// Used on one queue.
struct PartPair {
    /// A part other than the current one.
    private struct Other {
        let part: PartialDownload
        let usability: PartChoice.Usability
        /// The number of its bytes, even if they belong to another request; 0 if they are refuted.
        let count: Int64

        init(part: PartialDownload, usability: PartChoice.Usability, count: Int64) {
            (self.part, self.usability) = (part, usability)
            self.count = part.isRefuted ? 0 : count
        }
    }

    private(set) var current: PartialDownload
    private var others: [Other]
    /// Whether the bytes of the current part are to be discarded: they do not have the required digest, and none of
    /// them are from an earlier operation.
    private(set) var isRefuted = false
    /// Why bytes of an earlier process are not resumed.
    let lost: RestartReason?
    /// The parts of other requests, which a page must not replace (S27).
    let ofOtherRequests: [KeptBody]

    private let request: URLRequest
    private let overlap: Int64?
    private let target: DownloadTarget

    /// Finds the partial files of an earlier process, or creates a new one.
    ///
    /// - Parameters:
    ///   - request: the request. Used to decide whether existing bytes can be resumed.
    ///   - downloadRequest: the same request, for the comparison with those of existing bytes; `nil` to derive it from
    ///     `request` alone.
    ///   - destination: the URL of the complete file. Its folder must exist.
    ///   - replacesFile: whether an existing complete file may be replaced.
    ///   - overlap: the number of bytes to compare if there is no strong validator; `nil` to discard such bytes.
    ///   - environment: the machine.
    /// - Throws: ``DownloadError``, or a `CocoaError`.
    init(
        _ request: URLRequest,
        _ downloadRequest: DownloadRequest? = nil,
        to destination: URL,
        replacesFile: Bool,
        comparing overlap: Int64? = nil,
        in environment: DownloadEnvironment = DownloadEnvironment()
    ) throws {
        let downloadRequest = downloadRequest ?? DownloadRequest(request)
        let target = try DownloadTarget(
            destination,
            for: downloadRequest,
            replacing: replacesFile,
            in: environment
        )
        guard !FileName.isReserved(target.place.name) else { throw DownloadError.reservedName(destination) }
        self.request = request
        self.overlap = overlap
        self.target = target
        let parts = try FileError.translating(destination) {
            try target.place.check(replacing: replacesFile)
            let (found, passedBy) = try target.findParts()
            let usabilities = found.map { $0.usability(for: request, comparing: overlap) }
            // The server may have returned to an older version: the longer part of one version is resumed.
            let lengths = zip(usabilities, found).map { ($0, $1.length) }
            let resumed = PartChoice.indexToResume(in: lengths).map { last in
                found.indices.filter {
                    usabilities[$0] == usabilities[last] && found[$0].isSameVersion(as: found[last])
                }
                .max { found[$0].length < found[$1].length } ?? last
            }
            // A part without useful bytes is used as a new one.
            let currentIndex = resumed ?? usabilities.firstIndex(of: .nothing)
            var others: [Other] = []
            for (index, part) in found.enumerated() where index != currentIndex {
                let other = PartialDownload(part, for: target, generation: part.generation)
                if usabilities[index] == .nothing {
                    try other.discard()
                } else {
                    others.append(Other(part: other, usability: usabilities[index], count: part.size))
                }
            }
            let current =
                try currentIndex.map { found[$0] }
                ?? target.makePart(besides: others.map(\.part.names))
            let generation =
                resumed == nil ? others.map { $0.part.generation + 1 }.max() ?? 0 : current.generation
            let lost = resumed == nil ? current.lost ?? found.lazy.compactMap(\.lost).last ?? passedBy : nil
            let ofOtherRequests = found.compactMap { $0.otherBody(than: downloadRequest) }
            let download = PartialDownload(current, for: target, generation: generation)
            return (download, others, lost, ofOtherRequests)
        }
        (current, others, lost, ofOtherRequests) = parts
    }

    /// Whether the current part has no bytes of an earlier operation.
    private var isNew: Bool { current.recovered == nil }

    /// The part that the download can go back to: one of the same request, from before the current one.
    private var own: Other? { others.last { $0.usability.isOfRequest } }
    var kept: PartialDownload? { own?.part }

    /// The same part, if its rest can be requested. Going back to any other would only discard what was received.
    var continuable: PartialDownload? { own.flatMap { $0.usability == .proven ? $0.part : nil } }

    /// Whether there are parts other than the current one.
    var hasOthers: Bool { !others.isEmpty }

    // MARK: - Another version

    /// Whether a body that starts over is written to a new file, while the current one is kept until the body is
    /// complete.
    var beginsBeside: Bool { !isRefuted && usability(of: current) != .nothing }

    /// Creates the file for a body that starts over.
    func makeNext() throws -> PartialDownload {
        try FileError.translating(target.place.url) {
            let made = try target.makePart(besides: ([current] + others.map(\.part)).map(\.names))
            return PartialDownload(made, for: target, generation: current.generation + 1)
        }
    }

    /// Makes `next`, which is ready for the body, the current part.
    mutating func advance(to next: PartialDownload) {
        // The next download decides about bytes that cannot be committed now.
        try? current.flush()
        others.append(Other(part: current, usability: usability(of: current), count: current.count))
        current = next
        didStartOver()
    }

    /// Records that a body that starts over has begun in the current part. Of the others, only the longest is kept.
    mutating func didStartOver() {
        isRefuted = false
        let best = others.indices.max { others[$0].count < others[$1].count }
        let kept = best.map { others[$0] }
        for (index, other) in others.enumerated() where index != best { try? other.part.discard() }
        others = kept.map { [$0] } ?? []
    }

    // MARK: - The end of one of them

    /// Discards the bytes of the current part because they are wrong. Those of an earlier operation are kept.
    /// - Parameter digest: the digest of the whole, if it was wrong. The rest of what is kept is then not requested
    ///   again, unless a new whole has the digest that the joined file had: then the expected digest belongs to
    ///   another file.
    /// - Throws: a `CocoaError` if writing fails.
    mutating func refute(by digest: FileDigest?) throws {
        isRefuted = isNew
        if !isNew {
            try current.rollBackToRecovered(refuting: digest)
        } else if let digest {
            try kept?.clearRefutation(by: digest)
        }
    }

    /// Discards the current part in favor of the one that the download can go back to.
    mutating func goBack() throws {
        guard let index = others.lastIndex(where: { $0.usability.isOfRequest }) else { return }
        try current.discard()
        current = others.remove(at: index).part
        isRefuted = false
    }

    /// Discards the current part if no later request could resume it: the transfers have ended, and the file is not
    /// complete. `hasRoom`: whether there was enough disk space.
    mutating func settle(hasRoom: Bool) throws {
        // Every later process would leave it alone, or discard it.
        guard current.isProvable else { return try discard() }
        guard isNew else { return }
        let isOfUse = !isRefuted && (hasRoom || own == nil)
        guard let own else {
            if !isOfUse { try current.discard() }
            return
        }
        let isLess =
            own.count >= current.count && own.part.checkpoint.isSameVersion(as: current.checkpoint)
        let usability = isOfUse ? usability(of: current) : .nothing
        let both = [(own.usability, own.count), (usability, current.count)]
        if isLess || PartChoice.indexToResume(in: both) == 0 {
            try goBack()
        }
    }

    /// Removes the other parts: the current one is complete, or replaces them.
    mutating func dropOthers() {
        // A later download removes or resumes what remains.
        for other in others { try? other.part.discard() }
        others = []
    }

    func discard() throws {
        defer { for other in others { try? other.part.discard() } }
        try current.discard()
    }

    func close() {
        current.close()
        for other in others { other.part.close() }
    }

    /// Returns the error to report instead of one about a lack of space for `length` bytes, if kept parts use that
    /// space. `next`: whether the body was to be written to a new part.
    func explained(_ error: any Error, length: Int64?, next: Bool) -> any Error {
        let kept = (others.map(\.count) + (next ? [current.count] : [])).max() ?? 0
        guard DiskSpace.isLack(error), kept > 0 else { return error }
        return DownloadError.noRoomForBoth(target.place.url, kept: kept, length: length ?? 0)
    }

    private func usability(of part: PartialDownload) -> PartChoice.Usability {
        PartChoice.Usability(part.checkpoint, count: part.count, for: request, comparing: overlap)
    }
}

extension PartChoice.Usability {
    /// - Parameters:
    ///   - checkpoint: the checkpoint of a part of the response to `request`.
    ///   - count: the number of its bytes.
    ///   - request: the request.
    ///   - overlap: the number of bytes to compare if there is no strong validator; `nil` for none.
    init(
        _ checkpoint: DownloadCheckpoint?,
        count: Int64,
        for request: URLRequest,
        comparing overlap: Int64?
    ) {
        guard count > 0, let content = checkpoint?.partialContent(offset: count), !content.isCoded,
            ResumeRequest.mayContinue(request)
        else {
            self = .nothing
            return
        }
        self =
            switch ResumeRequest(request, continuing: content, comparing: overlap) {
            case .ownRange: .nothing
            case .whole, .wholeUntransformed: .unproven
            case .rest, .overlap, .confirmation, .nothing: .proven
            }
    }
}

extension FoundPart {
    /// The number of bytes in the file, even if they belong to another request.
    fileprivate var size: Int64 { otherCheckpoint == nil ? length : status.size }

    /// Describes its bytes if they belong to another request.
    fileprivate func otherBody(than downloadRequest: DownloadRequest) -> KeptBody? {
        guard let otherCheckpoint else { return nil }
        let match = otherCheckpoint.match(downloadRequest)
        return KeptBody(
            otherCheckpoint.partialContent(offset: size),
            isSameFile: match.contains(.location),
            hasLength: match.contains(.selection)
        )
    }

    fileprivate func isSameVersion(as other: FoundPart) -> Bool {
        checkpoint.isSameVersion(as: other.checkpoint)
    }

    fileprivate func usability(for request: URLRequest, comparing overlap: Int64?) -> PartChoice.Usability {
        guard lost == nil else { return otherCheckpoint == nil ? .nothing : .ofOtherRequest }
        return PartChoice.Usability(checkpoint, count: length, for: request, comparing: overlap)
    }
}

extension DownloadCheckpoint? {
    /// Whether both have the same strong tag and length.
    fileprivate func isSameVersion(as other: DownloadCheckpoint?) -> Bool {
        guard let content = self?.partialContent(offset: 0), let other = other?.partialContent(offset: 0)
        else {
            return false
        }
        return content.isSameVersion(as: other)
    }
}

/// Which partial file of a destination is used. There may be two: one, and another that was begun later to replace
/// it, because the server had another version or the request was another one.
///
/// | older \ newer      | nothing | of another request | unproven        | proven |
/// |--------------------|---------|--------------------|-----------------|--------|
/// | nothing            | new     | new                | newer           | newer  |
/// | of another request | new     | new                | newer           | newer  |
/// | unproven           | older   | older              | the longer one  | newer  |
/// | proven             | older   | older              | older           | newer  |
///
/// That part is resumed; *new* is an empty one. The same applies when a body has been interrupted. When a third
/// version begins, the shorter part is removed.
enum PartChoice {
    /// The usefulness of a partial file for a request.
    enum Usability: Int, Hashable, Sendable, CaseIterable {
        /// It has no bytes, or none that any request could resume.
        case nothing
        /// Another request may resume it.
        case ofOtherRequest
        /// It belongs to the response, but the server gave no strong validator: its rest is not requested.
        case unproven
        /// Its rest can be requested.
        case proven

        /// Whether the request may resume it, or replace it by its response.
        var isOfRequest: Bool { rawValue >= Self.unproven.rawValue }
    }

    /// Chooses the part to resume.
    /// - Parameter parts: the parts with the numbers of their bytes, oldest first.
    /// - Returns: its index; `nil` for a new part.
    static func indexToResume(in parts: [(usability: Usability, count: Int64)]) -> Int? {
        if let proven = parts.lastIndex(where: { $0.usability == .proven }) { return proven }
        let unproven = parts.indices.filter { parts[$0].usability == .unproven }
        return unproven.first { index in unproven.allSatisfy { parts[$0].count <= parts[index].count } }
    }
}
