/// The use of a response, decided at the end of its head, before any of its body is written: the S rows.
enum ResumeDecision: Hashable, Sendable {
    /// Append the body to the kept bytes. `total` is the length of the whole: if the body ends earlier (S4), the rest
    /// has to be requested; nothing may be written beyond it.
    case append(total: Int64)
    /// Discard the kept bytes and write the body from the start. The reason is `nil` if there are none.
    case replace(total: Int64?, because: RestartReason?)
    /// The body begins at `from`, before the end of the kept bytes: compare it with them, and append what follows. A
    /// byte that differs proves that the bytes have changed. Unless `isProven`, nothing else says that they have not:
    /// equal bytes are evidence.
    case compare(from: Int64, total: Int64?, isProven: Bool = true)
    /// Skip the first `count` bytes of the body, which were delivered before, and write what follows. A shorter body
    /// proves that the bytes have changed. Only for destinations that cannot be read back.
    case skip(count: Int64, total: Int64?)
    /// Write nothing, keep the bytes, and send another request, whose response decides what is discarded. A request for
    /// the whole never leads to another one.
    case ask(NextRequest)
    /// Write nothing: the server has just confirmed that the kept bytes are the whole.
    case alreadyComplete
    /// Write nothing, keep the bytes, and try again later, as after a 503; if that is not allowed, fail with this
    /// error (S27).
    case wait(or: ResumeError)
    /// Write nothing, and fail with this error.
    case fail(ResumeError)
    /// Pass the response to the caller: it is not about the requested bytes, such as 401, 404 or 503. Its body must
    /// not reach the destination, and the kept bytes remain.
    case deliver

    /// The next request after an unusable response.
    enum NextRequest: Hashable, Sendable {
        /// The same request once more: the response may have been an accident (S3, S14).
        case same
        /// The rest without `If-Range`, which the server seems to misunderstand (S21).
        case plainRest
        /// The rest with some of the bytes before it, which are compared, because the server does not repeat the
        /// validator (S12).
        case overlap
        /// The rest with some of the bytes before it, which are compared, because the tag differs in each response
        /// and the caller allows it (S11).
        case comparison
        /// A confirmation that the kept bytes are the whole (``ResumeRequest/confirmation``; S34, S35).
        case confirmation
        case whole(because: RestartReason)
    }

    /// The request that a response answers, with its circumstances.
    struct Context: Hashable, Sendable {
        /// The request that was sent.
        let asked: ResumeRequest
        /// The kept bytes; `nil` if there are none.
        let partial: PartialContent?
        /// The abilities of the destination.
        let abilities: SinkAbilities
        var history = History()
        /// Whether the response comes from another URL than `partial`. Then only a strong tag proves that the bytes
        /// are the same, because two files may have equal dates.
        var isElsewhere = false
        /// Whether the response comes without TLS, and `partial` came with it (P19). Then nothing is joined.
        var isDowngrade = false
        /// Whether the caller wants bytes to be compared that no validator proves.
        var comparesUnproven = false
        /// Whether the kept bytes do not match the expected digest: anything may replace them.
        var isRefuted = false
        /// The complete file, and the parts of other requests, that the body replaces.
        var replaced: [KeptBody] = []
    }

    /// The requests since bytes were last received, so that none is repeated in vain.
    struct History: Hashable, Sendable {
        /// The previous response, to a range, was a 416 (S38).
        var wasRefused = false
        /// The same request was repeated, because its response was invalid (S3, S14).
        var hasRepeated = false
        /// The rest was requested without `If-Range` (S21).
        var hasAskedPlainly = false
        /// Bytes that were compared differed, whatever the validators say.
        var hasFoundDifference = false
    }

