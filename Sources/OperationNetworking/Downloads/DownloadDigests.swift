import Foundation
internal import OperationNetworkingSystem

/// The digests that a download has to have: those that the caller expects, and the strongest that the server
/// names.
///
/// Used on the queue of its sink.
final class DownloadDigests {
    /// The part of the file that a body is.
    enum Body: Hashable, Sendable {
        /// All of it: nothing that was said before counts.
        case whole
        case rest
        /// All of it, but only a part of what the server names the digest of.
        case part
    }

    private let expected: [FileDigest]
    private let wanted: [DigestAlgorithm]
    private let reader: DigestFollower.Reader
    /// By the server, of the representation that is coming.
    private var named: FileDigest?
    private var follower: DigestFollower?
    private var algorithms: [DigestAlgorithm] = []
    private var length: Int64 = 0

    /// - Parameters:
    ///   - plan: what the caller expects.
    ///   - notes: what the checkpoint says that the server named.
    ///   - reader: reads the partial file, on any queue.
    /// - Throws: ``DigestError`` for an algorithm that OpenSSL refuses.
    init(_ plan: DownloadPlan, noted notes: [String], reader: @escaping DigestFollower.Reader) throws {
        expected = plan.options.expectedDigests
        wanted = plan.options.wantedAlgorithms
        self.reader = reader
        named = notes.compactMap { FileDigest($0) }.first
        try follow()
    }

    /// The digests for the checkpoint, for a process that gets only the rest.
    var notes: [String] { named.map { [$0.description] } ?? [] }

    /// A body is about to come.
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

    /// The body had no place: the file has the first `length` bytes of the one before, for which the server
    /// had named the digests of these ``notes``.
    func takeBack(_ notes: [String], length: Int64) throws {
        named = notes.compactMap { FileDigest($0) }.first
        self.length = length
        try follow()
        readAgain()
    }

    /// The first `length` bytes are in the file.
    func advance(to length: Int64) {
        self.length = length
        follower?.advance(to: length)
    }

    /// The bytes in the file may be others than those that were read.
    func readAgain() {
        follower?.startOver()
        follower?.advance(to: length)
    }

    /// The file is complete: `then` is called on another queue with all digests that were computed.
    func finish(length: Int64, then: @escaping @Sendable (Result<[FileDigest], any Error>) -> Void) {
        guard let follower else { return then(.success([])) }
        follower.finish(length: length) { result in then(result.mapError { $0 }) }
    }

    /// Compares what was computed with what it has to be.
    ///
    /// - Returns: the strongest digest that proves something; `nil`: nothing was expected.
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

    /// Has just those digests computed that are of use.
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
