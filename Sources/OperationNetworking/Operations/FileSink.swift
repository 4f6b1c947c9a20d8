import Foundation
internal import OperationNetworkingSystem

/// Writes a body to a file, which is made or emptied when the first body that counts begins.
final class FileSink: ResponseSink {
    private let url: URL
    private var file: OutputFile?

    private(set) var count: Int64 = 0
    var onChange: (@Sendable () -> Void)?
    let failure: (any Error)? = nil
    let isFull = false
    let canBeEmptied = true

    init(_ url: URL) {
        self.url = url
    }

    func prepare(expecting expected: Int64?) throws {
        guard file == nil else { return }
        try translating {
            let opened = try OutputFile(path: url.path)
            try opened.truncate()
            file = opened
        }
    }

    func empty() throws {
        try translating { try file?.truncate() }
        count = 0
    }

    func write(_ bytes: Span<UInt8>) throws {
        guard let file else { return }
        do {
            try file.write(bytes)
        } catch {
            throw FileError.foundation(error, url)
        }
        count += Int64(bytes.count)
    }

    func end(_ then: @escaping @Sendable (Result<Data?, any Error>) -> Void) {
        do {
            try translating { try file?.close() }
            file = nil
            then(.success(nil))
        } catch {
            then(.failure(error))
        }
    }

    func abandon() -> Data? {
        file = nil
        return nil
    }

    private func translating(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch {
            throw FileError.foundation(error, url)
        }
    }
}

/// Failures of files, as Foundation reports them.
enum FileError {
    /// A `SystemError` as the `CocoaError` that names the file, with the POSIX error beneath.
    static func foundation(_ error: any Error, _ url: URL) -> any Error {
        guard let error = error as? SystemError else { return error }
        let code: CocoaError.Code =
            switch error.code {
            case 28, 122: .fileWriteOutOfSpace  // ENOSPC, EDQUOT
            case 13, 1: .fileWriteNoPermission  // EACCES, EPERM
            case 30: .fileWriteVolumeReadOnly  // EROFS
            case 2, 20: .fileNoSuchFile  // ENOENT, ENOTDIR
            case 36: .fileWriteInvalidFileName  // ENAMETOOLONG
            default: .fileWriteUnknown
            }
        return CocoaError(
            code,
            userInfo: [
                NSLocalizedDescriptionKey: "\(url.path) could not be written: \(error)",
                NSURLErrorKey: url,
                NSFilePathErrorKey: url.path,
                NSUnderlyingErrorKey: NSError(domain: NSPOSIXErrorDomain, code: Int(error.code)),
            ]
        )
    }
}
