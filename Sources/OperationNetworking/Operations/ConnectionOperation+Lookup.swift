import Foundation
import FoundationNetworking
internal import OperationNetworkingSystem

// Before an exchange begins: a layer may have the response, and then no thread is changed for it.
//
// | While the layer is asked       | What becomes of the operation                         |
// |--------------------------------|-------------------------------------------------------|
// | it has nothing, or not of use  | its exchange begins                                   |
// | a pause                        | the answer is not used; `resume()` begins an exchange |
// | a cancel                       | an exchange ends it, unless the answer already has    |
extension ConnectionOperation {
    /// Asks the layer, on the thread that has called `start()`.
    func perform(_ lookup: StartLookup) {
        let answer = lookup.layer.ask { [self] known in
            guard let known else { return beginExchange(after: lookup) }
            // The layer's thread is for others, too.
            Self.processingQueue.async { self.take(known, of: lookup) }
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

    /// Tells what an exchange would have told.
    private func take(_ known: KnownResponse, of lookup: StartLookup) {
        guard state.withLock({ $0.work.isLookup(lookup) }) else { return }
        guard let (response, expected) = lookup.judge(known) else { return beginExchange(after: lookup) }
        exchangeDidReceive(response)
        exchangeWillReceiveBody(at: 0, length: expected ?? -1)
        var meters = ExchangeMeters()
        meters.log.add(known.metrics)
        meters.download.expected = expected ?? -1
        if let report = meters.download.add(known.body.count, now: .now) { exchangeDidDownload(report) }
        let end = ExchangeEnd(error: nil, data: known.body, metrics: meters.log)
        schedule(end, atOnce: { $0() }) { self.finish(end, of: lookup) }
    }
}
