import Foundation
internal import OperationNetworkingSystem

/// The proof that the body of a response is complete, as far as its head says.
///
/// | The body                                       | proof                             |
/// |------------------------------------------------|-----------------------------------|
/// | none, or of known length                       | ``length``                        |
/// | of HTTP/1.1, in chunks                         | ``chunks``: the last one          |
/// | until the connection ends, with TLS            | ``closeNotify``                   |
/// | else, in a content coding that is undone here  | ``coding``: it knows its own end, from its first byte on |
/// | of HTTP/2, with trailers announced             | ``trailers``, if they come        |
/// | of HTTP/2, else                                | ``nothing``                       |
/// | until the connection ends, without TLS         | ``nothing``                       |
///
/// libcurl takes an HTTP/2 stream that was reset with `NO_ERROR` for a complete one, in every version up to
/// 8.14, and before 8.0 other resets as well; nothing in its interface tells the difference. Trailers do:
/// they carry `END_STREAM`.
enum EndProof: Hashable, Sendable {
    case length, coding, chunks, closeNotify, trailers, nothing

    init(head: ResponseHead, length: MessageLength, isCoded: Bool, isTLS: Bool) {
        switch length {
        case .none, .exactly: self = .length
        case .delimited where head.version.hasPrefix("HTTP/1"): self = .chunks
        case .untilClose where isTLS: self = .closeNotify
        case _ where isCoded: self = .coding
        case .untilClose: self = .nothing
        case .delimited: self = head.fields["Trailer"] == nil ? .nothing : .trailers
        }
    }

    /// Whether libcurl reports every reset of a stream but the one with `NO_ERROR`.
    static let curlReportsResets = CurlLibrary.versionNumber >= 0x08_00_00

    /// The version to ask for, so that the end can be proven: HTTP/1.1 where the origin was seen to send
    /// bodies without a length, as `needsChunks` says.
    ///
    /// What may not be asked twice goes over HTTP/1.1 from the start where libcurl does not report resets.
    /// Where it does, it goes over HTTP/2, and the metrics say if nothing proved the end.
    static func version(
        for request: TransferRequest,
        needsChunks: Bool,
        curlReportsResets: Bool = curlReportsResets
    ) -> TransferOptions.HTTPVersion {
        guard request.version == .automatic else { return request.version }
        if request.canBeAskedAgain { return needsChunks ? .http1 : .automatic }
        return curlReportsResets ? .automatic : .http1
    }

    /// Whether a body of the request that follows this head is received; else it is given up before its first
    /// byte, and asked for over HTTP/1.1 if the origin has that. The end is always there to be judged with
    /// HTTP/1. The body of a response that is no success is beside the point: the status is what was asked
    /// for.
    func suffices(for request: TransferRequest, head: ResponseHead) -> Bool {
        guard head.isOfBody else { return true }
        return switch self {
        case .length, .coding, .chunks, .closeNotify: true
        // Over HTTP/1.1 there is the last chunk, whatever comes of the trailers.
        case .trailers: request.version != .automatic || !request.canBeAskedAgain
        case .nothing: head.version.hasPrefix("HTTP/1") || !request.canBeAskedAgain
        }
    }
}

extension TransferRequest {
    /// Whether the same may be asked twice just to prove an end.
    var canBeAskedAgain: Bool { (method == "GET" || method == "HEAD") && body == nil }
}
