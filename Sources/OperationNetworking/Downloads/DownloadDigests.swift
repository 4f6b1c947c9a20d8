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
        case rest
        /// The whole file, but only a part of the representation whose digest the server names.
        case part
    }

    private let expected: [FileDigest]
    private let wanted: [DigestAlgorithm]
    private let reader: DigestFollower.Reader
    /// The digest that the server named for the representation.
    private var named: FileDigest?
    private var follower: DigestFollower?
    private var algorithms: [DigestAlgorithm] = []
    private var length: Int64 = 0

    /// - Parameters:
    ///   - plan: the caller's expectations.
    ///   - notes: the digest that the server named, from the checkpoint.
    ///   - reader: reads the partial file on any queue.
    /// - Throws: ``DigestError`` if OpenSSL refuses an algorithm.
    init(_ plan: DownloadPlan, noted notes: [String], reader: @escaping DigestFollower.Reader) throws {
        expected = plan.options.expectedDigests
        wanted = plan.options.wantedAlgorithms
        self.reader = reader
        named = notes.compactMap { FileDigest($0) }.first
        try follow()
    }

    /// The server's digests for the checkpoint, for a process that receives only the rest.
    var notes: [String] { named.map { [$0.description] } ?? [] }

    /// Prepares for a body.
    func take(_ head: ResponseHead, as body: Body) throws {
        let coding: DigestFields.ContentCoding = head.fields.hasContentCoding ? .kept : .none
        let digests = DigestFields(head.fields, status: head.status, coding: coding).digests
        switch body {
        case .whole, .part:
            named = body == .whole ? digests.first : nil
            follower?.startOver()
            length = 0
        case .rest:
            named = named ?? digests.first
        }
        try follow()
    }

    /// Restores the state before a body that could not be saved: the file has the first `length` bytes of the
    /// previous one, whose ``notes`` these are.
    func takeBack(_ notes: [String], length: Int64) throws {
        named = notes.compactMap { FileDigest($0) }.first
        self.length = length
        try follow()
        readAgain()
    }

    /// Records that the first `length` bytes are in the file.
    func advance(to length: Int64) {
        self.length = length
        follower?.advance(to: length)
    }

    /// Discards what was computed, because the bytes in the file may have changed.
    func readAgain() {
        follower?.startOver()
        follower?.advance(to: length)
    }

    /// Finishes the complete file: calls `then` on another queue with all computed digests.
    func finish(length: Int64, then: @escaping @Sendable (Result<[FileDigest], any Error>) -> Void) {
        guard let follower else { return then(.success([])) }
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

    /// Computes exactly the needed digests.
    private func follow() throws {
        var needed: [DigestAlgorithm] = []
        for algorithm in expected.map(\.algorithm) + (named.map { [$0.algorithm] } ?? []) + wanted
        where !needed.contains(algorithm) {
            needed.append(algorithm)
        }
        guard needed != algorithms else { return }
        follower?.abandon()
        algorithms = needed
        follower = needed.isEmpty ? nil : try DigestFollower(needed, reader: reader)
        follower?.advance(to: length)
    }
}
