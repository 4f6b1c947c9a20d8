import Foundation
import FoundationNetworking
internal import OperationNetworkingSystem

// Heads: what to do with a response, before its first byte.
extension Exchange {
    /// Acts on the decision about a head. Called inside a libcurl callback.
    func act(on decision: Machine.Decision) -> HeadAnswer {
        let answer = machine.decide(decision)
        limitUnusedBody()
        return answer
    }

    /// Decides what to do with the body, before its first byte.
    func judge(_ head: ResponseHead) throws -> Machine.Decision {
        if let decision = answerChallenge(head) { return decision }
        if configuration.settings.redirectPolicy.isFollowing, RedirectPolicy.isRedirect(head) {
            return judgeRedirect(head)
        }
        if head.status == 304, let condition = route.condition, condition.isContradicted(by: head.fields) {
            // It is about another file: repeat the request without the condition, once.
            sink.dropCondition()
            route.dropCondition()
            return .proceed(.again)
        }
        // A 206 has the requested bytes.
        if 200..<300 ~= head.status, head.status != 206, attempts.mayRepeat(head.status),
            let delay = retryDelay(after: head)
        {
            return proceed(.retry(after: delay), after: head)
        }
        if head.isWithoutBody, 200..<300 ~= head.status {
            // The held bytes are not touched. The end of the transfer reports why.
            report(head)
            return .take(.drop)
        }
        switch resumption.judge(head, from: route.address?.text, held: sink.held, abilities: sink.abilities) {
        case .append(let total):
            meters.log.addKept(sink.count)
            return try deliver(head, at: .end, expecting: total)
        case .replace(let total, let reason):
            return try deliver(head, at: .start(reason), expecting: total)
        case .compare(let start, let total, let isProven):
            meters.log.addKept(start)
            return try compare(head, from: start, expecting: total, isProven: isProven)
        case .skip(let count, let total):
            // First, because the kept bytes may change with the body.
            let known = sink.lastBytes(Int(min(count, sink.abilities.keptCount)))
            let use = BodyUse.skip(count - Int64(known.count), then: known[...])
            return try deliver(head, at: .end, expecting: total, use)
        case .deliver:
            return deliverBuffered(head)
        case .alreadyComplete:
            countKeptWhole()
            return .proceed(.finish)
        case .ask(.whole(let reason)):
            let next = requestWhole(because: reason)
            if case .fail = next { report(head) }
            return proceed(next, after: head)
        case .ask:
            return .proceed(.again)
        case .wait(let error):
            if let delay = outageDelay(because: error, after: head) {
                return proceed(.retry(after: delay), after: head)
            }
            report(head)
            return .proceed(.fail(error))
        case .fail(let error):
            return .proceed(.fail(error))
        }
    }

    /// Compares the overlapping bytes: in the sink while it writes, if it can read its bytes back, otherwise
    /// here.
    private func compare(
        _ head: ResponseHead,
        from start: Int64,
        expecting total: Int64?,
        isProven: Bool
    ) throws -> Machine.Decision {
        let count = sink.count - start
        guard sink.abilities.canCompare else {
            let known = sink.lastBytes(Int(count))
            guard known.count == count else { throw ResumeError.representationChanged }
            return try deliver(head, at: .end, expecting: total, isProven: isProven, .check(known[...]))
        }
        let place = BodyStart.Place.again(from: start)
        return try deliver(head, at: place, expecting: total, isProven: isProven, .compare(count))
    }

    private func deliver(
        _ head: ResponseHead,
        at place: BodyStart.Place,
        expecting total: Int64?,
        isProven: Bool = true,
        _ use: BodyUse = .deliver
    ) throws -> Machine.Decision {
        if let response = route.hopURL.map({ ReceivedResponse(head, for: $0) }) {
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
            attempts.noteContinuation(of: offset)
        }
        beginBody(after: offset, of: total)
        let start = BodyStart(
            place: place,
            total: route.hopMethod == "HEAD" ? nil : total,
            head: head,
            url: route.url,
            address: route.requestURL,
            content: resumption.contentNumber,
            isProven: isProven,
            mayComeAgain: sink.keepsLastBytes && resumption.canComeAgain(route.hop),
            trustedServers: trustedServers
        )
        try sink.prepare(start)
        return .take(use)
    }

    /// Delivers a response whose body is not part of the file.
    private func deliverBuffered(_ head: ResponseHead) -> Machine.Decision {
        if let delay = retryDelay(after: head) { return proceed(.retry(after: delay), after: head) }
        if let question = addressQuestion(after: head) {
            ask(question, after: head)
            return .ask(keeping: configuration.sideBodyLimit)
        }
        return takeForResponse(head)
    }

    /// Makes an unsuccessful response the result; its body is the explanation. Called inside a libcurl
    /// callback.
    func takeForResponse(_ head: ResponseHead) -> Machine.Decision {
        report(head)
        return .take(.bufferSeparately(configuration.sideBodyLimit))
    }

    func report(_ head: ResponseHead) {
        guard let url = route.hopURL else { return }
        owner?.exchangeDidReceive(ReceivedResponse(head, for: url))
    }
}
