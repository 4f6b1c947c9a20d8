internal import OperationNetworkingSystem

/// The authentication that an HTTP proxy is known to require, for a client that has credentials for it.
///
/// It decides two things: whether the credentials go with the first request, and whether a body waits until
/// the proxy has read the head. A proxy that answers 407 and closes while a body is on its way resets the
/// connection ([RFC 9112 §9.6](https://www.rfc-editor.org/rfc/rfc9112#section-9.6)), and the answer can be
/// lost. Each ``TrustDomain`` has one.
///
/// | Known     | Credentials                  | A body                                          |
/// |-----------|------------------------------|-------------------------------------------------|
/// | unknown   | when the proxy asks          | waits for 100 or 407, at most a second          |
/// | nothing   | when the proxy asks          | goes with the head                              |
/// | basic     | with the first request       | goes with the head                              |
/// | challenge | when the proxy asks          | waits for 407, then goes with the next head     |
///
/// Basic is sent unasked only to a proxy that has asked for nothing better. A proxy that changes its mind
/// costs one transfer, which ends in `authenticationRequired`. `Expect: 100-continue` makes the body wait,
/// unless the request has an `Expect` of its own.
enum ProxyDemand: Hashable, Sendable, CaseIterable {
    /// Not used yet, or it refused credentials that had worked.
    case unknown
    /// The proxy requires no authentication.
    case nothing
    /// Basic only ([RFC 7617 §2](https://www.rfc-editor.org/rfc/rfc7617#section-2)).
    case basic
    /// A scheme that needs a challenge first, such as Digest.
    case challenge

    /// What a transfer showed about the proxy.
    enum Evidence: Hashable, Sendable, CaseIterable {
        /// The proxy refused the credentials.
        case refused
        /// Of the schemes that libcurl supports, the proxy offered only Basic.
        case requestedBasic
        /// The proxy offered a stronger scheme.
        case requestedStronger
        /// A response came without a challenge before it.
        case passed
        /// The proxy does not support `Expect: 100-continue`: 417 ([RFC 9110
        /// §15.5.18](https://www.rfc-editor.org/rfc/rfc9110#section-15.5.18)).
        case cannotHold
        /// Nothing.
        case none
    }

    func after(_ evidence: Evidence) -> ProxyDemand {
        switch evidence {
        case .refused: .unknown
        case .requestedBasic: .basic
        case .requestedStronger: .challenge
        case .passed: self == .unknown ? .nothing : self
        case .cannotHold: .nothing
        case .none: self
        }
    }

    /// Whether a body waits for `100 (Continue)` from the proxy, as in [RFC 9110
    /// §10.1.1](https://www.rfc-editor.org/rfc/rfc9110#section-10.1.1).
    var holdsBodies: Bool { self == .unknown || self == .challenge }

    /// The schemes that libcurl may use.
    var authentication: TransferOptions.Proxy.Authentication { self == .basic ? .basic : .afterChallenge }
}