    /// - Parameters:
    ///   - context: the request, and the kept bytes.
    ///   - status: the status of the final response, after redirects.
    ///   - fields: the head of that response.
    init(_ context: Context, status: Int, fields: HeaderFields) {
        let status = SuccessStatus(status, hasLength: fields.contentLength != nil).code
        if context.isDowngrade, context.asksForRest, [200, 203, 206, 416].contains(status) {  // P19
            self = context.restart(because: .verificationChanged, or: .representationChanged)
            return
        }
        switch context.asked {
        case .ownRange(let range):
            self = context.decision(onOwn: range, status: status, fields: fields)
        case .whole, .wholeUntransformed, .nothing:
            self = context.decisionOnWhole(status: status, fields: fields)
        case .rest(let offset, _, let overlap):
            self = context.decision(onRestFrom: offset, overlap: overlap, status: status, fields: fields)
        case .overlap(let start, let end, let condition):
            self = context.decision(
                onOverlap: start..<end,
                isConditional: condition != nil,
                status: status,
                fields: fields
            )
        case .confirmation:
            self = context.decisionOnConfirmation(status: status, fields: fields)
        }
        // S27
        let error: ResumeError? =
            switch self {
            case .replace(let total, _) where [200, 203].contains(status):
                context.objection(to: fields, length: total)
            case .ask(.whole) where [200, 203].contains(status):
                context.objection(
                    to: fields,
                    length: context.mayBeAnyRest(fields) ? nil : fields.contentLength
                )
            default: nil
            }
        if let error { self = .wait(or: error) }
    }
}

/// How a destination can use the bytes that were written to it.
struct SinkAbilities: Hashable, Sendable {
    /// Whether they can be taken back, which is impossible for a caller's stream.
    var canBeEmptied: Bool
    /// Whether all of them can be read back and compared.
    var canCompare = false
    /// The number of last bytes that can be read back and compared.
    var keptCount: Int64 = 0
    /// Whether they are kept until the bytes that replace them are complete.
    var keepsUntilWhole = false
    /// Whether the body may be something other than a file: several parts, or a range in another unit than bytes.
    /// Only memory accepts that, because its owner looks at the head.
    var canBeAnyPart = false
}

extension SinkAbilities {
    /// Whether the last `count` bytes can be compared.
    func canCompare(last count: Int64) -> Bool { canCompare || count <= keptCount }
}

extension ResumeDecision.Context {
    /// The number of kept bytes.
    var offset: Int64 { partial?.offset ?? 0 }

    /// Returns why a body is not another version of what it would replace; `nil` if it may be (S27).
    fileprivate func objection(to fields: HeaderFields, length: Int64?) -> ResumeError? {
        guard abilities.keepsUntilWhole else { return nil }
        let kept = offset > 0 && !isRefuted ? partial.map { [KeptBody($0, isSameFile: !$0.isRefuted)] } : nil
        return ((kept ?? []) + replaced).lazy.compactMap { $0.objection(to: fields, length: length) }.first
    }

    /// Whether the rest, or a confirmation that there is none, was requested.
    fileprivate var asksForRest: Bool {
        switch asked {
        case .rest, .overlap, .confirmation: true
        case .whole, .wholeUntransformed, .nothing, .ownRange: false
        }
    }

    // MARK: - By status

    /// A server may ignore a `Range`, so a 200 with the whole is correct.
    fileprivate func decision(onOwn range: RangeRequest?, status: Int, fields: HeaderFields) -> ResumeDecision
    {
        guard (200..<300).contains(status) else { return .deliver }
        // Bytes of two responses are never joined.
        guard abilities.canBeEmptied || offset == 0 else { return .fail(.representationChanged) }
        let reason: RestartReason? = offset > 0 ? .ownRange : nil
        guard status == 206, let range else {
            if status != 206, let error = contradiction(in: fields) { return .fail(error) }
            return .replace(total: fields.contentLength, because: reason)
        }
        do {
            let bytes = try range.part(in: fields, takesAnyPart: abilities.canBeAnyPart)
            let length = bytes.map { $0.upperBound - $0.lowerBound }
            return .replace(total: length ?? fields.contentLength, because: reason)
        } catch {
            return .fail(error)
        }
    }

