import Foundation
internal import OperationNetworkingSystem

/// The proof that the body of a response is complete, according to its head.
///
/// | The body                                       | proof                             |
/// |------------------------------------------------|-----------------------------------|
/// | absent, or of known length                     | ``length``                        |
/// | HTTP/1.1, in chunks                            | ``chunks``: the last one          |
/// | until the connection ends, with TLS            | ``closeNotify``                   |
/// | otherwise, in a content coding decoded here    | ``coding``, from its first byte   |
/// | HTTP/2, with announced trailers                | ``trailers``, if they arrive      |
/// | HTTP/2, otherwise                              | ``nothing``                       |
/// | until the connection ends, without TLS         | ``nothing``                       |
///
/// libcurl treats an HTTP/2 stream that was reset with `NO_ERROR` as complete, in every version up to 8.14,
/// and before 8.0 other resets as well; its interface does not reveal the difference. Trailers do: they carry
/// `END_STREAM`.
enum EndProof: Hashable, Sendable {
    case length, coding, chunks, closeNotify, trailers, nothing

    init(head: borrowing ResponseHead, length: MessageLength, isCoded: Bool, isTLS: Bool) {
        switch length {
        case .none, .exactly: self = .length
        case .delimited where head.version.hasPrefix("HTTP/1"): self = .chunks
        case .untilClose where isTLS: self = .closeNotify
        case _ where isCoded: self = .coding
        case .untilClose: self = .nothing
        case .delimited: self = head.fields["Trailer"] == nil ? .nothing : .trailers
        }
    }

    /// Whether libcurl reports every reset of a stream except one with `NO_ERROR`.
    static let curlReportsResets = CurlLibrary.versionNumber >= 0x08_00_00

    /// Returns the version to request so that the end can be proven: HTTP/1.1 if the origin has been seen to
    /// send bodies without a length (`needsChunks`).
    ///
    /// A request that may not be repeated uses HTTP/1.1 from the start if libcurl does not report resets. If
    /// it does, the request uses HTTP/2, and the metrics say whether the end was proven.
    static func version(
        for request: TransferRequest,
        needsChunks: Bool,
        curlReportsResets: Bool = curlReportsResets
    ) -> TransferOptions.HTTPVersion {
        guard request.version == .automatic else { return request.version }
        if request.canBeRepeated { return needsChunks ? .http1 : .automatic }
        return curlReportsResets ? .automatic : .http1
    }

    /// Whether the body that follows this head is received; otherwise it is abandoned before its first byte,
    /// and requested over HTTP/1.1 if the origin supports that. With HTTP/1 the end can always be judged. The
    /// body of an unsuccessful response does not matter: the status is the result.
    func suffices(for request: TransferRequest, head: ResponseHead) -> Bool {
        guard head.isOfBody else { return true }
        return switch self {
        case .length, .coding, .chunks, .closeNotify: true
        // Over HTTP/1.1 there is the last chunk, whatever happens to the trailers.
        case .trailers: request.version != .automatic || !request.canBeRepeated
        case .nothing: head.version.hasPrefix("HTTP/1") || !request.canBeRepeated
        }
    }
}

extension TransferRequest {
    /// Whether the request may be repeated just to prove the end of its body.
    var canBeRepeated: Bool { (method == "GET" || method == "HEAD") && body == nil }
}
