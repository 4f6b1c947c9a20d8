import Foundation
import FoundationNetworking
internal import OperationNetworkingSystem

// Heads: what a response is good for, before its first byte.
extension Exchange {
    /// Decides what the body is good for, before its first byte.
    func judge(_ head: ResponseHead) throws -> HeadAnswer {
        if let answer = answerChallenge(head) { return answer }
        if configuration.settings.redirectPolicy.isFollowing, RedirectPolicy.isRedirect(head) {
            return judgeRedirect(head)
        }
        if head.status == 304, let condition, condition.isContradicted(by: head.fields) {
            return refuse(condition)
        }
        let url = hop.url?.absoluteString
        switch resumption.judge(head, from: url, held: sink.count, abilities: sink.abilities) {
        case .append(let total):
            metrics.addKept(sink.count)
            try deliver(head, at: .end, expecting: total)
        case .replace(let total, let reason):
            try deliver(head, at: .start(reason), expecting: total)
        case .compare(let start, let total, let isProven):
            metrics.addKept(start)
            try compare(head, from: start, expecting: total, isProven: isProven)
        case .skip(let count, let total):
            // Before: what is kept may change with the body.
            let known = sink.lastBytes(Int(min(count, sink.abilities.keptCount)))
            try deliver(head, at: .end, expecting: total)
            bodyUse = .skip(count - Int64(known.count), then: known[...])
        case .deliver:
            return deliverAside(head)
        case .alreadyComplete:
            verdict = .complete
            return .refuse
        case .ask:
            verdict = .askAgain
            return .refuse
        case .fail(let error):
            verdict = .fail(error)
            return .refuse
        }
        return .receive
    }

    /// The 304 is about another file: the same is asked without the condition, once.
    private func refuse(_ condition: FileCondition) -> HeadAnswer {
        self.condition = nil
        sink.dropCondition()
        request.setValue(nil, forHTTPHeaderField: condition.name)
        hop.setValue(nil, forHTTPHeaderField: condition.name)
        verdict = .askAgain
        return .refuse
    }

    /// A sink that can read back what it has compares it, while it writes; for others it is done here.
    private func compare(
        _ head: ResponseHead,
        from start: Int64,
        expecting total: Int64?,
        isProven: Bool
    ) throws {
        let count = sink.count - start
        if sink.abilities.canCompare {
            try deliver(head, at: .again(from: start), expecting: total, isProven: isProven)
            bodyUse = .compare(count)
        } else {
            let known = sink.lastBytes(Int(count))
            guard known.count == count else { throw ResumeError.representationChanged }
            try deliver(head, at: .end, expecting: total, isProven: isProven)
            bodyUse = .check(known[...])
        }
    }

    /// The bytes that came again are not those that are there.
    func didFindDifference() {
        resumption.startOver(because: .overlapDiffers)
        verdict = sink.abilities.canBeEmptied ? .askAgain : .fail(ResumeError.representationChanged)
    }

    private func deliver(
        _ head: ResponseHead,
        at place: BodyStart.Place,
        expecting total: Int64?,
        isProven: Bool = true
    ) throws {
        if let response = hop.url.map({ ReceivedResponse(head, for: $0) }) {
            if let check = configuration.check, let value = response.value { try check(value) }
            owner?.exchangeDidReceive(response)
        }
        let offset: Int64
        switch place {
        case .start(let reason):
            offset = 0
            if let reason {
                attempts.noteRestart()
                owner?.exchangeWillStartOver(because: reason)
            }
        case .end, .again:
            offset = sink.count
            if offset > 0 { owner?.exchangeDidResume(at: offset) }
        }
        download.restart(at: offset)
        download.expected = total ?? -1
        owner?.exchangeWillReceiveBody(at: offset, length: download.expected)
        bodyUse = .deliver
        let start = BodyStart(
            place: place,
            total: hop.httpMethod == "HEAD" ? nil : total,
            head: head,
            url: hop.url ?? URL(fileURLWithPath: "/"),
            isProven: isProven,
            mayComeAgain: resumption.canComeAgain(hop)
        )
        try sink.prepare(start)
    }

    /// A response that says something else than bytes of the file.
    private func deliverAside(_ head: ResponseHead) -> HeadAnswer {
        if let delay = retryDelay(after: head) {
            return discardBody(of: head) { $0.tryAgain(after: delay) }
        }
        if isOutdated(head), askForURL(after: head) {
            beginAsking(.keepAside(configuration.sideBodyLimit))
            return .receive
        }
        return takeForResponse(head)
    }

    /// Called from within libcurl. The head is that of the response, and its body says why it is no other
    /// one.
    func takeForResponse(_ head: ResponseHead) -> HeadAnswer {
        tell(head)
        bodyUse = .keepAside(configuration.sideBodyLimit)
        if case .transferring(let id) = phase { limitExplanation(id) }
        return .receive
    }

    func tell(_ head: ResponseHead) {
        guard let url = hop.url else { return }
        owner?.exchangeDidReceive(ReceivedResponse(head, for: url))
    }
}
