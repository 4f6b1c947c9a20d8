public import Foundation
public import FoundationNetworking
internal import OperationNetworkingSystem

// Files.
extension OperationManager {
    /// Makes an operation that downloads a file, with the manager's settings apart from its response
    /// serializer: any successful response is saved. It is not in any queue yet.
    ///
    /// - Parameters:
    ///   - request: the request for the file.
    ///   - destination: a file URL, in a folder that exists.
    /// - Returns: the operation. The manager's retry policy replaces that of a download if it has one.
    public func downloadOperation(for request: URLRequest, to destination: URL) -> DownloadOperation {
        let operation = DownloadOperation(request: request, to: destination)
        adopt(operation)
        return operation
    }

    /// Gives a new download the manager's settings and observers.
    func adopt(_ operation: DownloadOperation) {
        let state = state(for: operation.request)
        operation.completionQueue = state.completionQueue
        operation.completionGroup = state.completionGroup
        var settings = state.settings
        settings.retryPolicy = settings.retryPolicy ?? operation.retryPolicy
        operation.configure { [settings] in $0.configuration.settings = settings }
        operation.join(state.observers.ofNewOperation, of: reference)
        operation.setAuthenticationChallenge(state.challenge)
    }

    /// Downloads many files, in ``operationQueue``. It begins at once.
    ///
    /// Waits for the disk: the journal is there before anything is asked for.
    ///
    /// - Parameters:
    ///   - items: the files, in the order in which they are started. No two have the same destination.
    ///   - options: the numbers at once, the rates, and the consequence of a failure.
    ///   - journal: a file that is made for a later process to go on, and removed when every member has
    ///     succeeded; ``downloads(resuming:retriesFailed:headers:event:)`` takes it. `nil`: there is none.
    ///   - event: called on ``completionQueue``, one at a time.
    /// - Returns: the batch.
    /// - Throws: ``DownloadBatchError``, or a `CocoaError` if the journal cannot be written. Nothing has
    ///   begun then.
    public func downloads(
        _ items: [DownloadItem],
        options: DownloadBatch.Options = DownloadBatch.Options(),
        journal: URL? = nil,
        @_inheritActorContext event: DownloadBatch.EventHandler? = nil
    ) throws -> DownloadBatch {
        try DownloadBatch.check(items, journal: journal)
        let file = try journal.map { url in
            let folder = url.deletingLastPathComponent()
            let header = JournalHeader(
                items: items.map { JournalItem($0, in: folder) },
                options: JournalOptions(options)
            )
            return try DownloadJournal.make(url, header)
        }
        let batch = DownloadBatch(
            items,
            options: options,
            source: downloadSource,
            journal: file,
            onEvent: event
        )
        batch.begin()
        return batch
    }

    /// Goes on with a batch of downloads that did not complete, most likely in another process. It begins at
    /// once.
    ///
    /// The items, their order and the options are those of the journal. Files that are complete, and have the
    /// length, the time of their last change and the record (an extended attribute, where there are such)
    /// that they had then, are not fetched again; what came of
    /// others is kept if the server proves that it has the same bytes still.
    ///
    /// Waits for the disk.
    ///
    /// - Parameters:
    ///   - journal: as it was given to ``downloads(_:options:journal:event:)``. The journal and those files
    ///     that are in its folder, or below that, may have been moved together.
    ///   - retriesFailed: whether members that failed are tried again. If not, they fail with
    ///     ``DownloadBatchError/failedBefore(_:)``.
    ///   - headers: called, for each item with ``DownloadItem/withheldHeaders``, for the values that the
    ///     journal does not hold.
    ///   - event: called on ``completionQueue``, one at a time.
    /// - Returns: the batch.
    /// - Throws: ``DownloadBatchError``, or a `CocoaError` if the journal cannot be read. Nothing has begun
    ///   then.
    public func downloads(
        resuming journal: URL,
        retriesFailed: Bool = true,
        headers: ((_ item: DownloadItem) -> [String: String])? = nil,
        @_inheritActorContext event: DownloadBatch.EventHandler? = nil
    ) throws -> DownloadBatch {
        let (file, replay) = try DownloadJournal.open(journal)
        let folder = journal.deletingLastPathComponent()
        let items = try replay.header.items.map { record in
            guard var item = record.item(in: folder) else {
                throw DownloadBatchError.journalUnreadable(journal)
            }
            if let headers, !item.withheldHeaders.isEmpty {
                item.headers.merge(headers(item)) { _, new in new }
            }
            return item
        }
        let settings = readTransferSettings { $0 }
        let known = replay.known(
            items,
            retriesFailed: retriesFailed,
            stamp: { try? FileStamp(path: $0.path) },
            record: FileRecord.stamp(in:),
            accepts: { [answersChallenges] verification, url in
                ServerVerification(of: url, settings).accepts(
                    finished: verification,
                    asksAboutServers: answersChallenges
                )
            }
        )
        for case .success(let download) in known.values { DownloadBatch.removeLeftovers(of: download.file) }
        let batch = DownloadBatch(
            items,
            options: replay.header.options.options,
            source: downloadSource,
            journal: file,
            known: known,
            onEvent: event
        )
        batch.begin()
        return batch
    }

    private var downloadSource: DownloadBatch.Source {
        DownloadBatch.Source(queue: operationQueue, completionQueue: completionQueue) { [self] item in
            let request = try serialized(with: item.headers) { serializer in
                try serializer.request(
                    method: "GET",
                    url: item.url,
                    parameters: nil,
                    headers: item.headers
                )
            }
            return downloadOperation(for: request, to: item.destination)
        }
    }
}
