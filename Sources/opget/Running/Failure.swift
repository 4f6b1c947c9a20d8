import Foundation
import FoundationNetworking
import OperationNetworking

/// The failure of one item, or of the run before its items: a message and its class.
struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
    let outcome: Outcome
    /// One sentence, without the item's name and a line end.
    let sentence: String

    init(_ outcome: Outcome, _ sentence: String) {
        self.outcome = outcome
        self.sentence = sentence
    }

    /// Creates the failure for the `error` of an operation.
    init(_ error: any Error) {
        switch error {
        case let failure as Failure:
            self = failure
        case let error as ResponseSerializationError:
            self.init(error)
        case DownloadError.reservedName(let url):
            self.init(
                .file,
                "\(url.lastPathComponent) is reserved for partial files (.part, .part.resume, .part.resume.new): "
                    + "choose another name with -o."
            )
        case DownloadError.destinationExists(let url):
            self.init(
                .exists,
                "\(url.path) was created, changed or removed during the request, and was left unchanged: "
                    + "try again, or use --overwrite, -c or -N."
            )
        case DownloadError.noRoomForBoth(let url, let kept, let length):
            self.init(
                .diskFull,
                "\(url.path) has to start over, but there is no space for its \(length) bytes next to the \(kept) "
                    + "bytes kept: free some space, or use --no-resume, which discards them."
            )
        case let error as DownloadError:
            self.init(Outcome(error), "\(error)")
        case let error as URLError:
            self.init(Outcome(error.code), (error as NSError).localizedDescription)
        case let error as ServerTrustError:
            self.init(.tls, "\(error)")
        case let error as CertificateError:
            if case .unreadable = error {
                self.init(.file, "\(error)")
            } else {
                self.init(.usage, "\(error)")
            }
        case let error as ProxyError:
            self.init(Outcome(error.code), "\(error)")
        case is CredentialError:
            self.init(.usage, "\(error)")
        case ResumeError.unexpectedContent(let type, let length, let expected):
            self.init(
                .server,
                "The server sent \(type ?? "something else"), "
                    + (length.map(Self.bytes) ?? "of unknown length")
                    + ", instead of \(Self.bytes(expected)): is this the sign-in page of a captive portal?"
                    + " If this is the new file, use --no-resume."
            )
        case ResumeError.mustStartOver:
            self.init(.server, "\(error)")
        case is ResumeError:
            self.init(.wrongAnswer, "\(error)")
        case is RequestSerializationError:
            self.init(.usage, "\(error)")
        case is DigestError:
            self.init(.other, "\(error)")
        default:
            let error = error as NSError
            self.init(Outcome(error), error.localizedDescription)
        }
    }

    /// Creates the failure for a status.
    init(status: Int) {
        let meaning = HTTPURLResponse.localizedString(forStatusCode: status)
        self.init(
            [401, 407].contains(status) ? .authorization : .server,
            "The server answered \(status) (\(meaning))."
        )
    }

    private init(_ error: ResponseSerializationError) {
        switch error.reason {
        case .unacceptableStatusCode(let code): self.init(status: code)
        case .unacceptableContentType, .undecodableText, .malformedBody, .unexpectedStructure,
            .settingNotSupported:
            self.init(.wrongAnswer, "\(error)")
        }
    }

    /// Formats a number of bytes in a sentence, exactly if it is small.
    private static func bytes(_ count: Int64) -> String {
        count < 1024 ? "\(count) bytes" : ByteCount(count).text
    }

    var description: String { sentence }

    /// The failure of an item. Others may have been fetched, so it no longer counts as a usage error.
    var ofItem: Failure { outcome == .usage ? Failure(.other, sentence) : self }
}

extension Outcome {
    /// Creates the class of a failure to save a file.
    fileprivate init(_ error: DownloadError) {
        self =
            switch error {
            case .notEnoughSpace, .noRoomForBoth, .tooLarge: .diskFull
            case .digestMismatch: .checksum
            case .incomplete: .network
            case .noDestination, .invalidDestination: .usage
            case .destinationExists: .exists
            case .reservedName, .destinationOfOtherUser, .destinationIsDirectory, .destinationIsNotFile,
                .inUse, .noFreeName, .partialFileReplaced, .checkpointUnreadable:
                .file
            }
    }

    /// Creates the class of a file's `errno`: disk, quota or file size limit exceeded, or anything else.
    init(file code: Int32) {
        self = [ENOSPC, EDQUOT, EFBIG].contains(code) ? .diskFull : .file
    }

    /// Creates the class of a system error, or of an error with an underlying one.
    init(_ error: NSError) {
        let underlying = error.userInfo[NSUnderlyingErrorKey] as? NSError
        switch error.domain {
        case NSPOSIXErrorDomain:
            self.init(file: Int32(clamping: error.code))
        case NSCocoaErrorDomain:
            let isFull = error.code == CocoaError.fileWriteOutOfSpace.rawValue
            self = isFull ? .diskFull : underlying.map { Outcome($0) } ?? .file
        default:
            self = .other
        }
    }

    /// Creates the class of a transport failure.
    init(_ code: URLError.Code) {
        self =
            switch code {
            case .secureConnectionFailed, .serverCertificateUntrusted, .serverCertificateHasBadDate,
                .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid, .clientCertificateRejected,
                .clientCertificateRequired, .appTransportSecurityRequiresSecureConnection:
                .tls
            case .userAuthenticationRequired, .userCancelledAuthentication: .authorization
            case .badURL, .unsupportedURL: .usage
            case .badServerResponse, .cannotDecodeRawData, .cannotDecodeContentData, .cannotParseResponse,
                .httpTooManyRedirects, .redirectToNonExistentLocation, .zeroByteResource:
                .wrongAnswer
            // Out of descriptors or threads.
            case .dataLengthExceedsMaximum, .requestBodyStreamExhausted, .resourceUnavailable: .other
            case .cannotCreateFile, .cannotOpenFile, .cannotCloseFile, .cannotWriteToFile, .cannotRemoveFile,
                .cannotMoveFile, .noPermissionsToReadFile:
                .file
            default: .network
            }
    }
}
