public import Foundation
internal import FoundationNetworking

/// Classifies an error, without a chain of casts.
///
/// ```swift
/// let failure = RequestFailure(error)
/// if failure.isCancelled { return }
/// if failure.statusCode == 404 { show([]) }
/// if failure.isTemporary { offerAgain() }
/// ```
///
/// Works for any `error` of an operation, a task, a verb or a batch. The article <doc:Errors> lists all of
/// them with their classification. Your own error types, thrown by a closure or a serializer, are not
/// classified.
///
/// A cancelled task always throws `URLError.cancelled`, as with `URLSession`. A `CancellationError` from your
/// own closure or serializer is passed on unchanged and counts as cancelled as well.
public struct RequestFailure: Sendable {
    /// The error.
    public let error: any Error
    private let traits: FailureTraits

    /// - Parameter error: any error.
    public init(_ error: any Error) {
        self.error = error
        traits = FailureTraits(of: error)
    }

    /// Whether the request was cancelled.
    public var isCancelled: Bool { traits.code == .cancelled }

    /// Whether a time limit was exceeded.
    public var isTimeout: Bool { traits.code == .timedOut }

    /// Whether there is no network, that is, no route to the address. A name that cannot be resolved does not
    /// show that; use ``NetworkReachabilityManager``.
    public var isOffline: Bool { traits.code.map(FailureTraits.offlineCodes.contains) ?? false }

    /// Whether the server or the client certificate was not trusted.
    public var isUntrusted: Bool { traits.isUntrusted }

    /// The status of a response that was rejected because of its status.
    public var statusCode: Int? { traits.statusCode }

    /// Whether the same request may succeed later: a default ``RetryPolicy`` would retry it, or something
    /// that it needs is in use, or the disk is full.
    ///
    /// | Code, or status                     | Why it may pass                            |
    /// |-------------------------------------|--------------------------------------------|
    /// | `timedOut`                          | the server or the network was slow         |
    /// | `cannotFindHost`, `dnsLookupFailed` | name resolution fails while offline        |
    /// | `cannotConnectToHost`               | the server may be starting                 |
    /// | `networkConnectionLost`             | the next connection may last               |
    /// | `notConnectedToInternet`, `dataNotAllowed`, `callIsActive`, `internationalRoamingOff` | there is no network now                    |
    /// | 408, 425, 429                       | the server requests a later retry          |
    /// | 500, 502, 503, 504                  | the failure of the server may be temporary |
    ///
    /// Other codes describe the request, the response or the trust, which will be the same next time.
    public var isTemporary: Bool { traits.isTemporary }

    /// Whether the caller made a mistake, so that the same call always fails: the arguments do not form a
    /// valid request, or the response cannot be saved at the given location. A status is not a mistake: see
    /// ``statusCode``.
    public var isProgrammingError: Bool { traits.isMistake }

    /// The code of a `URLError`, or of an error that corresponds to one.
    public var code: URLError.Code? { traits.code }
}

/// An error of the library that provides its own classification for ``RequestFailure``.
package protocol ClassifiedError: Error {
    /// The classification.
    var traits: FailureTraits { get }
}

/// The classification of an error.
package struct FailureTraits: Hashable, Codable, Sendable {
    var code: URLError.Code? { errorCode?.value }
    private var errorCode: RawCoded<URLError.Code>?
    var statusCode: Int?
    var isUntrusted = false
    var isTemporary = false
    var isMistake = false

    /// Permanent, and not the caller's mistake.
    package static let permanent = FailureTraits()
    /// The key of the classification in the `userInfo` of an error from an archive.
    static let key = "OperationNetworking.failure"

    /// The caller's mistake.
    package static let mistake = FailureTraits(isMistake: true)
    /// A retry may succeed.
    package static let temporary = FailureTraits(isTemporary: true)

    static func status(_ code: Int) -> FailureTraits {
        FailureTraits(statusCode: code, isTemporary: temporaryStatuses.contains(code))
    }

    /// The statuses of ``RequestFailure/isTemporary``, and the default of a retry policy.
    static let temporaryStatuses: Set<Int> = [408, 425, 429, 500, 502, 503, 504]

    static let offlineCodes: Set<URLError.Code> = [
        .notConnectedToInternet, .internationalRoamingOff, .callIsActive, .dataNotAllowed,
    ]

    /// The codes of ``RequestFailure/isTemporary``, and the default of a retry policy.
    static let temporaryCodes: Set<URLError.Code> = offlineCodes.union([
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
        isTemporary: Bool = false,
        isMistake: Bool = false
    ) {
        errorCode = code.map { RawCoded($0) }
        self.statusCode = statusCode
        self.isUntrusted = isUntrusted
        self.isTemporary = isTemporary
        self.isMistake = isMistake
    }

    init(_ code: URLError.Code) {
        self.init(
            code: code,
            isUntrusted: Self.untrustedCodes.contains(code),
            isTemporary: Self.temporaryCodes.contains(code),
            isMistake: Self.mistakenCodes.contains(code)
        )
    }

    init(of error: any Error) {
        switch error {
        case let error as any ClassifiedError: self = error.traits
        case let error as URLError: self.init(error.code)
        case is CancellationError: self.init(.cancelled)
        case is EncodingError: self = .mistake
        case let error as CocoaError where error.code == .fileWriteOutOfSpace: self = .temporary
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
            self = hasNoRoom ? .temporary : .permanent
        }
    }
}

// MARK: - Requests

extension RequestSerializationError: ClassifiedError {
    package var traits: FailureTraits { .mistake }
}
