import Foundation
import FoundationNetworking
internal import OperationNetworkingSystem

// The end: what is decided, and what the sink still has to do.
extension Exchange {
    /// Decides what follows the end of a transfer whose head decided nothing else.
    func bodyDidEnd(_ end: TransferEnd) {
        if case .untrusted(let refusal) = end.error {
            askAboutServer(refusal)
        } else if case .keepAside = bodyUse, let error = end.error,
            error.isRefusal || configuration.bodyExplains
        {
            // The status is the reason, however its explanation ended.
            finish()
        } else if end.error != nil, holding.wasHeld, cannotGoOn {
            fail(ResumeError.representationChanged)
        } else if let error = end.error {
            tryAgain(after: error.error(for: hop.url ?? URL(fileURLWithPath: "/")))
        } else if case .skip = bodyUse {
            // It ended before the bytes that are there already.
            fail(ResumeError.representationChanged)
        } else if case .check = bodyUse {
            didFindDifference()
            if case .fail(let error) = verdict { fail(error) } else { startAgain() }
        } else if case .deliver = bodyUse, resumption.isShort(held: sink.count) {
            resumption.countShortAnswer(held: sink.count)
            startAgain()
        } else if case .deliver = bodyUse,
            let error = resumption.lengthError(held: sink.count, hasEnded: true, url: hop.url)
        {
            fail(error)
        } else {
            finish()
        }
    }

    func finish() {
        phase = .finishing
        if let report = download.finish(now: clock.now) { owner?.exchangeDidDownload(report) }
        if let report = upload.finish(now: clock.now) { owner?.exchangeDidUpload(report) }
        if case .keepAside = bodyUse {
            return stop(ExchangeEnd(error: nil, data: sideBody, metrics: metrics))
        }
        sink.end { result in
            NetworkThread.shared.perform { _ in self.sinkDidEnd(result) }
        }
    }

    private func sinkDidEnd(_ result: SinkEnd) {
        // It may have been cancelled meanwhile.
        guard case .finishing = phase else { return }
        switch result {
        case .done(let data): end(ExchangeEnd(error: nil, data: data, metrics: metrics))
        case .failed(let error): fail(error)
        case .mustStartOver(let reason):
            resumption.startOver(because: reason)
            // Who is suspended goes on when he is begun again.
            if owner == nil { phase = .idle } else { startAgain() }
        }
    }

    func fail(_ error: any Error) {
        // A cancel that comes while the sink stops has nothing to add.
        if case .stopping = phase { return }
        if let report = download.finish(now: clock.now) { owner?.exchangeDidDownload(report) }
        let data: Data? = if case .keepAside = bodyUse { sideBody } else { nil }
        stop(ExchangeEnd(error: error, data: data, metrics: metrics))
    }

    /// Ends when the sink writes no more to the destination.
    private func stop(_ decided: ExchangeEnd) {
        phase = .stopping(decided)
        let stop = sink.abandon { NetworkThread.shared.perform { _ in self.sinkDidStop() } }
        guard case .stopped(let kept) = stop else { return }
        var decided = decided
        decided.data = decided.data ?? kept
        end(decided)
    }

    private func sinkDidStop() {
        guard case .stopping(let decided) = phase else { return }
        end(decided)
    }

    func end(_ end: ExchangeEnd) {
        guard cookies.areStored else {
            // A caller that waits for this end sees the cookies that it brought.
            cookies.holdEnd()
            phase = .stopping(end)
            return
        }
        phase = .ended(end)
        sink.onChange = nil
        let owner = owner
        self.owner = nil
        owner?.exchangeDidEnd(end)
    }
}