    fileprivate func decisionOnWhole(status: Int, fields: HeaderFields) -> ResumeDecision {
        switch status {
        case 206: .fail(.unrequestedPartialContent)  // S16
        case 204...205 where offset > 0: .fail(.unexpectedStatus(status))  // S32
        case 200..<300 where isRestOfKept(fields) && contradiction(in: fields) == nil:  // S28 again
            .fail(
                .rangeMismatch(
                    requested: "the whole",
                    received: "only the rest, with a status other than 206"
                )
            )
        case 200..<300: decision(onWholeWith: fields)
        case 416 where history.wasRefused:  // S38
            .fail(.rangeNotSatisfiable(requested: offset, total: unsatisfiedTotal(fields)))
        default: .deliver
        }
    }

    fileprivate func decision(
        onRestFrom offset: Int64,
        overlap: Int64,
        status: Int,
        fields: HeaderFields
    ) -> ResumeDecision {
        switch status {
        case 200, 203: decision(onWholeWith: fields)
        case 206: decision(onPartFrom: offset, overlap: overlap, fields: fields)
        case 200..<300: .fail(.unexpectedStatus(status))  // S32
        case 304: restart(because: .invalidResponse, or: .unexpectedStatus(status))  // S31
        case 416: decision(onRefusalOf: offset - overlap, fields: fields)
        default: .deliver
        }
    }

    fileprivate func decision(
        onOverlap range: Range<Int64>,
        isConditional: Bool,
        status: Int,
        fields: HeaderFields
    ) -> ResumeDecision {
        switch status {
        case 200, 203: decision(onWholeWith: fields)
        case 206: decision(onOverlap: range, fields: fields)
        case 200..<300: .fail(.unexpectedStatus(status))  // S32
        case 304: restart(because: .invalidResponse, or: .unexpectedStatus(status))  // S31
        case 412 where isConditional: restartAfterChange(.resourceChanged)  // S33
        case 416: decision(onRefusalOf: range.lowerBound, fields: fields)
        default: .deliver
        }
    }

    /// S34, S35, if the 416 had no tag: only the same validator and the same length confirm anything.
    fileprivate func decisionOnConfirmation(status: Int, fields: HeaderFields) -> ResumeDecision {
        // Some URLs support only GET (403, 404, 405, 501); then GET has to show what the server has.
        guard ![401, 407, 408, 425, 429].contains(status), status < 500 || status == 501 else {
            return .deliver
        }
        guard status == 200, evidence(in: fields) == .equal, !fields.hasContentCoding,
            fields.contentLength == offset
        else {
            return restart(
                because: .rangeNotSatisfiable,
                or: .rangeNotSatisfiable(requested: offset, total: fields.contentLength)
            )
        }
        return .alreadyComplete
    }

    // MARK: - 200

