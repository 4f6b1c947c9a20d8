import Foundation
import FoundationNetworking
internal import OperationNetworkingSystem

/// What an exchange knows about the bytes that its sink holds, and its requests for the rest: a value that
/// decides.
///
/// Before each transfer ``ask(_:held:because:)``, at each head ``judge(_:from:held:abilities:)``, at each end
/// ``isShort(held:)``.
///
/// A head that replaces the content is known before the sink has discarded the bytes of the earlier content.
/// A pause, a full disk or a rejection may come in between. So each content has a number, and the sink says
/// which one its bytes belong to (``StoredBytes``). Before each request and each judgement
///
/// | The held bytes belong to                  | The state used                            |
/// |-------------------------------------------|-------------------------------------------|
/// | the last content, or there are none       | that of the last content                  |
/// | the content before                        | that of the content before                |
/// | another one                               | none: the whole body is requested         |
struct Resumption {
    /// Whether held bytes may be kept at all.
    let isAllowed: Bool
    /// The number of bytes to compare if there is no strong validator; `nil` to discard such bytes.
    let overlap: Int64?
    /// The last request.
    private(set) var asked = ResumeRequest.whole
    /// What is known about the last content.
    private var known = ContentState()
    /// What is known about the content before, while its bytes may still be held.
    @Rare private var earlier: ContentState?
    /// The highest number of a content.
    private var lastNumber = 0
    /// The number of bytes held after the current body according to its `Content-Range`; `nil` if it has
    /// none.
    private(set) var end: Int64?
    /// The number of bytes held at the start of the last usable answer.
    private var answerStart: Int64 = 0
    private var shortAnswers = ShortAnswers()
    /// The complete file, and the parts of other requests, that the body replaces.
    private var replaced: [KeptBody] = []

    /// A content, and the attempts to get its rest.
    private struct ContentState {
        /// See ``StoredBytes/content``.
        var number = 0
        /// The content, as its server described it.
        var content: Content?
        var history = ResumeDecision.History()
        /// The request that follows from the last answer, until the next answer: a redirect, an error and a
        /// lost connection are not answers.
        var next: ResumeDecision.NextRequest?
        /// Why the whole body was requested.
        var reason: RestartReason?
        /// Whether the server sent a part without its validator, and so will do that again (S12).
        var comparesOverlap = false
        /// Whether the tag differs with each answer, and the caller wants such bytes compared (S11).
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

        /// The URL of the response that began the content.
        var url: String? {
            switch content {
            case nil: nil
            case .partial(let partial): partial.url
            case .head(_, let url): url
            }
        }

        /// Requests the rest again after an unusable answer, unless the held bytes are unusable.
        mutating func forgetNextRequest() {
            guard !history.hasFoundDifference else { return }
            (next, reason) = (nil, nil)
        }

        mutating func remember(_ next: ResumeDecision.NextRequest) {
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
        /// A head that is read only when it is needed: most bodies are never resumed.
        case head(ResponseHead, url: String?)
    }

    init(isAllowed: Bool, overlap: Int64? = nil) {
        self.isAllowed = isAllowed
        self.overlap = overlap
    }

    /// Whether the library requested only a part.
    var asksForRest: Bool {
        switch asked {
        case .rest, .overlap: true
        case .whole, .wholeUntransformed, .confirmation, .nothing, .ownRange: false
        }
    }

    /// The number of the current or last content: see ``StoredBytes/content``.
    var contentNumber: Int { known.number }

    /// Takes the description of the bytes that the sink has from an earlier process.
    mutating func take(_ partial: PartialContent) {
        known.content = .partial(partial)
        // Compared in the first request: nothing else would be trusted.
        known.comparesOverlap = partial.isOfOtherRequest
        if partial.isRefuted { startOver(because: .digestMismatch) }
    }

