internal import OperationNetworkingSystem

/// The authentication that an HTTP proxy has been found to demand, of a client with credentials for it.
///
/// It decides two things: whether the credentials go with the first request, and whether a body waits until
/// the proxy has read the head. A proxy that answers 407 and closes while a body is on its way resets the
/// connection ([RFC 9112 §9.6](https://www.rfc-editor.org/rfc/rfc9112#section-9.6)), and the answer can be
/// lost.
enum ProxyDemand: Hashable, Sendable, CaseIterable {
    /// Not asked yet, or it refused what was known to be right.
    case unknown
    /// The proxy lets requests pass.
    case nothing
    /// Basic ([RFC 7617 §2](https://www.rfc-editor.org/rfc/rfc7617#section-2)), and nothing better.
    case basic
    /// A scheme whose proof is made from the challenge, which has to come first.
    case challenge

    /// The evidence of a transfer.
    enum Evidence: Hashable, Sendable, CaseIterable {
        /// The credentials were not good enough.
        case refused
        /// The proxy asked for Basic alone, of what libcurl can do.
        case askedForBasic
        /// The proxy asked for something better.
        case askedForMore
        /// A response came, and no question before it.
        case passed
        /// The proxy does not know how to let a body wait: 417
        /// ([RFC 9110 §15.5.18](https://www.rfc-editor.org/rfc/rfc9110#section-15.5.18)).
        case cannotHold
        /// Nothing.
        case none
    }

    func after(_ evidence: Evidence) -> ProxyDemand {
        switch evidence {
        case .refused: .unknown
        case .askedForBasic: .basic
        case .askedForMore: .challenge
        case .passed: self == .unknown ? .nothing : self
        case .cannotHold: .nothing
        case .none: self
        }
    }

    /// Whether a body waits for the proxy's leave, as in
    /// [RFC 9110 §10.1.1](https://www.rfc-editor.org/rfc/rfc9110#section-10.1.1).
    var holdsBodies: Bool { self == .unknown || self == .challenge }

    /// The schemes that libcurl may use.
    var authentication: TransferOptions.Proxy.Authentication { self == .basic ? .basic : .asAsked }
}
