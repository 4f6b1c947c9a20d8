import Foundation
internal import OperationNetworkingSystem

/// The HTTP versions that origins have been seen to use, which determine the version of a request. A value.
///
/// A transfer that may be held, such as a download, uses HTTP/1.1 (`ExchangeConfiguration.version`). Some
/// servers support only HTTP/2, and show it in one of three ways if only `http/1.1` is offered in the TLS
/// handshake (ALPN):
///
/// | The server                                       | what is done                                              |
/// |--------------------------------------------------|-----------------------------------------------------------|
/// | refuses the handshake (`no_application_protocol`)| HTTP/2 is offered, too                                    |
/// | chooses nothing, and may be sent the request twice | the request is sent; no answer at all: HTTP/2 is offered, too |
/// | chooses nothing, and may not                     | before the request is sent, HTTP/2 is offered, too        |
///
/// Its choice is then remembered, until a server shows the opposite. Servers without ALPN choose nothing
/// again, and get HTTP/1.1.
struct KnownVersions {
    /// The maximum number of origins; a forgotten one costs another negotiation.
    private static let maximumOrigins = 4096

    /// An origin within one trust domain.
    private struct Place: Hashable {
        let origin: Origin
        let trustDomain: TrustDomain
    }

    /// The places that sent, over HTTP/2, a body whose end cannot be proven.
    private var chunked: Set<Place> = []
    private var http2Only: Set<Origin> = []
    /// The origins that chose `http/1.1`, or nothing although HTTP/2 was offered.
    private var http1: Set<Origin> = []

    /// Sets the HTTP version of `request`, and what depends on it. `id` is its transfer.
    func decide(_ request: inout TransferRequest, id: TransferID) {
        guard request.origin.isTLS else {
            request.version = EndProof.version(for: request, needsChunks: needsChunks(request))
            return
        }
        let origin = request.origin
        let mayOffer = request.version != .http2PriorKnowledge && !request.needsHTTP1
        if mayOffer, http2Only.contains(origin) {
            // A held stream buffers up to 32 MB, because libcurl reads for the other streams of its
            // connection. Alone on its connection it buffers nothing, because nothing is read.
            if request.version == .http1 { request.trustDomain.transfer = id }
            request.version = .http2
        } else {
            request.version = EndProof.version(for: request, needsChunks: needsChunks(request))
        }
        request.mayOfferHTTP2 = mayOffer && request.version == .http1 && !http1.contains(origin)
    }

    /// Whether a failure before the response's head indicates that the server supports only HTTP/2. `chosen`
    /// is the protocol that the server chose, an inner `nil` means none, and an outer `nil` no connection.
    static func isRefusal(_ error: CurlError, chosen: String??) -> Bool {
        switch chosen {
        case .none: error.message.contains("no application protocol")
        // CURLE_UNSUPPORTED_PROTOCOL, WEIRD_SERVER_REPLY, GOT_NOTHING, SEND_ERROR, RECV_ERROR
        case .some(.none): [1, 8, 52, 55, 56].contains(error.code)
        case .some(.some): false
        }
    }

    /// Returns the request to send instead, after an error that another one may avoid.
    func next(_ request: TransferRequest, after error: TransferError, id: TransferID) -> TransferRequest? {
        var next = request
        switch error {
        case .endNotProvable where request.version == .automatic, .bodyCannotWait, .noConnectionLeft:
            return next
        case .connectionNotQuiet where request.mayUseKeptConnection:
            next.dirtyConnections += 1
            return next
        case .connectionTimedOut:
            // The other kept connections are as old.
            next.needsFreshConnection = true
            return next
        case .httpVersionNotAgreed:
            next.version = .http2
            next.trustDomain.transfer = id
            return next
        default:
            return nil
        }
    }

    /// Learns from the end of a transfer. `chosen` is as above; `hasHead` says whether the head of a response
    /// arrived.
    mutating func learn(
        _ request: TransferRequest,
        _ error: TransferError?,
        chosen: String??,
        hasHead: @autoclosure () -> Bool = false
    ) {
        if case .endNotProvable = error, request.version == .automatic {
            let place = Place(origin: request.origin, trustDomain: request.trustDomain)
            Self.insert(place, into: &chunked)
        }
        // Another server, which supports only HTTP/2, may now answer for the origin.
        if request.version == .http1, !hasHead(), case .curl(let error) = error,
            Self.isRefusal(error, chosen: chosen)
        {
            http1.remove(request.origin)
        }
        guard let chosen else { return }
        if chosen == "h2" {
            if request.version == .http2 { Self.insert(request.origin, into: &http2Only) }
        } else if chosen != nil || request.version != .http1 {
            let origin = request.origin
            http2Only.remove(origin)
            Self.insert(origin, into: &http1)
        }
    }

    private func needsChunks(_ request: TransferRequest) -> Bool {
        !chunked.isEmpty
            && chunked.contains(Place(origin: request.origin, trustDomain: request.trustDomain))
    }

    private static func insert<Key: Hashable>(_ origin: Key, into origins: inout Set<Key>) {
        if origins.count >= maximumOrigins, !origins.contains(origin) { origins.removeAll() }
        origins.insert(origin)
    }
}