    private func decision(onWholeWith fields: HeaderFields) -> ResumeDecision {
        if let error = contradiction(in: fields) {
            switch asked {
            case .rest, .overlap: return restart(because: .invalidResponse, or: error)
            case .whole, .wholeUntransformed, .confirmation, .nothing, .ownRange: return .fail(error)
            }
        }
        let total = total(of: fields)
        guard let partial, offset > 0 else { return .replace(total: total, because: nil) }
        let mayBeRest = mayBeRest(fields)
        let evidence = evidence(in: fields)
        let isSame =
            !history.hasFoundDifference && evidence == .equal && !partial.isCoded && !fields.hasContentCoding
            && (total ?? offset) >= offset && (partial.total ?? total) == (total ?? partial.total)
        guard isSame else {
            if case .rest = asked, comparesUnproven, hasOnlyOtherTag(fields, total: total) {
                return .ask(.comparison)  // S11
            }
            if mayBeRest {  // S28
                let isOther = evidence == .different
                let reason = isOther ? reason(toReplace: partial, fields: fields) : .invalidResponse
                return restart(because: reason, or: .representationChanged)
            }
            // S20, S22
            guard abilities.canBeEmptied else { return .fail(.representationChanged) }
            return .replace(total: total, because: reason(toReplace: partial, fields: fields))
        }
        // S23: the rest of a whole of unknown length may have the same length.
        if total == offset {
            return firstAsked > 0 && partial.total == nil ? .ask(.confirmation) : .alreadyComplete
        }
        // S21: (i) without If-Range, (ii) compared or skipped, (iii) from the start.
        if case .rest(_, .some, _) = asked, !history.hasAskedPlainly { return .ask(.plainRest) }
        // S28: a rest that begins like the file would be mistaken for the whole.
        if mayBeRest { return .ask(.whole(because: .rangeIgnored)) }
        if abilities.canCompare { return .compare(from: 0, total: total ?? partial.total) }
        if abilities.canBeEmptied { return .replace(total: total, because: .rangeIgnored) }
        return .skip(count: offset, total: total ?? partial.total)
    }

    /// Returns an error if a successful response other than 206 has a `Content-Range` that names a part. The field
    /// has no meaning there (RFC 9110 §14.4), but the body may be a rest whose server forgot the status. A body in
    /// memory is delivered, because its owner can see that, unless it would replace kept bytes.
    private func contradiction(in fields: HeaderFields) -> ResumeError? {
        guard let text = fields["Content-Range"], let range = try? ContentRange(fieldValue: text),
            range.bytes != nil, !abilities.canBeAnyPart || offset > 0, !range.isWhole(fields.contentLength)
        else { return nil }
        return .rangeMismatch(requested: "the whole", received: "\(text) with a status other than 206")
    }

    /// The offset of the first requested byte; 0 for the whole.
    private var firstAsked: Int64 {
        switch asked {
        case .rest(let offset, _, let overlap): offset - overlap
        case .overlap(let start, _, _): start
        case .whole, .wholeUntransformed, .confirmation, .nothing, .ownRange: 0
        }
    }

    /// Whether a 200 response to a request for the rest may be just that rest, or something else, from a server that
    /// forgot the status (S28). It would replace the whole.
    ///
    /// | Length of the 200                         | Length of the whole | May it? |
    /// |-------------------------------------------|---------------------|---------|
    /// | that of the whole                         | known               | no      |
    /// | another, none, or that of a coding        | known               | yes     |
    /// | any, or none                              | unknown             | yes     |
    ///
    /// Its validator does not matter: some servers derive a tag from what they send, and the file may have grown.
    private func mayBeRest(_ fields: HeaderFields) -> Bool {
        guard firstAsked > 0, let partial, !partial.isCoded else { return false }
        guard let length = total(of: fields) else { return true }
        return length != partial.total
    }

    /// Whether the length of a 200 may be that of just the rest, and so says nothing.
    fileprivate func mayBeAnyRest(_ fields: HeaderFields) -> Bool {
        guard let known = partial?.total else { return true }
        return fields.contentLength == known - firstAsked
    }

    /// Whether the response to a request for the whole has the tag of the kept bytes and the length of the rest: a
    /// cache has stored a rest that was sent as 200 (S28).
    private func isRestOfKept(_ fields: HeaderFields) -> Bool {
        guard offset > 0, let partial, let known = partial.total, let length = total(of: fields),
            evidence(in: fields) == .equal
        else { return false }
        return [offset, max(0, offset - ResumeRequest.overlapLength)].contains { start in
            start > 0 && length == known - start && length != known
        }
    }

