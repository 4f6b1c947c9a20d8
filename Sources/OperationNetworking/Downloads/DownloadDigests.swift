import Foundation
internal import OperationNetworkingSystem

/// The digests that a download must have: those that the caller expects, and the strongest that the server names.
///
/// Used on the sink's queue.
final class DownloadDigests {
    /// Which part of the file a body is.
    enum Body: Hashable, Sendable {
        /// The whole file: earlier digests do not count.
        case whole
        /// The bytes after the first `count`, which the file has.
        case rest(after: Int64)
        /// The whole file, but only a part of the representation whose digest the server names.
        case part
    }

    private let expected: [FileDigest]
    private let wanted: [DigestAlgorithm]
    private let reader: DigestFollower.Reader
    /// The digest that the server named for the representation; a checkpoint has it for a process that receives only
    /// the rest.
    private(set) var named: FileDigest?
    /// `nil` if no digest is needed.
    private var follower: DigestFollower?
    /// The algorithms of the follower; none once it has computed its digests.
    private var algorithms: [DigestAlgorithm] = []
    /// The number of bytes in the file.
    private var length: Int64

    /// - Parameters:
    ///   - plan: the caller's expectations.
    ///   - partial: the partial file.
    /// - Throws: ``DigestError`` if OpenSSL refuses an algorithm; a `CocoaError` if the file cannot be read.
    init(_ plan: DownloadPlan, of partial: PartialDownload) throws {
        expected = plan.options.expectedDigests
        wanted = plan.options.wantedAlgorithms
        reader = try partial.reader()
        named = partial.checkpoint?.namedDigest
        length = partial.count
        try follow()
    }

    /// Prepares for a body.
    func take(_ head: ResponseHead, as body: Body) throws {
        let coding: DigestFields.ContentCoding = head.fields.hasContentCoding ? .kept : .none
        let digests = DigestFields(head.fields, status: head.status, coding: coding).digests
        switch body {
        case .whole, .part:
            named = body == .whole ? digests.first : nil
            length = 0
            try follow(again: true)
        case .rest(let count):
            named = named ?? digests.first
            let isShorter = count < length
            length = count
            try follow(again: isShorter)
        }
    }

    /// Restores the state before a body that could not be saved: the file has the first `length` bytes of the
    /// previous one, whose ``named`` digest this is.
    func takeBack(_ named: FileDigest?, length: Int64) throws {
        self.named = named
        self.length = length
        try readAgain()
    }

    /// Records that the first `length` bytes are in the file.
    func advance(to length: Int64) {
        self.length = length
        follower?.advance(to: length)
    }

    /// Discards what was computed, because the bytes in the file may have changed.
    func readAgain() throws {
        try follow(again: true)
    }

    /// Finishes the complete file: calls `then` on another queue with all computed digests.
    func finish(length: Int64, then: @escaping @Sendable (Result<[FileDigest], any Error>) -> Void) {
        do {
            // A follower computes once, and the file may not have got its name after an earlier end.
            let isCut = length < self.length
            self.length = length
            try follow(again: isCut)
        } catch {
            return then(.failure(error))
        }
        guard let follower else { return then(.success([])) }
        algorithms = []
        follower.finish(length: length) { result in then(result.mapError { $0 }) }
    }

    /// Compares the computed digests with the required ones.
    ///
    /// - Returns: the strongest digest that proves something; `nil` if none was required.
    /// - Throws: ``DownloadError/digestMismatch(_:expected:actual:)``.
    func verify(_ computed: [FileDigest], of file: URL) throws -> FileDigest? {
        let required = expected + (named.map { [$0] } ?? [])
        for digest in required {
            guard let actual = computed.first(where: { $0.algorithm == digest.algorithm }) else {
                throw DigestFollowerError.abandoned
            }
            guard actual == digest else {
                throw DownloadError.digestMismatch(file, expected: digest, actual: actual)
            }
        }
        return required.max { $0.bytes.count < $1.bytes.count }
    }

    func abandon() {
        follower?.abandon()
        follower = nil
    }

    /// Computes exactly the needed digests, from the first byte on if others, or these `again`, are needed.
    private func follow(again: Bool = false) throws {
        var needed: [DigestAlgorithm] = []
        for algorithm in expected.map(\.algorithm) + (named.map { [$0.algorithm] } ?? []) + wanted
        where !needed.contains(algorithm) {
            needed.append(algorithm)
        }
        guard again || needed != algorithms else { return }
        follower?.abandon()
        follower = nil
        algorithms = needed
        follower = needed.isEmpty ? nil : try DigestFollower(needed, reader: reader)
        follower?.advance(to: length)
    }
}
