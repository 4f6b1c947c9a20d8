/// What to do with a response, decided at the end of its head and before any of its body is written: the S
/// rows.
enum ResumeDecision: Hashable, Sendable {
    /// Write the body behind what is there. `total` is the length of the whole: a body that ends before it
    /// (S4) leaves a part to ask for, and nothing may be written behind it.
    case append(total: Int64)
    /// Throw away what is there and write this body from the start.
    case replace(total: Int64?)
    /// Drop the first `count` bytes of this body, which are there already, and write what follows. A body
    /// that is shorter than that was not the same.
    case skip(count: Int64, total: Int64?)
    /// Write nothing of this response, keep what is there, and ask for the whole (``ResumeRequest/whole``);
    /// the answer to that decides what is thrown away. It is never this one again.
    case restartWithoutRange
    /// Write nothing: all bytes are there. When it needs confirmation, this response alone does not prove it:
    /// ask with HEAD or `If-None-Match` whether the validator and the length still are the same.
    case alreadyComplete(needsConfirmation: Bool)
    /// Write nothing, and fail with this.
    case fail(ResumeError)
    /// A response that has nothing to do with the bytes asked for, such as 401, 404 or 503: hand it to the
    /// caller. Its body must not reach the destination, and what is there stays.
    case deliver

    /// What a response answers.
    struct Question: Hashable, Sendable {
        /// What was asked for.
        let asked: ResumeRequest
        /// What is there; `nil` when nothing is.
        let partial: PartialContent?
        /// Whether what was written can be taken back: not from a stream of the caller's.
        let canRewind: Bool
        /// Whether the answer before this one, to a range, was a 416 (S38).
        var wasRefused = false
    }

    /// - Parameters:
    ///   - question: what was asked for, and what is there.
    ///   - status: of the final response, redirects followed.
    ///   - fields: the head of that response.
    init(_ question: Question, status: Int, fields: HeaderFields) {
        switch question.asked {
        case .ownRange:
            self = question.decisionOnOwnRange(status: status, fields: fields)
        case .whole, .nothing:
            self = question.decisionOnWhole(status: status, fields: fields)
        case .rest(let offset, let ifRange):
            self = question.decision(onRestFrom: offset, ifRange: ifRange, status: status, fields: fields)
        }
    }
}

extension ResumeDecision.Question {
    /// How many bytes are there.
    private var offset: Int64 { partial?.offset ?? 0 }

    // MARK: - By status

    fileprivate func decisionOnOwnRange(status: Int, fields: HeaderFields) -> ResumeDecision {
        guard (200..<300).contains(status) else { return .deliver }
        // Which bytes of which whole are there, only the caller knows.
        guard canRewind || offset == 0 else { return .fail(.representationChanged) }
        return .replace(total: fields.contentLength)
    }

    fileprivate func decisionOnWhole(status: Int, fields: HeaderFields) -> ResumeDecision {
        switch status {
        case 206: .fail(.unrequestedPartialContent)  // S16
        case 204...205 where offset > 0: .fail(.unexpectedStatus(status))  // S32
        case 200..<300: decision(onWholeWith: fields)
        case 416 where wasRefused:  // S38
            .fail(.rangeNotSatisfiable(asked: offset, total: unsatisfiedTotal(fields)))
        default: .deliver
        }
    }

    fileprivate func decision(
        onRestFrom offset: Int64,
        ifRange: String?,
        status: Int,
        fields: HeaderFields
    ) -> ResumeDecision {
        switch status {
        case 200, 203: decision(onWholeWith: fields)
        case 206: decision(onPartFrom: offset, ifRange: ifRange, fields: fields)
        case 200..<300: .fail(.unexpectedStatus(status))  // S32
        case 304: restart(or: .unexpectedStatus(status))  // S31
        case 416: decision(onRefusalOf: offset, fields: fields)
        default: .deliver
        }
    }

    // MARK: - 206

