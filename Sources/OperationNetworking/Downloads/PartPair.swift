internal import Foundation
internal import FoundationNetworking
internal import OperationNetworkingSystem

/// The partial files of one destination: the one that bytes go to, and at most one that is kept until that one is
/// whole. ``PartChoice`` says which is which.
///
/// ```
/// name.part                 a part, and another version comes
/// name.part  name.1.part    name.1.part is written, name.part is kept
/// name                      name.1.part is whole, and name.part goes
/// name.part                 name.1.part broke off, and cannot be continued; or was no use
/// ```
///
/// Used on one queue.
struct PartPair {
    private(set) var current: PartialDownload
    private(set) var kept: PartialDownload?
    /// Whether the request can go on with the kept one.
    private(set) var keptIsOfRequest = false
    /// Whether the bytes of the current one came to be thrown away: they do not have the digest that they have
    /// to have, and nothing was there before them.
    var isRefuted = false
    /// Why bytes of an earlier process are not continued.
    let lost: RestartReason?

    private let request: URLRequest
    private let overlap: Int64?
    private let place: DownloadPlace
    private let question: DownloadQuestion
    private let replaceable: ReplaceableFile
    private let environment: DownloadEnvironment

    /// Finds what an earlier process left, or makes a new file.
    ///
    /// - Parameters:
    ///   - request: the request. Used to decide whether existing bytes can be resumed.
    ///   - asker: as whom; `nil`: as the request alone says.
    ///   - verification: how the server is verified; `nil`: as is usual for the URL.
    ///   - asksAboutServers: whether a closure is asked about servers that the policy does not accept.
    ///   - destination: the name of the complete file. Its folder has to exist.
    ///   - replacesFile: whether any file that has the name may be replaced.
    ///   - replaceable: which one may be replaced all the same.
    ///   - source: the file of another program that is to be continued: a copy of any other is not.
    ///   - takesOtherLocations: whether bytes count that came for another scheme, host, port or path.
    ///   - overlap: the number of bytes to compare where there is no strong validator; `nil`: such bytes are not
    ///     continued.
    ///   - environment: the machine.
    /// - Throws: ``DownloadError``, or a `CocoaError`.
    init(
        _ request: URLRequest,
        as asker: RequestIdentity? = nil,
        under verification: ServerVerification? = nil,
        asksAboutServers: Bool = false,
        to destination: URL,
        replacesFile: Bool,
        orOnly replaceable: ReplaceableFile = .none,
        continuing source: SourceFile? = nil,
        takesOtherLocations: Bool = false,
        comparing overlap: Int64? = nil,
        in environment: DownloadEnvironment = DownloadEnvironment()
    ) throws {
        let place = try DownloadPlace(destination, watch: environment.watch, marker: environment.marker)
        guard !FileName.isReserved(place.name) else { throw DownloadError.reservedName(destination) }
        var question = DownloadQuestion(request, as: asker, under: verification, asksAboutServers)
        question.takesOtherLocations = takesOtherLocations
        let replaceable = replacesFile ? .any : replaceable
        self.request = request
        self.overlap = overlap
        self.place = place
        self.question = question
        self.replaceable = replaceable
        self.environment = environment
        let parts = try FileError.translating(destination) {
            try place.check(replacing: replaceable)
            let found = try FoundPart.findAll(
                for: question,
                continuing: source,
                at: place,
                replacing: replaceable,
                in: environment
            )
            let worths = found.map { $0.worth(for: request, comparing: overlap) }
            let choice = PartChoice.choose(
                older: worths.first ?? .nothing,
                newer: worths.count > 1 ? worths[1] : .nothing
            )
            func index(_ age: PartChoice.Age) -> Int { age == .older ? 0 : 1 }
            func download(_ part: FoundPart, _ generation: Int) -> PartialDownload {
                PartialDownload(
                    part,
                    at: place,
                    for: question,
                    replacing: replaceable,
                    generation: generation,
                    in: environment
                )
            }
            let keptIndex = choice.kept.map(index)
            // A part without a byte of use is as good as a new one.
            let currentIndex = choice.goesOn.map(index) ?? worths.firstIndex(of: .nothing)
            let kept = keptIndex.map { download(found[$0], found[$0].generation) }
            for (number, part) in found.enumerated() where ![keptIndex, currentIndex].contains(number) {
                try download(part, 0).discard()
            }
            let current =
                try currentIndex.map { found[$0] }
                ?? FoundPart.make(
                    besides: kept.map { [$0.names] } ?? [],
                    for: question,
                    at: place,
                    replacing: replaceable,
                    in: environment
                )
            let lost = current.lost ?? keptIndex.flatMap { found[$0].lost }
            let generation = choice.goesOn == nil ? kept.map { $0.generation + 1 } ?? 0 : current.generation
            let isOfRequest = keptIndex.map { worths[$0].isOfRequest } ?? false
            return (current: download(current, generation), kept, isOfRequest, lost)
        }
        current = parts.current
        (kept, keptIsOfRequest, lost) = (parts.1, parts.2, parts.3)
    }

