import Foundation
import FoundationNetworking
internal import OperationNetworkingSystem

// The end of an exchange: the decision, and the rest of the sink's work.
extension Exchange {
    /// Acts on the end of a body whose head decided nothing else.
    func judge(_ end: TransferEnd) {
        // Independent of the connection: if the sink has failed, the body is not requested again.
        if machine.body.isForSink, let failure = sink.failure { return fail(failure) }
        // Nor is the rest requested if the sink has found that the bytes differ.
        if machine.body.isForSink, let reason = sink.demand { return perform(requestWhole(because: reason)) }
        switch BodyEnd(facts(of: end)) {
        case .askAboutServer(let refusal): askAboutServer(refusal)
        case .again: startAgain()
        case .finish: finish()
        case .lost(let error): fail(error.error(for: route.url), unlessStatusIsRefused: true)
        case .changed: fail(ResumeError.representationChanged)
        case .retry(let error): retry(after: error.error(for: route.url))
        case .differs: perform(overlapDiffers())
        case .askForMore:
            resumption.countShortAnswer(held: sink.count)
            startAgain()
        case .wrongLength(let error): fail(error)
        }
    }

    private func facts(of end: TransferEnd) -> BodyEnd.Facts {
        var facts = BodyEnd.Facts(
            error: end.error,
            use: machine.body,
            bodyExplains: configuration.bodyExplains
        )
        if end.error != nil {
            facts.wasHeldForGood = machine.wasHeld && cannotResume
        } else if case .deliver = machine.body, resumption.mayHaveFaults {
            (facts.isShort, facts.lengthError) = resumption.faults(held: sink.count, url: route.hopURL)
        }
        return facts
    }

    /// Starts over because the overlapping bytes differ from those already held.
    func overlapDiffers() -> ExchangeNext {
        resumption.startOver(because: .overlapDiffers)
        return sink.abilities.canBeEmptied
            ? requestWhole(because: .overlapDiffers) : .fail(ResumeError.representationChanged)
    }

    func finish() {
        reportProgress()
        guard machine.finish() else {
            return stop(ExchangeEnd(error: nil, data: sideBody, metrics: meters.log))
        }
        let end = sink.end { result in
            NetworkThread.shared.perform { _ in self.sinkDidEnd(result) }
        }
        if let end { return sinkDidEnd(end) }
        closeFiles()
        owner?.exchangeLasts()
    }

    private func closeFiles() {
        if configuration.opensFiles, closingFiles == nil { closingFiles = CountedFiles(.closingDownload) }
    }

    private func sinkDidEnd(_ result: SinkEnd) {
        closingFiles = nil
        guard machine.sinkEnded() else { return }
        switch result {
        case .done(let data): conclude(ExchangeEnd(error: nil, data: data, metrics: meters.log))
        case .failed(let error): fail(error)
        case .mustStartOver(let reason):
            resumption.startOver(because: reason)
            tick()
            guard case .startAgain = machine.startOver() else { return }
            // If all bytes were present, no request was sent before their digest was known (P7).
            perform(reason == .digestMismatch ? .again : requestWhole(because: reason))
        case .mustTryAgain(let error, let reason):
            if let reason { resumption.startOver(because: reason) }
            tick()
            guard let delay = outageDelay(because: error) else { return fail(error) }
            guard case .startAgain = machine.startOver() else { return }
            retry(after: delay)
        }
    }

    func fail(_ error: any Error, unlessStatusIsRefused statusComesFirst: Bool = false) {
        guard !machine.isDecided else { return }
        reportProgress()
        let data = machine.body.unused == .explanation ? sideBody : nil
        stop(ExchangeEnd(error: error, data: data, metrics: meters.log, statusComesFirst: statusComesFirst))
    }

    /// Ends the exchange once the sink has stopped writing to the destination.
    private func stop(_ decided: ExchangeEnd) {
        guard machine.end(with: decided) else { return }
        let stop = sink.abandon { NetworkThread.shared.perform { _ in self.sinkDidStop() } }
        guard case .stopped(let kept) = stop else { return closeFiles() }
        conclude(decided.orData(kept))
    }

    private func sinkDidStop() {
        closingFiles = nil
        if let end = machine.sinkStopped() { conclude(end) }
    }

    private func conclude(_ end: ExchangeEnd) {
        if let end = machine.conclude(end, cookiesAreStored: cookies.areStored) { report(end) }
    }

    func report(_ end: ExchangeEnd) {
        if sink.tellsChanges { sink.onChange = nil }
        let owner = owner
        self.owner = nil
        owner?.exchangeDidEnd(end)
    }
}
