import Foundation
import FoundationNetworking
internal import OperationNetworkingSystem

// Before an exchange begins: a layer may have the response, and then no thread is changed for it.
// OperationWork says what a pause and a cancel do meanwhile.
extension ConnectionOperation {
    /// On the thread of the command that has led to it.
    func perform(_ task: OperationWork.Task) {
        switch task {
        case .ask(let lookup): ask(lookup)
        case .finish(let end): Self.processingQueue.async { self.scheduleFinish(end) }
        }
    }

    private func ask(_ lookup: StartLookup) {
        let answer = lookup.layer.ask { [self] known in
            guard let known else { return beginExchange(after: lookup) }
            take(known, of: lookup)
        }
        switch answer {
        case .later: break
        case .nothing: beginExchange(after: lookup)
        case .known(let known): take(known, of: lookup)
        }
    }

    private func beginExchange(after lookup: StartLookup) {
        state.withLock { state in
            guard state.work.isLookup(lookup) else { return }
            beginExchange(&state)
        }
    }

    /// Tells what an exchange would have told. The end comes after that, whatever a pause or a cancel does.
    private func take(_ known: KnownResponse, of lookup: StartLookup) {
        guard let (response, expected) = lookup.judge(known) else { return beginExchange(after: lookup) }
        var meters = ExchangeMeters()
        meters.log.add(known.metrics)
        meters.download.expected = expected ?? -1
        let report = meters.download.add(known.body.count, now: .now)
        let end = ExchangeEnd(error: nil, data: known.body, metrics: meters.log)
        // All at once: after a pause that comes before it nothing is told.
        let (isTaken, target) = state.withLock { state -> (Bool, DeliveryTarget?) in
            guard state.work.isLookup(lookup) else { return (false, nil) }
            state.work = .answered(end, comes: true)
            let received = take(response, &state).flatMap { state.append($0, for: audience(state)) }
            let delivery = report.flatMap { Self.delivery(of: $0, state) }
            let downloaded = delivery.flatMap { state.append($0, for: audience(state)) }
            return (true, received ?? downloaded)
        }
        guard isTaken else { return }
        if let target { scheduleDelivery(target) }
        exchangeWillReceiveBody(at: 0, length: expected ?? -1)
        if let report { count(report) }
        scheduleFinish(end)
    }

    /// Has the operation finish: here, unless a serializer takes its time, or what is released then may run
    /// anything. The caller of `start()` may hold a lock.
    private func scheduleFinish(_ end: ExchangeEnd) {
        let isSafe = state.withLock { !$0.closures.answerQuestions }
        schedule(end) { work in
            if isSafe { work() } else { Self.processingQueue.async(execute: work) }
        } _: {
            self.finish(end)
        }
    }
}
