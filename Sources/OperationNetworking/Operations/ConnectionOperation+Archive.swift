internal import OperationNetworkingSystem

extension ConnectionOperation {
    /// Restores an operation from an earlier process: finished if it had finished, otherwise ready to start.
    /// If the archive has the first bytes of the body, the operation requests the rest. To get the archived
    /// class, call ``OperationArchive/makeOperation()`` instead.
    public convenience init(archive: OperationArchive) {
        self.init(request: archive.request)
        state.withLock { archive.restore(&$0) }
        if let download = archive.download { restore(download) }
        if let kept = archive.responseSerializer { restore(kept.serializer) }
    }

    /// An archive of the operation, for a later process; `nil` for a request without a URL, and for an
    /// unfinished operation whose body comes from a stream. Pause a running operation first.
    ///
    /// Blocks until the network thread has handed over the received bytes: all of them, if the operation is
    /// paused.
    ///
    /// This is `nil` where ``OperationManager/archive`` throws, because an operation that cannot be archived
    /// is common and not an error. A serializer that cannot be archived is left out here, since
    /// ``HTTPRequestOperation/init(archive:responseSerializer:)`` takes it; a manager without its serializers
    /// would make different requests.
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
