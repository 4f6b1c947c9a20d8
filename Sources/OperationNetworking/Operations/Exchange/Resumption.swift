import Foundation
import FoundationNetworking
internal import OperationNetworkingSystem

/// The knowledge of an exchange about the bytes that its sink holds, and its questions for the rest: a value
/// that decides.
///
/// Before each transfer ``ask(_:held:)``, at each head ``judge(_:held:abilities:)``, at each end
/// ``isShort(held:)``.
struct Resumption {
    /// Whether bytes that are there may be kept at all.
    let isAllowed: Bool
    /// The number of bytes to compare when no strong validator proves anything; `nil`: such bytes are not
    /// kept.
    let overlap: Int64?
    /// The last question.
    private(set) var asked = ResumeRequest.whole
    /// The content that the sink holds, as its server described it.
    private var content: Content?
    private var history = ResumeDecision.History()
    /// The question that the last answer left open, until the next one has come: a redirect, an error and a
    /// lost connection are no answers.
    private var next: ResumeDecision.NextQuestion?
    /// Why the whole was asked for.
    private var reason: RestartReason?
    /// The number of bytes held when the body that is coming has ended, as its `Content-Range` says; `nil`:
    /// it has none.
    private(set) var end: Int64?
    /// The number of bytes held when the last answer that is of use began.
    private var answerStart: Int64 = 0
    private var shortAnswers = ShortAnswers()
    /// The server sent a part of this whole without its validator: it will do so again (S12).
    private var comparesOverlap = false

    private enum Content {
        case partial(PartialContent)
        /// A head that is read when it is needed: of most bodies nothing is ever continued.
        case head(ResponseHead, url: String?)
    }

    private var partial: PartialContent? {
        switch content {
        case nil: nil
        case .partial(let partial): partial
        case .head(let head, let url):
            PartialContent(fields: head.fields, isHTTP10: head.version == "HTTP/1.0", url: url)
        }
    }

    init(isAllowed: Bool, overlap: Int64? = nil) {
        self.isAllowed = isAllowed
        self.overlap = overlap
    }

    /// Whether only a part was asked for, by us.
    var asksForRest: Bool {
        switch asked {
        case .rest, .overlap: true
        case .whole, .wholeUntransformed, .confirmation, .nothing, .ownRange: false
        }
    }

    /// The sink has bytes of an earlier process, which this describes.
    mutating func take(_ partial: PartialContent) {
        content = .partial(partial)
    }

    /// Decides what to ask for, with `held` bytes there already.
    mutating func ask(_ request: URLRequest, held: Int64) -> ResumeRequest {
        let hasOwnRange = request.value(forHTTPHeaderField: "Range") != nil
        guard isAllowed || hasOwnRange else {
            asked = .whole
            return asked
        }
        switch next {
        case .whole(let reason):
            asked = reason == .contentCoded ? .wholeUntransformed : .whole
        case .confirmation:
            asked = .confirmation
        case nil, .same, .plainRest, .overlap:
            asked = ResumeRequest(request, continuing: partial(held), comparing: overlap)
            if case .rest(let offset, let ifRange, _) = asked {
                asked = .rest(
                    from: offset,
                    // A server that misunderstood If-Range once would do so again.
                    ifRange: history.hasAskedPlainly ? nil : ifRange,
                    overlap: comparesOverlap ? min(offset, ResumeRequest.overlapLength) : 0
                )
            }
        }
        return asked
    }

    /// The method of the next question, if it is not the request's own.
    func nextMethod(of request: URLRequest) -> String? {
        guard isAllowed || request.value(forHTTPHeaderField: "Range") != nil, case .confirmation = next
        else { return nil }
        return ResumeRequest.confirmation.method
    }

    /// Decides what an answer is good for, and remembers what it says about the whole. `url` is where it
    /// comes from.
    mutating func judge(
        _ head: ResponseHead,
        from url: String? = nil,
        held: Int64,
        abilities: SinkAbilities
    ) -> ResumeDecision {
        let question = ResumeDecision.Question(
            asked: asked,
            partial: partial(held),
            abilities: abilities,
            history: history,
            isElsewhere: earlierURL.map { $0 != url } ?? false
        )
        history.wasRefused = head.status == 416
        let decision = ResumeDecision(question, status: head.status, fields: head.fields)
        end = end(of: head, decision)
        switch decision {
        case .append(let total):
            keep(total, held)
        case .compare(_, let total, _):
            keep(total, held)
        case .replace(let total, let derived):
            let reason = derived == nil ? nil : reason ?? derived
            content = .head(head, url: url)
            history = ResumeDecision.History()
            comparesOverlap = false
            answerStart = 0
            next = nil
            self.reason = nil
            return .replace(total: total, because: reason)
        case .ask(let next):
            remember(next)
        case .skip, .alreadyComplete:
            next = nil
        case .fail, .deliver:
            break
        }
        return decision
    }

