import Foundation
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite(.timeLimit(.minutes(1))) struct DigestFollowerTests {
    private let piece = Int(DigestFollower.pieceLength)

    private func follower(
        of file: FollowedFile,
        _ algorithms: [DigestAlgorithm] = [.sha256]
    ) throws -> DigestFollower {
        try DigestFollower(algorithms) { offset, buffer in try file.read(offset, &buffer) }
    }

    private func failure(_ body: () async throws -> [FileDigest]) async throws -> DigestFollowerError {
        do {
            let digests = try await body()
            Issue.record("There are digests: \(digests)")
            return .abandoned
        } catch let error as DigestFollowerError {
            return error
        }
    }

    // MARK: - Digests

    @Test(arguments: [0, 1, 262_143, 262_144, 262_145, 1_500_000])
    func theDigestsAreThoseOfTheWholeFile(length: Int) async throws {
        let file = try FollowedFile()
        let content = PatternBody(length: length).data
        let follower = try follower(of: file, DigestAlgorithm.allCases)
        for start in stride(from: 0, to: length, by: 100_000) {
            let end = min(start + 100_000, length)
            try file.write(content[start..<end], at: start)
            follower.advance(to: Int64(end))
        }
        #expect(
            try await follower.digests(length: length) == digests(of: content, DigestAlgorithm.allCases)
        )
    }

    @Test func whatWasThereBeforeCountsToo() async throws {
        let file = try FollowedFile()
        let content = PatternBody(length: 3 * piece).data
        try file.write(content.prefix(piece + 7), at: 0)
        // Another process wrote that; this one goes on.
        let follower = try follower(of: file)
        try file.write(content.dropFirst(piece + 7), at: piece + 7)
        follower.advance(to: Int64(2 * piece))
        #expect(try await follower.digests(length: content.count) == digests(of: content))
    }

    @Test func aFileThatNobodyAnnouncedIsReadAtTheEnd() async throws {
        let file = try FollowedFile()
        let content = PatternBody(length: 2 * piece + 1).data
        try file.write(content, at: 0)
        #expect(try await follower(of: file).digests(length: content.count) == digests(of: content))
    }

    @Test func itReadsInWholePiecesAndTheRestAtTheEnd() async throws {
        let file = try FollowedFile()
        let content = PatternBody(length: 2 * piece + 10).data
        let reads = Recorder<Range<Int>>()
        let follower = try DigestFollower([.md5]) { offset, buffer in
            let count = try file.read(offset, &buffer)
            reads.append(Int(offset)..<Int(offset) + count)
            return count
        }
        for end in Array(stride(from: 0, to: content.count, by: 10_000)) + [content.count] {
            try file.write(content[..<end], at: 0)
            follower.advance(to: Int64(end))
        }
        #expect(try await reads.wait(count: 2) == [0..<piece, piece..<2 * piece])
        _ = try await follower.digests(length: content.count)
        #expect(reads.elements.last == 2 * piece..<content.count)
        #expect(reads.elements.count == 3)
    }

    @Test func readsMayBeShort() async throws {
        let file = try FollowedFile()
        let content = PatternBody(length: piece + 1000).data
        try file.write(content, at: 0)
        let random = Locked(SeededGenerator(seed: 1))
        let follower = try DigestFollower([.sha1]) { offset, buffer in
            let limit = random.withLock { Int.random(in: 1...50_000, using: &$0) }
            return try file.read(offset, &buffer, limit: limit)
        }
        follower.advance(to: Int64(piece))
        #expect(try await follower.digests(length: content.count) == digests(of: content, [.sha1]))
    }

    // MARK: - Failures

    /// `isEarly`: it fails before anybody asks for the digests.
    @Test(arguments: [false, true]) func aReadThatFailsIsTheAnswer(isEarly: Bool) async throws {
        let file = try FollowedFile()
        try file.write(PatternBody(length: 2 * piece).data, at: 0)
        let fails = Recorder<Int64>()
        let follower = try DigestFollower([.sha256]) { offset, buffer in
            guard offset > 0 else { return try file.read(offset, &buffer) }
            fails.append(offset)
            throw SystemError(5, "pread")
        }
        if isEarly {
            follower.advance(to: Int64(2 * piece))
            try await fails.wait()
        }
        let error = try await failure { try await follower.digests(length: 2 * piece) }
        guard case .unreadable(let offset, let cause) = error else {
            Issue.record(error)
            return
        }
        #expect(offset == piece)
        #expect(cause as? SystemError == SystemError(5, "pread"))
        #expect(fails.elements.count == 1)
    }

    @Test func aFileThatIsShorterThanWasSaidIsAnError() async throws {
        let file = try FollowedFile()
        try file.write(Data("hello".utf8), at: 0)
        let follower = try follower(of: file)
        let error = try await failure { try await follower.digests(length: 7) }
        guard case .endsEarly(length: 5, expected: 7) = error else {
            Issue.record(error)
            return
        }
    }

    // MARK: - Ends

    @Test func anAbandonedFollowerReleasesItsReaderAndAnswers() async throws {
        var file: FollowedFile? = try FollowedFile()
        weak let released = file
        let follower = try DigestFollower([.sha256]) { [file] offset, buffer in
            try file?.read(offset, &buffer) ?? 0
        }
        file = nil
        #expect(released != nil)
        follower.abandon()
        #expect(released == nil)
        let error = try await failure { try await follower.digests(length: 0) }
        guard case .abandoned = error else {
            Issue.record(error)
            return
        }
        follower.advance(to: 10 << 20)
        follower.abandon()
    }

    @Test func aFollowerReleasedWhileReadingStopsAfterItsPiece() async throws {
        let reads = Recorder<Int64>()
        let gate = Gate()
        let answers = Recorder<Bool>()
        do {
            let follower = try DigestFollower([.sha256]) { offset, buffer in
                reads.append(offset)
                try gate.waitSynchronously()
                return buffer.count
            }
            follower.finish(length: 1 << 40) { result in
                if case .failure(.abandoned) = result { answers.append(true) }
            }
            try await reads.wait()
        }
        gate.open()
        try await answers.wait()
        #expect(reads.elements == [0])
    }

    // MARK: - Downloads

    /// After other bytes, and after an end that failed.
    @Test func theDigestsOfADownloadAreThoseOfTheBytesInTheFile() async throws {
        let directory = try TemporaryDirectory()
        let download = try PartialDownload(.sample, to: directory.file("a"), replacesFile: false)
        var plan = DownloadPlan(request: .sample)
        plan.options.wantedAlgorithms = [.sha256]
        let wanted = try DownloadDigests(plan, of: download)
        for seed in 1...2 as ClosedRange<UInt64> {
            let body = PatternBody(seed: seed, length: 2 * piece + 1).data
            let head = ResponseHead(version: "HTTP/1.1", status: 200, fields: [:])
            try wanted.take(head, as: .whole)
            try download.begin(.start(nil), total: nil, origin: Sample.origin())
            try download.write(Array(body).span)
            wanted.advance(to: download.count)
            for _ in 0..<2 {
                let computed = try await withCheckedThrowingContinuation { continuation in
                    wanted.finish(length: download.count) { continuation.resume(with: $0) }
                }
                #expect(try computed == digests(of: body))
            }
        }
        try download.discard()
    }

    // MARK: - Races

    /// A writer that writes and takes back as it likes, while followers read as fast as they can.
    @Test(arguments: 0..<20)
    func whateverTheWriterDoesTheDigestsAreThoseOfTheFile(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let file = try FollowedFile()
        for round in 0..<4 {
            var follower = try follower(of: file, [.sha256, .md5])
            var body = PatternBody(
                seed: UInt64(round),
                length: Int.random(in: 0...(4 * piece), using: &random)
            ).data
            var written = 0
            for restart in 1... {
                while written < body.count {
                    let end = min(written + Int.random(in: 1...(piece / 2), using: &random), body.count)
                    try file.write(body[written..<end], at: written)
                    written = end
                    if Bool.random(using: &random) { follower.advance(to: Int64(written)) }
                    if Int.random(in: 0..<20, using: &random) == 0 { break }
                }
                if written == body.count { break }
                follower.abandon()
                follower = try self.follower(of: file, [.sha256, .md5])
                try file.truncate(to: 0)
                written = 0
                body =
                    PatternBody(
                        seed: UInt64(100 * round + restart),
                        length: Int.random(in: 0...(4 * piece), using: &random)
                    ).data
            }
            #expect(try await follower.digests(length: body.count) == digests(of: body, [.sha256, .md5]))
        }
    }
}
