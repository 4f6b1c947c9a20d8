import Foundation
import FoundationNetworking
internal import OperationNetworkingSystem

/// The knowledge of an exchange about the bytes that its sink holds, and its questions for the rest: a value
/// that decides.
///
/// Before each transfer ``ask(_:held:because:)``, at each head ``judge(_:from:held:abilities:)``, at each end
/// ``isShort(held:)``.
///
/// A head that replaces the content is known before the sink has thrown away the bytes of the earlier one. A
/// pause, a full disk or a refusal may come in between. So each content has a number, and the sink says of
/// which one its bytes are (``HeldBytes``): before each question and each judgement
///
/// | The held bytes are of                           | What counts is what is known of    |
/// |-------------------------------------------------|------------------------------------|
/// | the content that came last, or there are none   | that content                       |
/// | the one before                                  | the one before                     |
/// | another one                                     | nothing: the whole is asked for    |
struct Resumption {
    /// Whether bytes that are there may be kept at all.
    let isAllowed: Bool
    /// The number of bytes to compare when no strong validator proves anything; `nil`: such bytes are not
    /// kept.
    let overlap: Int64?
    /// The last question.
    private(set) var asked = ResumeRequest.whole
    /// The knowledge of the content that came last.
    private var known = Knowledge()
    /// The knowledge of the content before, while its bytes may still be there.
    @Rare private var earlier: Knowledge?
    /// The highest number of a content.
    private var lastNumber = 0
    /// The number of bytes held when the body that is coming has ended, as its `Content-Range` says; `nil`:
    /// it has none.
    private(set) var end: Int64?
    /// The number of bytes held when the last answer that is of use began.
    private var answerStart: Int64 = 0
    private var shortAnswers = ShortAnswers()
    /// The complete file, and the parts of other requests, that the body is to take the place of.
    private var replaced: [KeptBody] = []

    /// A content, and what was tried to get its rest.
    private struct Knowledge {
        /// See ``HeldBytes/content``.
        var number = 0
        /// The content, as its server described it.
        var content: Content?
        var history = ResumeDecision.History()
        /// The question that the last answer left open, until the next one has come: a redirect, an error and
        /// a lost connection are no answers.
        var next: ResumeDecision.NextQuestion?
        /// Why the whole was asked for.
        var reason: RestartReason?
        /// The server sent a part of this whole without its validator: it will do so again (S12).
        var comparesOverlap = false
        /// The tag differs with each answer, and the caller wants such bytes compared (S11).
        var ignoresTag = false

        func partial(_ held: Int64) -> PartialContent? {
            guard held > 0, var partial else { return nil }
            partial.offset = held
            return partial
        }

        var partial: PartialContent? {
            switch content {
            case nil: nil
            case .partial(let partial): partial
            case .head(let head, let url):
                PartialContent(fields: head.fields, isHTTP10: head.version == "HTTP/1.0", url: url)
            }
        }

        /// Where the response came from that began it.
        var url: String? {
            switch content {
            case nil: nil
            case .partial(let partial): partial.url
            case .head(_, let url): url
            }
        }

        /// An answer has come that is no use: the rest is asked for again, unless the bytes are no use.
        mutating func forgetQuestion() {
            guard !history.hasFoundDifference else { return }
            (next, reason) = (nil, nil)
        }

        mutating func remember(_ next: ResumeDecision.NextQuestion) {
            self.next = next
            switch next {
            case .same: history.hasRepeated = true
            case .plainRest: history.hasAskedPlainly = true
            case .overlap: comparesOverlap = true
            case .comparison: ignoresTag = true
            case .confirmation: break
            case .whole(let reason): self.reason = reason
            }
        }
    }

    private enum Content {
        case partial(PartialContent)
        /// A head that is read when it is needed: of most bodies nothing is ever continued.
        case head(ResponseHead, url: String?)
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

    /// The number of the content whose bytes come, or came last: see ``HeldBytes/content``.
    var contentNumber: Int { known.number }

    /// The sink has bytes of an earlier process, which this describes.
    mutating func take(_ partial: PartialContent) {
        known.content = .partial(partial)
        // Asked for at once: nothing else would be believed.
        known.comparesOverlap = partial.isOfOtherQuestion
        if partial.isRefuted { startOver(because: .digestMismatch) }
    }

