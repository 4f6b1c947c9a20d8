internal import Foundation
internal import FoundationNetworking
internal import OperationNetworkingSystem

/// The partial files of one destination: the one that bytes go to, and the others that are there.
///
/// ```
/// name.part                 a part, and another version comes
/// name.part  name.1.part    name.1.part is written, name.part is kept
/// name                      name.1.part is whole, and name.part goes
/// name.part                 name.1.part broke off, and cannot be continued; or was of no use
/// ```
///
/// Nothing with bytes of use goes before a server has answered. When a body begins that starts over, one of the
/// others stays, and when the file is whole, none. What an earlier operation has left goes for no failure of
/// this one.
///
/// Used on one queue.
struct PartPair {
    /// A part that is there besides the current one.
    private struct Other {
        let part: PartialDownload
        let worth: PartChoice.Worth
        /// The number of its bytes, also where they are of another request; 0 of refuted ones.
        let count: Int64

        init(part: PartialDownload, worth: PartChoice.Worth, count: Int64) {
            (self.part, self.worth) = (part, worth)
            self.count = part.isRefuted ? 0 : count
        }
    }

    private(set) var current: PartialDownload
    private var others: [Other]
    /// Whether the bytes of the current one came to be thrown away: they do not have the digest that they have
    /// to have, and nothing was there before them.
    private(set) var isRefuted = false
    /// Whether the next body overwrites the current one, for there is no room for a third part.
    private var isOverwritten = false
    /// Why bytes of an earlier process are not continued.
    let lost: RestartReason?
    /// What there is of other requests: a page takes the place of none of it (S27).
    let ofOtherRequests: [KeptBody]

    private let request: URLRequest
    private let overlap: Int64?
    private let place: DownloadPlace
    private let question: DownloadQuestion
    private let replacesFile: Bool
    private let environment: DownloadEnvironment

    /// Finds what an earlier process left, or makes a new file.
    ///
    /// - Parameters:
    ///   - request: the request. Used to decide whether existing bytes can be resumed.
    ///   - question: the same, to be compared with those of earlier bytes; `nil`: as the request alone says.
    ///   - destination: the name of the complete file. Its folder has to exist.
    ///   - replacesFile: whether any file that has the name may be replaced.
    ///   - overlap: the number of bytes to compare where there is no strong validator; `nil`: such bytes are not
    ///     continued.
    ///   - environment: the machine.
    /// - Throws: ``DownloadError``, or a `CocoaError`.
    init(
        _ request: URLRequest,
        _ question: DownloadQuestion? = nil,
        to destination: URL,
        replacesFile: Bool,
        comparing overlap: Int64? = nil,
        in environment: DownloadEnvironment = DownloadEnvironment()
    ) throws {
        let place = try DownloadPlace(destination, watch: environment.watch)
        guard !FileName.isReserved(place.name) else { throw DownloadError.reservedName(destination) }
        let question = question ?? DownloadQuestion(request)
        self.request = request
        self.overlap = overlap
        self.place = place
        self.question = question
        self.replacesFile = replacesFile
        self.environment = environment
        let parts = try FileError.translating(destination) {
            try place.check(replacing: replacesFile)
            let (found, passedBy) = try FoundPart.findAll(
                for: question,
                at: place,
                replacing: replacesFile,
                in: environment
            )
            let worths = found.map { $0.worth(for: request, comparing: overlap) }
            // A version that was back for a while: the one that has more goes on.
            let goesOn = PartChoice.goesOn(zip(worths, found).map { ($0, $1.length) }).map { last in
                found.indices.filter {
                    worths[$0] == worths[last] && found[$0].isSameVersion(as: found[last])
                }
                .max { found[$0].length < found[$1].length } ?? last
            }
            // A part without a byte of use is as good as a new one.
            let currentIndex = goesOn ?? worths.firstIndex(of: .nothing)
            func download(_ part: FoundPart, _ generation: Int) -> PartialDownload {
                PartialDownload(
                    part,
                    at: place,
                    for: question,
                    replacing: replacesFile,
                    generation: generation,
                    in: environment
                )
            }
            var others: [Other] = []
            for (index, part) in found.enumerated() where index != currentIndex {
                let other = download(part, part.generation)
                if worths[index] == .nothing {
                    try other.discard()
                } else {
                    others.append(Other(part: other, worth: worths[index], count: part.size))
                }
            }
            let current =
                try currentIndex.map { found[$0] }
                ?? FoundPart.make(
                    besides: others.map(\.part.names),
                    for: question,
                    at: place,
                    replacing: replacesFile,
                    in: environment
                )
            let generation =
                goesOn == nil ? others.map { $0.part.generation + 1 }.max() ?? 0 : current.generation
            let lost = goesOn == nil ? current.lost ?? found.lazy.compactMap(\.lost).last ?? passedBy : nil
            let ofOtherRequests = found.compactMap { $0.otherBody(than: question) }
            return (download(current, generation), others, lost, ofOtherRequests)
        }
        (current, others, lost, ofOtherRequests) = parts
    }

