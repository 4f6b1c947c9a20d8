internal import OperationNetworkingSystem

extension ConnectionOperation {
    /// An operation from an earlier process: finished if it was, else ready to start from the beginning.
    public convenience init(archive: OperationArchive) {
        self.init(request: archive.request)
        state.withLock { archive.restore(&$0) }
        if let kept = archive.responseSerializer { restore(kept.serializer) }
    }

    /// The archive of the operation, for a later process; `nil` for a request without a URL, and for one that
    /// is not finished and whose body comes from a stream. Pause it before, if it runs. A
    /// ``DownloadOperation`` has none: its checkpoint is on the disk already.
    public var archive: OperationArchive? {
        guard Self.isArchivable else { return nil }
        var archive = state.withLock { OperationArchive($0) }
        archive?.responseSerializer = archivedSerializer
        return archive
    }
}