    /// The sink has other bytes of an earlier process besides.
    /// - Parameters:
    ///   - kept: describes what ``ResponseSink/goBack()`` brings back.
    ///   - replaced: what else the body is to take the place of.
    mutating func take(besides kept: PartialContent?, replacing replaced: [KeptBody]) {
        if let kept {
            var knowledge = Knowledge(number: HeldBytes.keptContent, content: .partial(kept))
            knowledge.comparesOverlap = kept.isOfOtherQuestion
            earlier = knowledge
        }
        self.replaced = replaced
    }

    /// Whether the rest of what has come can never be asked for, because its server gave no validator or has no
    /// ranges; and not because of an answer. What was there before is given up for no question.
    func isAtEnd(_ request: URLRequest, held: HeldBytes) -> Bool {
        guard isAllowed, held.content > 0, let knowledge = knowledge(of: held), knowledge.next == nil,
            let partial = knowledge.partial(held.count)
        else { return false }
        switch ResumeRequest(request, continuing: partial, comparing: overlap) {
        case .whole, .wholeUntransformed: return true
        case .rest, .overlap, .confirmation, .nothing, .ownRange: return false
        }
    }

    /// The knowledge of these bytes; `nil`: there is none.
    private func knowledge(of held: HeldBytes) -> Knowledge? {
        guard held.count > 0, held.content != known.number else { return known }
        return earlier?.number == held.content ? earlier : nil
    }

    /// Goes by the content that the sink has bytes of.
    private mutating func settle(on held: HeldBytes) {
        guard held.count > 0, held.content != known.number else { return }
        if let earlier = knowledge(of: held) {
            known = earlier
        } else {
            known = Knowledge(number: held.content)
            known.remember(.whole(because: .resourceChanged))
        }
        earlier = nil
    }

    /// Decides what to ask for, with the `held` bytes there already. `demand`: why they cannot be continued,
    /// as the sink found out.
    mutating func ask(
        _ request: URLRequest,
        held: HeldBytes,
        because demand: RestartReason? = nil
    ) -> ResumeRequest {
        settle(on: held)
        if let demand { startOver(because: demand) }
        let hasOwnRange = request.value(forHTTPHeaderField: "Range") != nil
        guard isAllowed || hasOwnRange else {
            asked = .whole
            return asked
        }
        switch known.next {
        case .whole(let reason):
            asked = reason == .contentCoded ? .wholeUntransformed : .whole
        case .confirmation:
            asked = .confirmation
        case nil, .same, .plainRest, .overlap, .comparison:
            asked = ResumeRequest(request, continuing: known.partial(held.count), comparing: overlap)
            if case .rest(let offset, let ifRange, _) = asked {
                asked = .rest(
                    from: offset,
                    // A server that misunderstood If-Range once would do so again.
                    ifRange: known.history.hasAskedPlainly ? nil : ifRange,
                    overlap: known.comparesOverlap ? min(offset, ResumeRequest.overlapLength) : 0
                )
                if known.ignoresTag, let overlap {
                    asked = .overlap(
                        from: max(0, offset - overlap),
                        to: offset,
                        ifUnmodifiedSince: known.partial?.strongDate
                    )
                }
            }
        }
        return asked
    }

    /// The method of the next question, if it is not the request's own.
    func nextMethod(of request: URLRequest) -> String? {
        guard isAllowed || request.value(forHTTPHeaderField: "Range") != nil,
            case .confirmation = known.next
        else { return nil }
        return ResumeRequest.confirmation.method
    }

    /// Decides what an answer is good for, and remembers what it says about the whole. `url` is where it
    /// comes from.
    mutating func judge(
        _ head: ResponseHead,
        from url: String? = nil,
        held: HeldBytes,
        abilities: SinkAbilities
    ) -> ResumeDecision {
        settle(on: held)
        let question = ResumeDecision.Question(
            asked: asked,
            partial: known.partial(held.count),
            abilities: abilities,
            history: known.history,
            isElsewhere: known.url.map { $0 != url } ?? false,
            isDowngrade: known.url.map { Self.isDowngrade(from: $0, to: url) } ?? false,
            comparesUnproven: overlap.map { $0 > 0 } ?? false,
            isRefuted: held.isRefuted,
            replaced: replaced
        )
        known.history.wasRefused = head.status == 416
        let decision = ResumeDecision(question, status: head.status, fields: head.fields)
        end = end(of: head, decision)
        switch decision {
        case .append(let total):
            keep(total, held.count)
        case .compare(_, let total, _):
            keep(total, held.count)
        case .replace(let total, let derived):
            let reason = held.count > 0 ? known.reason ?? derived : derived
            // Whatever was to be asked has been answered: with bytes that stay it begins anew.
            if abilities.keepsUntilWhole { known.forgetQuestion() }
            earlier = held.count > 0 ? known : nil
            lastNumber += 1
            known = Knowledge(number: lastNumber, content: .head(head, url: url))
            answerStart = 0
            return .replace(total: total, because: reason)
        case .ask(let next):
            known.remember(next)
        case .skip, .alreadyComplete:
            known.next = nil
        case .wait:
            known.forgetQuestion()
        case .fail, .deliver:
            break
        }
        return decision
    }

