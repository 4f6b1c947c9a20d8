public import Foundation
internal import OperationNetworkingSystem

extension FileDigest {
    /// The number of bytes per read.
    private static let pieceLength = 256 * 1024

    /// Returns the digest of bytes in memory, without copying them.
    ///
    /// - Throws: ``DigestError/refused(_:_:)``.
    public static func of(_ data: Data, algorithm: DigestAlgorithm) throws(DigestError) -> FileDigest {
        let computation = try DigestComputation(algorithm)
        computation.update(data.span)
        return try computation.finish()
    }

    /// Returns the digest of a regular file, which is read from beginning to end. Takes about a second per
    /// gigabyte.
    ///
    /// - Throws: ``DigestError/refused(_:_:)``, or a `CocoaError` when the file cannot be read.
    public static func of(file: URL, algorithm: DigestAlgorithm) throws -> FileDigest {
        let computation = try DigestComputation(algorithm)
        do {
            let input = try InputFile(path: file.path)
            while true {
                let piece = try input.read(atMost: pieceLength)
                if piece.isEmpty { break }
                computation.update(piece.span)
            }
        } catch let error as SystemError {
            throw unreadable(file, error)
        }
        return try computation.finish()
    }

    private static func unreadable(_ file: URL, _ error: SystemError) -> CocoaError {
        let code: CocoaError.Code =
            switch error.code {
            case 2, 20: .fileReadNoSuchFile  // ENOENT, ENOTDIR
            case 1, 13: .fileReadNoPermission  // EPERM, EACCES
            default: .fileReadUnknown
            }
        return CocoaError(
            code,
            userInfo: [
                NSLocalizedDescriptionKey: "\(file.path) could not be read: \(error)",
                NSURLErrorKey: file,
                NSFilePathErrorKey: file.path,
                NSUnderlyingErrorKey: NSError(domain: NSPOSIXErrorDomain, code: Int(error.code)),
            ]
        )
    }
}

/// A digest that is being computed. Used on one thread at a time.
final class DigestComputation {
    let algorithm: DigestAlgorithm
    private let digest: MessageDigest

    /// - Throws: ``DigestError/refused(_:_:)``.
    init(_ algorithm: DigestAlgorithm) throws(DigestError) {
        self.algorithm = algorithm
        do {
            digest = try MessageDigest(algorithm.implementation)
        } catch {
            throw .refused(algorithm, error.reason)
        }
    }

    func update(_ bytes: Span<UInt8>) {
        digest.update(bytes)
    }

    /// Returns the digest of all bytes. Called once.
    func finish() throws(DigestError) -> FileDigest {
        let bytes: [UInt8]
        do {
            bytes = try digest.finish()
        } catch {
            throw .refused(algorithm, error.reason)
        }
        return try FileDigest(algorithm, bytes: bytes)
    }
}

extension DigestAlgorithm {
    fileprivate var implementation: MessageDigest.Algorithm {
        switch self {
        case .md5: .md5
        case .sha1: .sha1
        case .sha256: .sha256
        case .sha512: .sha512
        }
    }
}

extension Span<UInt8> {
    /// SHA-256 of the bytes, in hexadecimal.
    func sha256Text() throws -> String {
        let digest = try MessageDigest(.sha256)
        digest.update(self)
        return try digest.finish().hex
    }
}
