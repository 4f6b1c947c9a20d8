internal import OperationNetworkingSystem

extension ConnectionOperation {
    /// An operation from an earlier process: finished if it was finished, else ready to start. If the archive
    /// has the first bytes of the body, the operation asks for the rest. To get the archived class, call
    /// ``OperationArchive/makeOperation()`` instead.
    public convenience init(archive: OperationArchive) {
        self.init(request: archive.request)
        state.withLock { archive.restore(&$0) }
        if let download = archive.download { restore(download) }
        if let kept = archive.responseSerializer { restore(kept.serializer) }
    }

    /// The archive of the operation, for a later process; `nil` for a request without a URL, and for one that
    /// is not finished and whose body comes from a stream. Pause it before, if it runs.
    ///
    /// Waits until the network thread has handed over the received bytes: all of them, if the operation is
    /// paused.
    ///
    /// An operation that cannot be archived is common, and no mistake: so this is `nil`, where
    /// ``OperationManager/archive`` throws the reason. A serializer that no archive can have is left out
    /// here, since ``HTTPRequestOperation/init(archive:responseSerializer:)`` takes it; a manager without its
    /// serializers would make other requests.
    public var archive: OperationArchive? {
        guard isArchivable else { return nil }
        let body = bodySoFar
        var archive = state.withLock { OperationArchive($0, body) }
        archive?.responseSerializer = archivedSerializer
        archive?.download = archivedDownload
        return archive
    }

    private var bodySoFar: EarlierBody? {
        let (exchange, earlier) = state.withLock { state in
            (state.machine.phase == .finished ? nil : state.exchange, state.earlierBody)
        }
        guard let exchange else { return earlier }
        return NetworkThread.shared.answer { network in exchange.bodySoFar(network) } ?? nil
    }
}