    /// Takes the description of other bytes that the sink has from an earlier process.
    /// - Parameters:
    ///   - kept: the bytes that ``ResponseSink/goBack()`` restores.
    ///   - replaced: what else the body replaces.
    mutating func take(besides kept: PartialContent?, replacing replaced: [KeptBody]) {
        if let kept {
            var state = ContentState(number: StoredBytes.keptContent, content: .partial(kept))
            state.comparesOverlap = kept.isOfOtherRequest
            earlier = state
        }
        self.replaced = replaced
    }

    /// Whether the rest of the received bytes can never be requested, because the server sent no validator or
    /// does not support ranges, and not because of an answer. Bytes from before are not given up for that.
    func isAtEnd(_ request: URLRequest, held: StoredBytes) -> Bool {
        guard isAllowed, held.content > 0, let state = contentState(of: held), state.next == nil,
            let partial = state.partial(held.count)
        else { return false }
        switch ResumeRequest(request, continuing: partial, comparing: overlap) {
        case .whole, .wholeUntransformed: return true
        case .rest, .overlap, .confirmation, .nothing, .ownRange: return false
        }
    }

    /// What is known about the content of these bytes; `nil` if nothing is.
    private func contentState(of held: StoredBytes) -> ContentState? {
        guard held.count > 0, held.content != known.number else { return known }
        return earlier?.number == held.content ? earlier : nil
    }

    /// Switches to the content that the held bytes belong to.
    private mutating func settle(on held: StoredBytes) {
        guard held.count > 0, held.content != known.number else { return }
        if let earlier = contentState(of: held) {
            known = earlier
        } else {
            known = ContentState(number: held.content)
            known.remember(.whole(because: .resourceChanged))
        }
        earlier = nil
    }