    /// Whether nothing of the current one was there when the operation began.
    private var isNew: Bool { current.recovered == nil }

    /// The part that the request can go back to: its own, which was there before the current one.
    private var own: Other? { others.last { $0.worth.isOfRequest } }
    var kept: PartialDownload? { own?.part }

    /// The same, if its rest can be asked for. To go back to any other would only give up what came.
    var continuable: PartialDownload? { own.flatMap { $0.worth == .proven ? $0.part : nil } }

    /// Whether there is any part besides the current one.
    var hasOthers: Bool { !others.isEmpty }

    // MARK: - Another version

    /// Whether a body that starts over goes to a file beside the current one, which is kept until that is whole.
    var beginsBeside: Bool { !isRefuted && !isOverwritten && worth(of: current) != .nothing }

    /// Makes the file for a body that starts over.
    func makeNext() throws -> PartialDownload {
        try FileError.translating(place.url) {
            PartialDownload(
                try FoundPart.make(
                    besides: ([current] + others.map(\.part)).map(\.names),
                    for: question,
                    at: place,
                    replacing: replacesFile,
                    in: environment
                ),
                at: place,
                for: question,
                replacing: replacesFile,
                generation: current.generation + 1,
                in: environment
            )
        }
    }

    /// There is no room for a third part of `length` bytes: the shorter one of the two goes, which would go in any
    /// case, if that makes room. If it is the current one, the body overwrites it.
    /// - Returns: whether there is room now.
    mutating func makesRoom(for length: Int64) throws -> Bool {
        guard let index = others.indices.min(by: { others[$0].count < others[$1].count }) else {
            return false
        }
        let isCurrent = others[index].count > (current.isRefuted ? 0 : current.count)
        let shorter = isCurrent ? current : others[index].part
        guard
            try FileError.translating(
                place.url,
                { try shorter.allocated + place.folder.room.available >= length }
            )
        else { return false }
        if isCurrent { isOverwritten = true } else { try others.remove(at: index).part.discard() }
        return true
    }

    /// The body goes to `next`, which is ready for it.
    mutating func advance(to next: PartialDownload) {
        // What cannot be made safe now is found by the next one.
        try? current.flush()
        others.append(Other(part: current, worth: worth(of: current), count: current.count))
        current = next
        didStartAnew()
    }

    /// A body that starts over has begun in the current one. Of the others the longest one stays.
    mutating func didStartAnew() {
        (isRefuted, isOverwritten) = (false, false)
        let best = others.indices.max { others[$0].count < others[$1].count }
        let kept = best.map { others[$0] }
        for (index, other) in others.enumerated() where index != best { try? other.part.discard() }
        others = kept.map { [$0] } ?? []
    }

    // MARK: - The end of one of them

    /// The bytes of the current one are wrong. Those that an earlier operation left stay.
    /// - Parameter digest: that of the whole, if it was wrong. Then no later request asks for the rest of what
    ///   stays, unless all of it came now and has the digest that a file with these bytes had: it is the expected
    ///   digest that is of another file.
    /// - Throws: a `CocoaError` if the disk does not take it.
    mutating func refute(by digest: FileDigest?) throws {
        isRefuted = isNew
        if !isNew {
            try current.rollBackToRecovered(refuting: digest)
        } else if let digest {
            try kept?.clearRefutation(by: digest)
        }
    }

    /// Gives the current one up for the one that the request can go back to.
    mutating func goBack() throws {
        guard let index = others.lastIndex(where: { $0.worth.isOfRequest }) else { return }
        try current.discard()
        current = others.remove(at: index).part
        isRefuted = false
    }