    private func decision(onPartFrom offset: Int64, ifRange: String?, fields: HeaderFields) -> ResumeDecision
    {
        guard !fields.isMultipartByteranges else { return restart(or: .malformedContentRange("")) }  // S8
        let ranges = fields.values(for: "Content-Range")
        guard ranges.count == 1, let text = ranges.first else {
            return restart(or: .malformedContentRange(ranges.joined(separator: ", ")))  // S7
        }
        guard let range = try? ContentRange(fieldValue: text), let bytes = range.bytes else {
            return restart(or: .malformedContentRange(text))  // S9, S10
        }
        guard !fields.hasContentCoding else { return restart(or: .representationChanged) }  // S13
        if fields["Content-Length"] != nil, fields.contentLength != bytes.upperBound - bytes.lowerBound {
            return restart(or: .malformedContentRange(text))  // S14
        }
        let evidence = evidence(in: fields)
        guard evidence != .different else { return restartAfterChange }  // S11
        if let known = partial?.total, known != range.total ?? known || bytes.upperBound > known {
            return restartAfterChange  // S5
        }
        guard bytes.lowerBound == offset else {  // S2, S3
            return restart(or: .offsetMismatch(asked: offset, received: bytes.lowerBound))
        }
        guard evidence == .equal || ifRange != nil else { return restart(or: .representationChanged) }  // S12
        if let partial, partial.isOtherVariant(in: fields) {  // S15
            guard case .strongETag = partial.validator, evidence == .equal else { return restartAfterChange }
        }
        let total: Int64
        if let said = range.total {
            total = said
        } else if evidence == .equal, let known = partial?.total {  // S6
            total = known
        } else {
            return restart(or: .representationChanged)
        }
        // S4: a part may end early, but then something has to hold its body to that end.
        guard bytes.upperBound == total || fields.contentLength != nil else {
            return restart(or: .malformedContentRange(text))
        }
        return .append(total: total)  // S1
    }

    // MARK: - 200

    private func decision(onWholeWith fields: HeaderFields) -> ResumeDecision {
        let total = total(of: fields)
        guard let partial, offset > 0 else { return .replace(total: total) }
        let isSame =
            evidence(in: fields) == .equal && !partial.isCoded && !fields.hasContentCoding
            && (total ?? offset) >= offset && (partial.total ?? total) == (total ?? partial.total)
        if isSame, total == offset { return .alreadyComplete(needsConfirmation: false) }  // S23
        if canRewind { return .replace(total: total) }  // S20, S21, S22
        return isSame ? .skip(count: offset, total: total ?? partial.total) : .fail(.representationChanged)
    }

    // MARK: - 416

    private func decision(onRefusalOf offset: Int64, fields: HeaderFields) -> ResumeDecision {
        let refused = unsatisfiedTotal(fields)
        let error = ResumeError.rangeNotSatisfiable(asked: offset, total: refused)
        guard !wasRefused else { return .fail(error) }  // S38
        guard let refused else { return restart(or: error) }  // S37
        if refused < offset { return restartAfterChange }  // S36
        if refused == offset, let known = partial?.total {
            return known == refused ? .alreadyComplete(needsConfirmation: true) : restartAfterChange  // S34
        }
        return restart(or: error)  // S35, S37
    }

    private func unsatisfiedTotal(_ fields: HeaderFields) -> Int64? {
        guard let text = fields["Content-Range"], let range = try? ContentRange(fieldValue: text),
            range.bytes == nil
        else { return nil }
        return range.total
    }

    // MARK: - Evidence

    /// What the response says about being of the same bytes: its validator, and its date even if that is not
    /// the validator.
    private func evidence(in fields: HeaderFields) -> EntityValidator.Comparison {
        guard let partial else { return .absent }
        let comparison = partial.validator.comparison(with: fields)
        guard comparison == .absent, let old = partial.lastModified, let new = fields["Last-Modified"] else {
            return comparison
        }
        return old.utf8.elementsEqual(new.utf8) ? .absent : .different
    }

    private func total(of fields: HeaderFields) -> Int64? {
        fields.hasContentCoding ? nil : fields.contentLength
    }

    // MARK: - Starting again

    /// Asks for the whole. What cannot be taken back can still be skipped in the answer, if a strong
    /// validator will be there to tell that it is the same.
    private func restart(or error: ResumeError) -> ResumeDecision {
        canRewind || partial?.validator.ifRange != nil ? .restartWithoutRange : .fail(error)
    }

    /// Asks for the whole after proof that it is another one: what cannot be taken back is lost.
    private var restartAfterChange: ResumeDecision {
        canRewind ? .restartWithoutRange : .fail(.representationChanged)
    }
}
