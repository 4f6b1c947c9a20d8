import Foundation
import FoundationNetworking
import OperationNetworking

/// What went wrong with one item, or before there were any: a sentence to print, and the class it belongs to.
struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
    let outcome: Outcome
    /// One sentence, without the item's name and without a new line.
    let sentence: String

    init(_ outcome: Outcome, _ sentence: String) {
        self.outcome = outcome
        self.sentence = sentence
    }

    /// The failure behind the `error` of an operation.
    init(_ error: any Error) {
        switch error {
        case let failure as Failure:
            self = failure
        case let error as ResponseSerializationError:
            self.init(error)
        case let error as URLError:
            self.init(Outcome(error.code), (error as NSError).localizedDescription)
        case is ResumeError:
            self.init(.wrongAnswer, "\(error)")
        case is RequestSerializationError:
            self.init(.usage, "\(error)")
        case is CocoaError:
            self.init(.file, (error as NSError).localizedDescription)
        default:
            let error = error as NSError
            self.init(error.domain == NSPOSIXErrorDomain ? .file : .other, error.localizedDescription)
        }
    }

    private init(_ error: ResponseSerializationError) {
        switch error.reason {
        case .unacceptableStatusCode(let code):
            let meaning = HTTPURLResponse.localizedString(forStatusCode: code)
            self.init(
                [401, 407].contains(code) ? .authorization : .server,
                "The server answered \(code) (\(meaning))."
            )
        case .unacceptableContentType, .undecodableText, .malformedBody, .unexpectedStructure:
            self.init(.wrongAnswer, "\(error)")
        }
    }

    var description: String { sentence }
}

extension Outcome {
    /// The class of a transport failure.
    init(_ code: URLError.Code) {
        self =
            switch code {
            case .secureConnectionFailed, .serverCertificateUntrusted, .serverCertificateHasBadDate,
                .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid, .clientCertificateRejected,
                .clientCertificateRequired:
                .tls
            case .userAuthenticationRequired, .userCancelledAuthentication: .authorization
            case .badURL, .unsupportedURL: .usage
            case .badServerResponse, .cannotDecodeRawData, .cannotDecodeContentData, .cannotParseResponse,
                .httpTooManyRedirects, .redirectToNonExistentLocation, .zeroByteResource:
                .wrongAnswer
            case .dataLengthExceedsMaximum, .requestBodyStreamExhausted: .other
            case .cannotCreateFile, .cannotOpenFile, .cannotCloseFile, .cannotWriteToFile, .cannotRemoveFile,
                .cannotMoveFile, .noPermissionsToReadFile:
                .file
            default: .network
            }
    }
}