    /// The transfers have ended, and the file is not whole: what came now goes where no later request could go
    /// on with it. `hasRoom`: whether there was room for all.
    mutating func settle(hasRoom: Bool) throws {
        guard isNew else { return }
        let isOfUse = !isRefuted && (hasRoom || own == nil)
        guard let own else {
            if !isOfUse { try current.discard() }
            return
        }
        let isLess =
            own.count >= current.count && own.part.checkpoint.isSameVersion(as: current.checkpoint)
        let worth = isOfUse ? worth(of: current) : .nothing
        if isLess || PartChoice.goesOn([(own.worth, own.count), (worth, current.count)]) == 0 {
            try goBack()
        }
    }

    /// The current one is whole, or takes the place of all.
    mutating func dropOthers() {
        // What stays is found, and removed or continued, by a later download.
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

    /// The error to tell instead of one that says there is no room for `length` bytes, if others are kept in
    /// that room. `next`: whether the body was to go to another part than the current one.
    func explained(_ error: any Error, length: Int64?, next: Bool) -> any Error {
        let kept = (others.map(\.count) + (next ? [current.count] : [])).max() ?? 0
        guard DiskRoom.isLack(error), kept > 0 else { return error }
        return DownloadError.noRoomForBoth(place.url, kept: kept, length: length ?? 0)
    }

    private func worth(of part: PartialDownload) -> PartChoice.Worth {
        PartChoice.Worth(part.checkpoint, count: part.count, for: request, comparing: overlap)
    }
}

extension PartChoice.Worth {
    /// - Parameters:
    ///   - checkpoint: of a part that is one of the answer to `request`.
    ///   - count: the number of its bytes.
    ///   - request: the request.
    ///   - overlap: the number of bytes to compare where there is no strong validator; `nil`: none.
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
    /// The number of bytes that are there, also where they are of another request.
    fileprivate var size: Int64 { otherCheckpoint == nil ? length : status.size }

    /// What it is, if another request made it.
    fileprivate func otherBody(than question: DownloadQuestion) -> KeptBody? {
        guard let otherCheckpoint else { return nil }
        return KeptBody(
            otherCheckpoint.partialContent(offset: size),
            isSameFile: otherCheckpoint.match(question).isSuperset(of: [.location, .selection])
        )
    }

    fileprivate func isSameVersion(as other: FoundPart) -> Bool {
        checkpoint.isSameVersion(as: other.checkpoint)
    }

    fileprivate func worth(for request: URLRequest, comparing overlap: Int64?) -> PartChoice.Worth {
        guard lost == nil else { return otherCheckpoint == nil ? .nothing : .ofOtherRequest }
        return PartChoice.Worth(checkpoint, count: length, for: request, comparing: overlap)
    }
}

extension DownloadCheckpoint? {
    /// Whether both are of the same version of the file, by a strong tag.
    fileprivate func isSameVersion(as other: DownloadCheckpoint?) -> Bool {
        guard let content = self?.partialContent(offset: 0), let other = other?.partialContent(offset: 0)
        else {
            return false
        }
        return content.isSameVersion(as: other)
    }
}

/// The use of the partial files of one destination. There may be two: one that was begun, and one that was begun
/// later to take its place, since the server had another version, or another request was made.
///
/// | older \ newer      | nothing | of another request | unproven        | proven |
/// |--------------------|---------|--------------------|-----------------|--------|
/// | nothing            | new     | new                | newer           | newer  |
/// | of another request | new     | new                | newer           | newer  |
/// | unproven           | older   | older              | the longer one  | newer  |
/// | proven             | older   | older              | older           | newer  |
///
/// That one goes on; *new* is a part without a byte. The same counts when a download begins, and when a body has
/// broken off. When a third version comes, the shorter one of the two goes.
enum PartChoice {
    /// What a partial file is worth to a request.
    enum Worth: Int, Hashable, Sendable, CaseIterable {
        /// It has no bytes, or none that any request could go on with.
        case nothing
        /// Another request may go on with it.
        case ofOtherRequest
        /// It is a part of the answer, and its server gave no strong validator: its rest is not asked for.
        case unproven
        /// Its rest can be asked for.
        case proven

        /// Whether the request may go on with it, or replace it by its answer.
        var isOfRequest: Bool { rawValue >= Self.unproven.rawValue }
    }

    /// - Parameter parts: with the number of their bytes, the oldest first.
    /// - Returns: the index of the part that goes on; `nil` for a new one.
    static func goesOn(_ parts: [(worth: Worth, count: Int64)]) -> Int? {
        if let proven = parts.lastIndex(where: { $0.worth == .proven }) { return proven }
        let unproven = parts.indices.filter { parts[$0].worth == .unproven }
        return unproven.first { index in unproven.allSatisfy { parts[$0].count <= parts[index].count } }
    }
}
