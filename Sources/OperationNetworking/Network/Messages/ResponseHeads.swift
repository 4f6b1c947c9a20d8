internal import OperationNetworkingSystem

/// The heads that a transfer receives: those that libcurl may answer itself, and the head of the response.
struct ResponseHeads {
    /// The maximum number of challenges that libcurl answers in one transfer; its schemes need one or two.
    private static let maximumAnswers = 8

    private(set) var reader = ResponseHeadReader()
    /// The head of the response.
    private(set) var head: ResponseHead?
    /// A head that libcurl may answer itself, so that it is not reported to the client.
    private(set) var held: ResponseHead?
    /// Whether the held head says that the body's end is proven by its content coding: if the body is empty,
    /// it is requested again in a way that proves its end, and only one response is reported to the client.
    private(set) var awaitsProof = false
    /// Whether the proxy answered 407. libcurl repeats the request if it has credentials; otherwise the
    /// transfer ends, since the response is not the server's.
    private(set) var isRefusedByProxy = false
    /// Whether the client has answered the head with ``HeadAnswer/later``, and has not decided yet.
    var awaitsAnswer = false
    private var answerCount = 0
    /// The strength of the proxy's strongest challenge.
    private var proxyStrength = 0
    private var cookiePrefixes = CookiePrefix()
    /// libcurl's cookies after a head that was not the last one; `nil` for the original ones.
    var cookieLines: [String]?
    /// The names of the cookies that the server has set or deleted.
    private(set) var cookieNames: Set<String> = []
    private(set) var cookieErasures = CookieErasures()

    // By the status, because `head == nil` copies a head twice to compare it.

    /// The status of the response; `nil` before its head.
    var status: Int? { head?.status }

    /// Whether there is a held head.
    var isHolding: Bool { held?.status != nil }

    /// Whether no head about the server's response has arrived.
    var isEmpty: Bool { status == nil && !isHolding && !isRefusedByProxy }

    /// The names of cookies that the server is not allowed to set.
    var brokenCookieNames: Set<String> { cookiePrefixes.brokenNames }

    mutating func read(_ line: Span<UInt8>) -> ResponseHeadReader.Event? {
        reader.read(line)
    }

    mutating func readCookie(_ line: String) {
        cookiePrefixes.read(line)
        cookieNames.insert(CookiePrefix.name(of: line))
        cookieErasures.read(line)
    }

    /// Records that the proxy answered 407, or the server behind it, which looks the same. If a stronger
    /// scheme was already answered in this transfer, a request for Basic is an attempt to get the password.
    /// - Returns: whether libcurl may answer.
    mutating func refuseByProxy(_ head: ResponseHead) -> Bool {
        isRefusedByProxy = true
        // libcurl 7.88 does not see the contents of a folded line.
        let strength = reader.hasFoldedLines ? 0 : Self.strength(of: head)
        defer { proxyStrength = max(proxyStrength, strength) }
        return strength >= proxyStrength
    }

    /// The rank of the scheme with which libcurl answers: Digest, NTLM, all others.
    private static func strength(of head: ResponseHead) -> Int {
        let offers = AuthenticationOffer.offers(in: head.fields.values(for: "Proxy-Authenticate"))
        if offers.contains(where: { $0.scheme == .digest }) { return 2 }
        return offers.contains { $0.scheme == .ntlm } ? 1 : 0
    }

    /// Makes `head` the head of the response.
    mutating func accept(_ head: ResponseHead) {
        self.head = head
    }

    /// Holds a head that libcurl may answer, or one of a body whose end may not be proven.
    mutating func hold(_ head: ResponseHead, awaitsProof: Bool = false) {
        held = head
        self.awaitsProof = awaitsProof
    }

    /// Takes the held head, which libcurl has not answered.
    mutating func takeHeld() -> ResponseHead? {
        awaitsProof = false
        return held.take()
    }

    /// Records that libcurl answers the held head. The response to another request follows.
    /// - Returns: whether it may; `false` if it has answered too often.
    mutating func answerHeld() -> Bool {
        answerCount += 1
        guard answerCount <= Self.maximumAnswers else { return false }
        (held, awaitsProof) = (nil, false)
        reader = ResponseHeadReader()
        return true
    }

    /// Records that libcurl repeats the request to the proxy, if that has answered 407.
    /// - Returns: whether the proxy had.
    mutating func repeatToProxy() -> Bool {
        guard isRefusedByProxy else { return false }
        isRefusedByProxy = false
        reader = ResponseHeadReader()
        return true
    }
}

extension ResponseHeadReader {
    static let continuesNothing = "its first line continues a field that does not exist"

    /// Interprets a libcurl error that ended a transfer after the request was sent and that is really about a
    /// head or a trailer; `nil` if the error means what it says.
    ///
    /// | libcurl                                          | the server sent                                  |
    /// |--------------------------------------------------|--------------------------------------------------|
    /// | 8 (weird reply), "Invalid Content-Length"        | a length that does not start with a digit        |
    /// | 27 (out of memory), from 8.6 on 100 (too large)  | a line, or a trailer, longer than libcurl's buffer |
    /// | 43 (bad argument), before 8.1                    | a head whose first field continues a line        |
    /// | 43, "Invalid response header"                    | a trailer without a colon                        |
    /// | 61 (bad content encoding) before the head ends   | a transfer coding that is not `chunked`          |
    /// | 56, "Too large response headers"                 | endless heads, detected by libcurl first         |
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