    private func reason(toReplace partial: PartialContent, fields: HeaderFields) -> RestartReason {
        if partial.isCoded { return .contentCoded }
        if partial.isOtherType(in: fields) { return .variantChanged }  // S27
        switch partial.validator {
        case .weak, .none: return .validatorMissing  // S22
        case .strongETag, .strongDate:  // S20
            if evidence(in: fields) == .absent { return .validatorMissing }
            return hasOnlyOtherTag(fields, total: total(of: fields)) ? .entityTagChanged : .resourceChanged
        }
    }

    // MARK: - 416

    private func decision(onRefusalOf offset: Int64, fields: HeaderFields) -> ResumeDecision {
        let refused = unsatisfiedTotal(fields)
        let error = ResumeError.rangeNotSatisfiable(requested: offset, total: refused)
        guard !history.wasRefused else { return .fail(error) }  // S38
        guard let refused else { return restart(because: .rangeNotSatisfiable, or: error) }  // S37
        if refused < self.offset { return restartAfterChange(.resourceChanged) }  // S36
        if refused == self.offset {  // S34, S35
            if let known = partial?.total, known != refused { return restartAfterChange(.resourceChanged) }
            return offset == refused && hasTagOfKept(fields) ? .alreadyComplete : .ask(.confirmation)
        }
        return restart(because: .rangeNotSatisfiable, or: error)  // S37
    }

    /// Whether the response has the strong tag of the kept bytes.
    private func hasTagOfKept(_ fields: HeaderFields) -> Bool {
        guard case .strongETag = partial?.validator, !history.hasFoundDifference else { return false }
        return evidence(in: fields) == .equal
    }

    private func unsatisfiedTotal(_ fields: HeaderFields) -> Int64? {
        guard let text = fields["Content-Range"], let range = try? ContentRange(fieldValue: text),
            range.bytes == nil
        else { return nil }
        return range.total
    }

    private func total(of fields: HeaderFields) -> Int64? {
        fields.hasContentCoding ? nil : fields.contentLength
    }
}

extension ResumeDecision.Context {
    /// Compares the response's validator, and its date even if that is not the validator, with those of the kept
    /// bytes.
    func evidence(in fields: HeaderFields) -> EntityValidator.Comparison {
        guard let partial else { return .absent }
        var comparison = partial.validator.comparison(with: fields)
        if isDowngrade { return .different }
        if comparison == .equal, partial.isOfOtherRequest { comparison = .absent }
        if isElsewhere, comparison == .equal, case .strongDate = partial.validator { comparison = .absent }
        guard comparison == .absent, let old = partial.lastModified, let new = fields["Last-Modified"] else {
            return comparison
        }
        return old.utf8.elementsEqual(new.utf8) ? .absent : .different
    }

    /// Whether only the entity tag differs, as with several servers behind one name.
    func hasOnlyOtherTag(_ fields: HeaderFields, total: Int64?) -> Bool {
        guard let partial, case .strongETag = partial.validator, evidence(in: fields) == .different,
            !isDowngrade, !history.hasFoundDifference, let known = partial.total,
            let date = partial.lastModified, let new = fields["Last-Modified"]
        else { return false }
        return known == total && date.utf8.elementsEqual(new.utf8)
    }

    // MARK: - Starting again

    /// Repeats the same request once, and then requests the whole.
    func repeatOnce(or error: ResumeError) -> ResumeDecision {
        history.hasRepeated ? restart(because: .invalidResponse, or: error) : .ask(.same)
    }

    /// Requests the whole. If the received bytes cannot be taken back, they can still be skipped, provided that a
    /// strong validator can prove that they are the same.
    func restart(because reason: RestartReason, or error: ResumeError) -> ResumeDecision {
        abilities.canBeEmptied || partial?.validator.ifRange != nil
            ? .ask(.whole(because: reason)) : .fail(error)
    }

    /// Requests the whole after proof of a change: fails if the received bytes cannot be taken back.
    func restartAfterChange(_ reason: RestartReason) -> ResumeDecision {
        abilities.canBeEmptied ? .ask(.whole(because: reason)) : .fail(.representationChanged)
    }
}