    private static func isDowngrade(from first: String, to second: String?) -> Bool {
        guard let second, second != first else { return false }
        return RedirectPolicy.isDowngrade(from: URL(string: first), to: URL(string: second))
    }

    /// The bytes held are kept, as a part of `total` bytes.
    private mutating func keep(_ total: Int64?, _ held: Int64) {
        if var partial = known.partial {
            partial.total = total
            known.content = .partial(partial)
        }
        answerStart = held
        known.history.hasRepeated = false
        known.next = nil
        known.reason = nil
    }

    /// The bytes held cannot be continued, as the sink found out: the next question is for the whole.
    mutating func startOver(because reason: RestartReason) {
        known.history.hasFoundDifference = true
        known.remember(.whole(because: reason))
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
        guard asksForRest, let total = known.partial?.total else { return false }
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
        case .skip, .ask, .alreadyComplete, .wait, .fail, .deliver: return nil
        }
    }

    /// Counts an answer that was too short; when several in a row have brought next to nothing, the next
    /// question is for the whole.
    mutating func countShortAnswer(held: Int64) {
        guard shortAnswers.note(held - answerStart, of: known.partial?.total) else { return }
        known.remember(.whole(because: .invalidAnswer))
    }

    /// Bytes that count as progress.
    var sensibleCount: Int64 { ShortAnswers.sensibleCount(of: known.partial?.total) }

    /// Whether what comes can be told from anything else if it comes again, as a whole or its rest, after a
    /// stop.
    func canComeAgain(_ request: URLRequest) -> Bool {
        Self.canComeAgain(request, known)
    }

    /// The same of what is held.
    func canComeAgain(_ request: URLRequest, held: HeldBytes) -> Bool {
        Self.canComeAgain(request, knowledge(of: held))
    }

    private static func canComeAgain(_ request: URLRequest, _ knowledge: Knowledge?) -> Bool {
        RangeRequest(request) == nil && ResumeRequest.mayContinue(request)
            && knowledge?.partial?.isNamed ?? false
    }

    /// The description of the `held` bytes, of which the rest may be asked for.
    func content(of held: HeldBytes) -> PartialContent? {
        guard isAllowed, let knowledge = knowledge(of: held) else { return nil }
        if case .whole = knowledge.next { return nil }
        return knowledge.partial(held.count)
    }
}

/// The limit of answers to a range that bring next to nothing, so that a file does not cost a request for
/// each of its bytes: a value that decides.
///
/// It counts answers to a range that end early, as they said (S4): after three in a row that bring next to
/// nothing, the whole is asked for. And it says how many bytes are progress, after which a ``RetryPolicy``
/// counts anew (B1).
struct ShortAnswers: Hashable, Sendable {
    /// Answers in a row that bring next to nothing, before it is given up.
    private static let patience = 3
    /// The bytes that are always enough, in a file of any length.
    private static let enough: Int64 = 16 * 1024
    /// The divisor for small files: this part of the file is enough.
    private static let share: Int64 = 64

    private var fruitlessCount = 0

    /// Bytes of a file of `total` that are more than next to nothing.
    static func sensibleCount(of total: Int64?) -> Int64 {
        guard let total else { return enough / share }
        return max(1, min(enough, total / share))
    }

    /// An answer that ended early brought `count` bytes of a file of `total`.
    /// - Returns: whether ranges are of no use, and the whole is to be asked for; then it counts from 0
    ///   again.
    mutating func note(_ count: Int64, of total: Int64?) -> Bool {
        guard count < Self.sensibleCount(of: total) else {
            fruitlessCount = 0
            return false
        }
        fruitlessCount += 1
        guard fruitlessCount >= Self.patience else { return false }
        fruitlessCount = 0
        return true
    }
}