    // MARK: - Another version

    /// Whether a body that starts over goes to a file beside the current one, which is kept until that is whole.
    var beginsBeside: Bool { !isRefuted && worth(of: current) != .nothing }

    /// Makes the file for a body that starts over. At most two are there: one that was kept until now goes.
    mutating func makeNext() throws -> PartialDownload {
        dropKept()
        return try FileError.translating(place.url) {
            PartialDownload(
                try FoundPart.make(
                    besides: [current.names],
                    for: question,
                    at: place,
                    replacing: replaceable,
                    in: environment
                ),
                at: place,
                for: question,
                replacing: replaceable,
                generation: current.generation + 1,
                in: environment
            )
        }
    }

    /// The body goes to `next`, and the current one is kept.
    mutating func advance(to next: PartialDownload) {
        // What cannot be made safe now is found by the next one.
        try? current.flush()
        kept = current
        keptIsOfRequest = true
        current = next
        isRefuted = false
    }

    // MARK: - The end of one of them

    /// Gives the current one up for the kept one.
    mutating func goBack() throws {
        guard let kept, keptIsOfRequest else { return }
        try current.discard()
        current = kept
        self.kept = nil
        isRefuted = false
    }

    /// The transfers have ended, and the file is not whole: what no later request could go on with goes.
    /// `hasRoom`: whether there was room for both.
    mutating func settle(hasRoom: Bool) throws {
        let worth = isRefuted || kept != nil && !hasRoom ? .nothing : worth(of: current)
        guard let kept else {
            if isRefuted { try current.discard() }
            return
        }
        let keptWorth: PartChoice.Worth = keptIsOfRequest ? self.worth(of: kept) : .ofOtherRequest
        guard PartChoice.choose(older: keptWorth, newer: worth).goesOn != .newer else { return }
        guard keptIsOfRequest else { return try current.discard() }
        try goBack()
    }

    /// The current one is whole, or takes the place of both.
    mutating func dropKept() {
        // What stays is found, and removed or continued, by a later download.
        try? kept?.discard()
        kept = nil
        keptIsOfRequest = false
    }

    func discard() throws {
        defer { try? kept?.discard() }
        try current.discard()
    }

    func close() {
        current.close()
        kept?.close()
    }

    /// The error to tell instead of one that says there is no room, if bytes are kept in that room.
    func explained(_ error: any Error, keeping kept: PartialDownload?, length: Int64?) -> any Error {
        guard DiskRoom.isLack(error), let kept, kept.count > 0 else { return error }
        return DownloadError.noRoomForBoth(place.url, kept: kept.count, length: length ?? 0)
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
    fileprivate func worth(for request: URLRequest, comparing overlap: Int64?) -> PartChoice.Worth {
        guard lost == nil else { return otherCheckpoint == nil ? .nothing : .ofOtherRequest }
        return PartChoice.Worth(checkpoint, count: length, for: request, comparing: overlap)
    }
}
