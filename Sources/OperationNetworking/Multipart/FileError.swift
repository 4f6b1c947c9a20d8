import Foundation
internal import OperationNetworkingSystem

/// Conversion of file errors to Foundation's.
enum FileError {
    /// Returns a `SystemError` as a `CocoaError` with the file's URL and the underlying POSIX error.
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

extension Error {
    /// Whether a file could not be opened because the process or the system has too many open files.
    var isLackOfDescriptors: Bool {
        let underlying = (self as? CocoaError)?.underlying as NSError?
        guard let underlying, underlying.domain == NSPOSIXErrorDomain else { return false }
        return underlying.code == 24 || underlying.code == 23  // EMFILE, ENFILE
    }
}
