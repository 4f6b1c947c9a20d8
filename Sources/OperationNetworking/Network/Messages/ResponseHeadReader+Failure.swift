internal import OperationNetworkingSystem

extension ResponseHeadReader {
    static let continuesNothing = "its first field continues one that is not there"

    /// The meaning of libcurl's error when it ends a transfer, after the request went out, without naming a
    /// head or a trailer; `nil`: the error means what it says.
    ///
    /// | libcurl                                          | the server sent                                  |
    /// |--------------------------------------------------|--------------------------------------------------|
    /// | 8 (weird reply), "Invalid Content-Length"        | a length that does not begin with a digit        |
    /// | 27 (out of memory), from 8.6 on 100 (too large)  | a line, or a trailer, longer than libcurl's buffer |
    /// | 43 (bad argument), before 8.1                    | a head whose first field continues a line        |
    /// | 43, "Invalid response header"                    | a trailer without a colon                        |
    /// | 61 (bad content encoding) before the head ends   | a transfer coding that is not `chunked`          |
    /// | 56, "Too large response headers"                 | heads without end, met before we did             |
    func failure(_ error: CurlError) -> TransferError? {
        switch error.code {
        case 8 where error.message.hasPrefix("Invalid Content-Length") && !hasFinalHead:
            .length(.malformedLength(error.message))
        case 56 where error.message.hasPrefix("Too large response headers"):
            .headTooLong(.heads)
        case 27, 56, 100:
            if error.message.hasPrefix("Too many response headers") {
                .headTooLong(.fieldCount)
            } else if error.message.hasPrefix("Out of memory in chunked-encoding") {
                .headTooLong(.trailer)
            } else if error.code != 56, !hasFinalHead {
                .headTooLong(.field)
            } else {
                nil
            }
        case 61 where !hasFinalHead:
            .length(.unknownTransferCoding(error.message))
        case 43:
            .malformedHead(hasFinalHead ? "a trailer is not a field" : Self.continuesNothing)
        default:
            nil
        }
    }
}
