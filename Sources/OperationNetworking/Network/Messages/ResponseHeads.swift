internal import OperationNetworkingSystem

/// The heads that a transfer receives: those that libcurl may answer by itself, and the one that the response
/// begins with.
struct ResponseHeads {
    /// The limit of libcurl's answers to challenges in one transfer; its schemes need one or two.
    private static let maximumAnswers = 8

    private(set) var reader = ResponseHeadReader()
    /// The one that the response begins with.
    private(set) var head: ResponseHead?
    /// A head that libcurl may answer by itself, so that the client need not hear of it.
    private(set) var held: ResponseHead?
    /// Whether the held head says that the body ends with its content coding: without a byte of that it is
    /// asked for again, in a way that proves its end, and the client hears of one response.
    private(set) var awaitsProof = false
    /// The proxy answered 407. libcurl asks again if it has credentials for it; else the transfer ends there:
    /// the answer is not the server's.
    private(set) var isRefusedByProxy = false
    /// Whether the client has answered the head with ``HeadAnswer/later``, and not said more.
    var awaitsAnswer = false
    private var answerCount = 0
    /// Of the strongest question of the proxy.
    private var proxyStrength = 0
    private var cookiePrefixes = CookiePrefix()
    /// libcurl's cookies after a head that was not the last one; `nil`: those that it was given.
    var cookieLines: [String]?
    /// The names of the cookies that the server has set or deleted.
    private(set) var cookieNames: Set<String> = []
    private(set) var cookieErasures = CookieErasures()

    /// Whether no head came that says anything about the server's response.
    var isEmpty: Bool { head == nil && held == nil && !isRefusedByProxy }

    /// The names of cookies that the server may not set.
    var brokenCookieNames: Set<String> { cookiePrefixes.brokenNames }

    mutating func read(_ line: Span<UInt8>) -> ResponseHeadReader.Event? {
        reader.read(line)
    }

    mutating func readCookie(_ line: String) {
        cookiePrefixes.read(line)
        cookieNames.insert(CookiePrefix.name(of: line))
        cookieErasures.read(line)
    }

    /// The proxy answered 407, or the server behind it did, which looks the same. Where better was asked for
    /// before, in this transfer, it was answered: to ask for Basic now is to ask for the password.
    /// - Returns: whether libcurl may answer.
    mutating func refuseByProxy(_ head: ResponseHead) -> Bool {
        isRefusedByProxy = true
        // libcurl 7.88 does not see what a folded line has.
        let strength = reader.hasFoldedLines ? 0 : Self.strength(of: head)
        defer { proxyStrength = max(proxyStrength, strength) }
        return strength >= proxyStrength
    }

    /// The rank of the scheme that libcurl answers: Digest, NTLM, all others.
    private static func strength(of head: ResponseHead) -> Int {
        let offers = AuthenticationOffer.offers(in: head.fields.values(for: "Proxy-Authenticate"))
        if offers.contains(where: { $0.scheme == .digest }) { return 2 }
        return offers.contains { $0.scheme == .ntlm } ? 1 : 0
    }

    /// The response begins with `head`.
    mutating func accept(_ head: ResponseHead) {
        self.head = head
    }

    /// `head` may be one that libcurl answers, or one of a body whose end may not be proven.
    mutating func hold(_ head: ResponseHead, awaitsProof: Bool = false) {
        held = head
        self.awaitsProof = awaitsProof
    }

    /// libcurl has not answered the head that was held.
    mutating func takeHeld() -> ResponseHead? {
        defer { (held, awaitsProof) = (nil, false) }
        return held
    }

    /// libcurl answers the head that is held. What follows is the response to another request.
    /// - Returns: whether it may; it has answered often enough otherwise.
    mutating func answerHeld() -> Bool {
        answerCount += 1
        guard answerCount <= Self.maximumAnswers else { return false }
        (held, awaitsProof) = (nil, false)
        reader = ResponseHeadReader()
        return true
    }

    /// libcurl asks the proxy again, if that has refused.
    /// - Returns: whether it had.
    mutating func askProxyAgain() -> Bool {
        guard isRefusedByProxy else { return false }
        isRefusedByProxy = false
        reader = ResponseHeadReader()
        return true
    }
}

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
