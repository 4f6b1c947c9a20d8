import Foundation
internal import OperationNetworkingSystem

/// The versions of HTTP that origins were seen to use, and so the one that a request asks for: a value.
///
/// What may be held, as a download is, goes over HTTP/1.1 (`ExchangeConfiguration.version`). Some servers
/// have HTTP/2 only, and show it in one of three ways when only `http/1.1` is offered in the TLS handshake
/// (ALPN):
///
/// | The server                                       | what is done                                              |
/// |--------------------------------------------------|-----------------------------------------------------------|
/// | refuses the handshake (`no_application_protocol`)| HTTP/2 is offered, too                                    |
/// | chooses nothing, and may be sent the request twice | the request is sent; no answer at all: HTTP/2 is offered, too |
/// | chooses nothing, and may not                     | before the request is sent, HTTP/2 is offered, too        |
///
/// What it chooses then is remembered, until a server shows the opposite. Servers that know nothing of ALPN
/// choose nothing again, and get HTTP/1.1.
struct KnownVersions {
    /// The limit of origins; a forgotten one costs one negotiation more.
    private static let maximumOrigins = 4096

    /// An origin within one trust domain.
    private struct Place: Hashable {
        let origin: Origin
        let trustDomain: TrustDomain
    }

    /// Sent, over HTTP/2, a body whose end cannot be proven.
    private var chunked: Set<Place> = []
    private var http2Only: Set<Origin> = []
    /// Chose nothing though HTTP/2 was offered, or `http/1.1`.
    private var http1: Set<Origin> = []

    /// Sets the version that `request` asks for, and what follows from it; `id`: its transfer.
    func decide(_ request: inout TransferRequest, id: TransferID) {
        guard request.origin.isTLS else {
            request.version = EndProof.version(for: request, needsChunks: needsChunks(request))
            return
        }
        let origin = request.origin
        let mayOffer = request.version != .http2PriorKnowledge && !request.needsHTTP1
        if mayOffer, http2Only.contains(origin) {
            // A held stream keeps what the others of its connection make libcurl read: up to 32 MB. Alone on
            // its connection it keeps nothing, because nothing is read.
            if request.version == .http1 { request.trustDomain.transfer = id }
            request.version = .http2
        } else {
            request.version = EndProof.version(for: request, needsChunks: needsChunks(request))
        }
        request.mayOfferHTTP2 = mayOffer && request.version == .http1 && !http1.contains(origin)
    }

    /// Whether a failure before the response's head looks as if the server had HTTP/2 only. `chosen`: the
    /// protocol that it chose, and `nil`: none; the outer `nil`: there was no connection.
    static func isRefusal(_ error: CurlError, chosen: String??) -> Bool {
        switch chosen {
        case .none: error.message.contains("no application protocol")
        // CURLE_UNSUPPORTED_PROTOCOL, WEIRD_SERVER_REPLY, GOT_NOTHING, SEND_ERROR, RECV_ERROR
        case .some(.none): [1, 8, 52, 55, 56].contains(error.code)
        case .some(.some): false
        }
    }

    /// The request that asks the same in another way, after an error that says that it should.
    func next(_ request: TransferRequest, after error: TransferError, id: TransferID) -> TransferRequest? {
        var next = request
        switch error {
        case .endNotProvable where request.version == .automatic, .bodyCannotWait, .noConnectionLeft:
            return next
        case .connectionNotQuiet where request.mayUseKeptConnection:
            next.dirtyConnections += 1
            return next
        case .connectionTimedOut:
            // Those that are kept beside it are as old.
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

    /// A transfer has ended; `chosen`: as above, and `hasHead`: whether the head of a response came.
    mutating func learn(
        _ request: TransferRequest,
        _ error: TransferError?,
        chosen: String??,
        hasHead: Bool = false
    ) {
        if case .endNotProvable = error, request.version == .automatic {
            let place = Place(origin: request.origin, trustDomain: request.trustDomain)
            Self.insert(place, into: &chunked)
        }
        // Another server may answer for the origin now, which has HTTP/2 only.
        if request.version == .http1, !hasHead, case .curl(let error) = error,
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
