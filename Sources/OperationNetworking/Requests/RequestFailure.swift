public import Foundation
internal import FoundationNetworking

/// The answers to what programs ask about an error, without a chain of casts.
///
/// ```swift
/// let failure = RequestFailure(error)
/// if failure.isCancelled { return }
/// if failure.statusCode == 404 { show([]) }
/// if failure.mayPass { offerAgain() }
/// ```
///
/// Any `error` of an operation, a task, a verb or a batch can be asked. The article <doc:Errors> has a table
/// of all of them with their answers. An error type of your own, thrown by a closure or a serializer, has no
/// answers.
///
/// A cancelled task throws `URLError.cancelled` everywhere, as with `URLSession`. A `CancellationError` that
/// a closure or a serializer of yours throws is passed on as it is, and is cancelled as well.
public struct RequestFailure: Sendable {
    /// The error.
    public let error: any Error
    private let traits: FailureTraits

    /// - Parameter error: any.
    public init(_ error: any Error) {
        self.error = error
        traits = FailureTraits(of: error)
    }

    /// Whether a user of the program, or the program, ended it.
    public var isCancelled: Bool { traits.code == .cancelled }

    /// Whether it took too long.
    public var isTimeout: Bool { traits.code == .timedOut }

    /// Whether there is no network: no route to the address. A name that cannot be looked up says nothing of
    /// that; ``NetworkReachabilityManager`` does.
    public var isOffline: Bool { traits.code.map(FailureTraits.offlineCodes.contains) ?? false }

    /// Whether the server, or this client's certificate, was not trusted.
    public var isUntrusted: Bool { traits.isUntrusted }

    /// The status of a response that was refused for it.
    public var statusCode: Int? { traits.statusCode }

    /// Whether the same request may succeed later: a default ``RetryPolicy`` would try it again, or something
    /// that it needs is in use, or the disk has no room.
    ///
    /// | Code, or status                                              | Why it may pass                    |
    /// |--------------------------------------------------------------|------------------------------------|
    /// | `timedOut`                                                   | the server, or the way, was slow   |
    /// | `cannotFindHost`, `dnsLookupFailed`                          | a resolver does not answer offline |
    /// | `cannotConnectToHost`                                        | the server is being started        |
    /// | `networkConnectionLost`                                      | the next connection may last       |
    /// | `notConnectedToInternet`, `dataNotAllowed`, `callIsActive`, `internationalRoamingOff` | there is no network now |
    /// | 408, 425, 429                                                | the server asks for another time   |
    /// | 500, 502, 503, 504                                           | the server, or one behind it, fails now |
    ///
    /// Other codes describe the request, the response or the trust, which will be the same the next time.
    public var mayPass: Bool { traits.mayPass }

    /// Whether the caller made a mistake, so that the same call fails each time: no request can be made of
    /// the arguments, or the response cannot be saved where they say. A status is no mistake: see
    /// ``statusCode``.
    public var isCallersMistake: Bool { traits.isMistake }

    /// The nearest code of `URLError`, for an error that is one or stands for one.
    public var code: URLError.Code? { traits.code }
}

/// An error of the library, which says of itself what a ``RequestFailure`` answers.
package protocol ClassifiedError: Error {
    /// The answers.
    var traits: FailureTraits { get }
}

/// The answers of a ``RequestFailure``.
package struct FailureTraits: Hashable, Codable, Sendable {
    var code: URLError.Code? { errorCode?.value }
    private var errorCode: RawCoded<URLError.Code>?
    var statusCode: Int?
    var isUntrusted = false
    var mayPass = false
    var isMistake = false

    /// The same happens again, and the caller is not to blame.
    package static let lasting = FailureTraits()
    /// The key of the answers in the `userInfo` of an error from an archive.
    static let key = "OperationNetworking.failure"

    /// The caller is to blame.
    package static let mistake = FailureTraits(isMistake: true)
    /// A later try may succeed.
    package static let passing = FailureTraits(mayPass: true)

    static func status(_ code: Int) -> FailureTraits {
        FailureTraits(statusCode: code, mayPass: passingStatuses.contains(code))
    }

    /// The statuses of ``RequestFailure/mayPass``, and of a retry policy unless others are set.
    static let passingStatuses: Set<Int> = [408, 425, 429, 500, 502, 503, 504]

    static let offlineCodes: Set<URLError.Code> = [
        .notConnectedToInternet, .internationalRoamingOff, .callIsActive, .dataNotAllowed,
    ]

    /// The codes of ``RequestFailure/mayPass``, and of a retry policy unless others are set.
    static let passingCodes: Set<URLError.Code> = offlineCodes.union([
        .timedOut, .cannotFindHost, .cannotConnectToHost, .networkConnectionLost, .dnsLookupFailed,
    ])

    private static let untrustedCodes: Set<URLError.Code> = [
        .serverCertificateUntrusted, .serverCertificateHasBadDate, .serverCertificateHasUnknownRoot,
        .serverCertificateNotYetValid, .clientCertificateRejected, .clientCertificateRequired,
    ]

    private static let mistakenCodes: Set<URLError.Code> = [
        .badURL, .unsupportedURL, .requestBodyStreamExhausted,
    ]

    init(
        code: URLError.Code? = nil,
        statusCode: Int? = nil,
        isUntrusted: Bool = false,
        mayPass: Bool = false,
        isMistake: Bool = false
    ) {
        errorCode = code.map { RawCoded($0) }
        self.statusCode = statusCode
        self.isUntrusted = isUntrusted
        self.mayPass = mayPass
        self.isMistake = isMistake
    }

    init(_ code: URLError.Code) {
        self.init(
            code: code,
            isUntrusted: Self.untrustedCodes.contains(code),
            mayPass: Self.passingCodes.contains(code),
            isMistake: Self.mistakenCodes.contains(code)
        )
    }

    init(of error: any Error) {
        switch error {
        case let error as any ClassifiedError: self = error.traits
        case let error as URLError: self.init(error.code)
        case is CancellationError: self.init(.cancelled)
        case is EncodingError: self = .mistake
        case let error as CocoaError where error.code == .fileWriteOutOfSpace: self = .passing
        default:
            let plain = error as NSError
            if let kept = plain.userInfo[Self.key] as? FailureTraits {
                self = kept
                return
            }
            if plain.domain == NSURLErrorDomain, let code = URLError.Code(rawValue: plain.code) {
                self.init(code)
                return
            }
            let hasNoRoom =
                plain.domain == NSPOSIXErrorDomain && [ENOSPC, EDQUOT].contains(Int32(plain.code))
            self = hasNoRoom ? .passing : .lasting
        }
    }
}

// MARK: - Requests

extension RequestSerializationError: ClassifiedError {
    package var traits: FailureTraits { .mistake }
}
