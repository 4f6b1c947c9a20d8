internal import OperationNetworkingSystem

extension ConnectionOperation {
    /// An operation from an earlier process: finished if it was, else ready to start. It asks for the rest of
    /// a body that the archive has the first bytes of. See ``OperationArchive/makeOperation()`` for one of
    /// the kind that it was.
    public convenience init(archive: OperationArchive) {
        self.init(request: archive.request)
        state.withLock { archive.restore(&$0) }
        if let download = archive.download { restore(download) }
        if let kept = archive.responseSerializer { restore(kept.serializer) }
    }

    /// The archive of the operation, for a later process; `nil` for a request without a URL, and for one that
    /// is not finished and whose body comes from a stream. Pause it before, if it runs.
    ///
    /// Waits until the network thread has told the bytes that came: all those of before, if it is paused.
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
        return NetworkThread.shared.answer { room in exchange.bodySoFar(room) } ?? nil
    }
}
