import Foundation
internal import OperationNetworkingSystem

/// Whether the end of a body can be believed.
///
/// libcurl before 8.0 reports some HTTP/2 streams that were reset as complete ones, and nothing in its interface tells
/// the two apart. What proves the end all the same: a length, or a content coding that knows its own end. A response
/// with neither is asked for again over HTTP/1.1, where the last chunk proves it; and because only a GET may be asked
/// again, all other methods go over HTTP/1.1 from the start.
enum EndProof {
    /// Whether libcurl can tell the end of a stream from its reset.
    static let isLeftToCurl = CurlLibrary.versionNumber >= 0x08_00_00

    /// The version to ask for, so that the end can be proven: HTTP/1.1 where the origin was seen to send bodies without
    /// a length, as `needsChunks` says.
    static func version(
        for request: TransferRequest,
        needsChunks: Bool,
        isLeftToCurl: Bool = isLeftToCurl
    ) -> TransferOptions.HTTPVersion {
        guard request.version == .automatic, !isLeftToCurl else { return request.version }
        let canBeAskedAgain = (request.method == "GET" || request.method == "HEAD") && request.body == nil
        return canBeAskedAgain && !needsChunks ? .automatic : .http1
    }

    /// Whether the end of the body that follows this head will be beyond doubt.
    static func isPossible(
        head: ResponseHead,
        length: MessageLength,
        isCoded: Bool,
        isLeftToCurl: Bool = isLeftToCurl
    ) -> Bool {
        isLeftToCurl || isCoded || length != .delimited || head.version.hasPrefix("HTTP/1")
    }
}
