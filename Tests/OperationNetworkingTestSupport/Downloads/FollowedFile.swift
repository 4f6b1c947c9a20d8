import Foundation
import Glibc
import OperationNetworkingTesting

@testable import OperationNetworking

/// A file that a test writes and a ``DigestFollower`` reads.
final class FollowedFile: Sendable {
    private let directory: TemporaryDirectory
    private let descriptor: Int32

    init() throws {
        directory = try TemporaryDirectory()
        descriptor = open(directory.file().path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw POSIXError(.EIO) }
    }

    deinit {
        close(descriptor)
    }

    func write(_ data: Data, at offset: Int) throws {
        let written = data.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, offset) }
        guard written == data.count else { throw POSIXError(.EIO) }
    }

    func truncate(to length: Int) throws {
        guard ftruncate(descriptor, length) == 0 else { throw POSIXError(.EIO) }
    }

    /// At most `limit` bytes at once.
    func read(_ offset: Int64, _ buffer: inout MutableSpan<UInt8>, limit: Int = .max) throws -> Int {
        let count = buffer.withUnsafeMutableBytes { bytes in
            pread(descriptor, bytes.baseAddress, min(bytes.count, limit), Int(offset))
        }
        guard count >= 0 else { throw POSIXError(.EIO) }
        return count
    }
}

extension DigestFollower {
    /// The answer of ``finish(length:then:)``.
    func digests(length: Int) async throws -> [FileDigest] {
        try await withCheckedThrowingContinuation { continuation in
            finish(length: Int64(length)) { continuation.resume(with: $0) }
        }
    }
}

/// The digests that a file with these bytes should have.
func digests(of data: Data, _ algorithms: [DigestAlgorithm] = [.sha256]) throws -> [FileDigest] {
    try algorithms.map { try FileDigest.of(data, algorithm: $0) }
}