    /// The bytes held are kept, as a part of `total` bytes.
    private mutating func keep(_ total: Int64?, _ held: Int64) {
        if var partial {
            partial.total = total
            content = .partial(partial)
        }
        answerStart = held
        history.hasRepeated = false
        next = nil
        reason = nil
    }

    private mutating func remember(_ next: ResumeDecision.NextQuestion) {
        self.next = next
        switch next {
        case .same: history.hasRepeated = true
        case .plainRest: history.hasAskedPlainly = true
        case .overlap: comparesOverlap = true
        case .confirmation: break
        case .whole(let reason): self.reason = reason
        }
    }

    /// The bytes held cannot be continued, as the sink found out: the next question is for the whole.
    mutating func startOver(because reason: RestartReason) {
        history.hasFoundDifference = true
        remember(.whole(because: reason))
    }

    /// Whether a body that has ended may have faults: a part was asked for, or has come.
    var mayHaveFaults: Bool { end != nil || asksForRest }

    /// The faults of a body that has ended with `held` bytes: see ``isShort(held:)`` and
    /// ``lengthError(held:hasEnded:url:)``.
    func faults(held: Int64, url: URL?) -> (isShort: Bool, lengthError: (any Error)?) {
        guard mayHaveFaults else { return (false, nil) }
        return (isShort(held: held), lengthError(held: held, hasEnded: true, url: url))
    }

    /// Whether the server sent less than it was asked for (S4): what is missing has to be asked for next.
    func isShort(held: Int64) -> Bool {
        guard asksForRest, let total = partial?.total else { return false }
        return held < total
    }

    /// The fault of a body that has ended, or goes on, with `held` bytes; `nil`: none. Less
    /// than a rest is asked for again.
    func lengthError(held: Int64, hasEnded: Bool, url: URL?) -> (any Error)? {
        guard let end, held > end || hasEnded && held < end && !asksForRest else { return nil }
        return asksForRest
            ? URLError.tooLong(url: url) : ResumeError.rangeLengthMismatch(range: end, body: held)
    }

    private func end(of head: ResponseHead, _ decision: ResumeDecision) -> Int64? {
        guard head.status == 206, asked != .ownRange(nil), !head.fields.isMultipartByteranges,
            let text = head.fields["Content-Range"],
            let bytes = (try? ContentRange(fieldValue: text))?.bytes
        else { return nil }
        switch decision {
        case .append, .compare: return bytes.upperBound
        case .replace: return bytes.upperBound - bytes.lowerBound
        case .skip, .ask, .alreadyComplete, .fail, .deliver: return nil
        }
    }

    /// Counts an answer that was too short; when several in a row have brought next to nothing, the next
    /// question is for the whole.
    mutating func countShortAnswer(held: Int64) {
        guard shortAnswers.note(held - answerStart, of: partial?.total) else { return }
        remember(.whole(because: .invalidAnswer))
    }

    /// Bytes that count as progress.
    var sensibleCount: Int64 { ShortAnswers.sensibleCount(of: partial?.total) }

    /// Whether what comes can be told from anything else if it comes again, as a whole or its rest, after a
    /// stop.
    func canComeAgain(_ request: URLRequest) -> Bool {
        RangeRequest(request) == nil && ResumeRequest.mayContinue(request) && partial?.isNamed ?? false
    }

    private var earlierURL: String? {
        switch content {
        case nil: nil
        case .partial(let partial): partial.url
        case .head(_, let url): url
        }
    }

    /// The description of `held` bytes, of which the rest may be asked for.
    func content(held: Int64) -> PartialContent? {
        if case .whole = next { return nil }
        return isAllowed ? partial(held) : nil
    }

    private func partial(_ held: Int64) -> PartialContent? {
        guard held > 0, var partial else { return nil }
        partial.offset = held
        return partial
    }
}