    /// Decides what to request, given the `held` bytes. `demand` is the sink's reason why they cannot be
    /// resumed.
    mutating func ask(
        _ request: URLRequest,
        held: StoredBytes,
        because demand: RestartReason? = nil
    ) -> ResumeRequest {
        settle(on: held)
        if let demand { startOver(because: demand) }
        guard isAllowed || request.value(forHTTPHeaderField: "Range") != nil else {
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
                    // A server that misinterpreted If-Range once would do so again.
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

    /// The method of the next request, if it is not the original one.
    func nextMethod(of request: URLRequest) -> String? {
        guard isAllowed || request.value(forHTTPHeaderField: "Range") != nil,
            case .confirmation = known.next
        else { return nil }
        return ResumeRequest.confirmation.method
    }

    /// Decides how to use an answer, and remembers what it says about the whole body. `url` is the URL that
    /// it came from.
    mutating func judge(
        _ head: ResponseHead,
        from url: String? = nil,
        held: StoredBytes,
        abilities: SinkAbilities
    ) -> ResumeDecision {
        settle(on: held)
        let context = ResumeDecision.Context(
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
        let decision = ResumeDecision(context, status: head.status, fields: head.fields)
        end = end(of: head, decision)
        switch decision {
        case .append(let total):
            keep(total, held.count)
        case .compare(_, let total, _):
            keep(total, held.count)
        case .replace(let total, let derived):
            let reason = held.count > 0 ? known.reason ?? derived : derived
            // The open request has been answered; the bytes that are kept start afresh.
            if abilities.keepsUntilWhole { known.forgetNextRequest() }
            earlier = held.count > 0 ? known : nil
            lastNumber += 1
            known = ContentState(number: lastNumber, content: .head(head, url: url))
            answerStart = 0
            return .replace(total: total, because: reason)
        case .ask(let next):
            known.remember(next)
        case .skip, .alreadyComplete:
            known.next = nil
        case .wait:
            known.forgetNextRequest()
        case .fail, .deliver:
            break
        }
        return decision
    }

    private static func isDowngrade(from first: String, to second: String?) -> Bool {
        guard let second, second != first else { return false }
        return RedirectPolicy.isDowngrade(from: URL(string: first), to: URL(string: second))
    }

    /// Keeps the held bytes as a part of `total` bytes.
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

    /// Requests the whole body next, because the sink has found that the held bytes cannot be resumed.
    mutating func startOver(because reason: RestartReason) {
        known.history.hasFoundDifference = true
        known.remember(.whole(because: reason))
    }

    /// Whether a body that has ended can have faults: a part was requested or received.
    var mayHaveFaults: Bool { end != nil || asksForRest }

    /// The faults of a body that has ended with `held` bytes: see ``isShort(held:)`` and
    /// ``lengthError(held:hasEnded:url:)``.
    func faults(held: Int64, url: URL?) -> (isShort: Bool, lengthError: (any Error)?) {
        guard mayHaveFaults else { return (false, nil) }
        return (isShort(held: held), lengthError(held: held, hasEnded: true, url: url))
    }

    /// Whether the server sent fewer bytes than requested (S4), so that the rest has to be requested next.
    func isShort(held: Int64) -> Bool {
        guard asksForRest, let total = known.partial?.total else { return false }
        return held < total
    }

    /// The fault of a body with `held` bytes, which may have ended; `nil` if there is none. If a requested
    /// rest is too short, the missing bytes are requested again.
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

    /// Counts an answer that was too short. After several consecutive ones with almost no progress, the whole
    /// body is requested next.
    mutating func countShortAnswer(held: Int64) {
        guard shortAnswers.note(held - answerStart, of: known.partial?.total) else { return }
        known.remember(.whole(because: .invalidResponse))
    }

    /// The number of bytes that count as progress.
    var sensibleCount: Int64 { ShortAnswers.sensibleCount(of: known.partial?.total) }

    /// Whether the current content can be identified if it, or its rest, is requested again after a stop.
    func canComeAgain(_ request: URLRequest) -> Bool {
        Self.canComeAgain(request, known)
    }

    /// Whether the held content can be identified if it, or its rest, is requested again.
    func canComeAgain(_ request: URLRequest, held: StoredBytes) -> Bool {
        Self.canComeAgain(request, contentState(of: held))
    }

    private static func canComeAgain(_ request: URLRequest, _ state: ContentState?) -> Bool {
        RangeRequest(request) == nil && ResumeRequest.mayContinue(request)
            && state?.partial?.isNamed ?? false
    }

    /// The description of the `held` bytes, if their rest may be requested.
    func content(of held: StoredBytes) -> PartialContent? {
        guard isAllowed, let state = contentState(of: held) else { return nil }
        if case .whole = state.next { return nil }
        return state.partial(held.count)
    }
}

/// A limit for answers to range requests that make almost no progress, so that a file does not cost a request
/// per byte. A value that decides.
///
/// It counts consecutive answers that end early, as announced (S4): after three with almost no progress, the
/// whole body is requested. It also defines how many bytes are progress, after which a ``RetryPolicy`` counts
/// afresh (B1).
struct ShortAnswers: Hashable, Sendable {
    /// The number of consecutive answers with almost no progress after which ranges are given up.
    private static let maximumFruitlessCount = 3
    /// The number of bytes that is always enough, in a file of any length.
    private static let enough: Int64 = 16 * 1024
    /// The divisor for small files: this fraction of the file is enough.
    private static let share: Int64 = 64

    private var fruitlessCount = 0

    /// The number of bytes of a file of `total` that count as progress.
    static func sensibleCount(of total: Int64?) -> Int64 {
        guard let total else { return enough / share }
        return max(1, min(enough, total / share))
    }

    /// Records that an answer that ended early brought `count` bytes of a file of `total`.
    /// - Returns: whether to give up ranges and request the whole body. The count then restarts at 0.
    mutating func note(_ count: Int64, of total: Int64?) -> Bool {
        guard count < Self.sensibleCount(of: total) else {
            fruitlessCount = 0
            return false
        }
        fruitlessCount += 1
        guard fruitlessCount >= Self.maximumFruitlessCount else { return false }
        fruitlessCount = 0
        return true
    }
}
