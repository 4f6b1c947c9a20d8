public import Foundation
public import FoundationNetworking
internal import OperationNetworkingSystem

// File downloads.
extension OperationManager {
    /// Makes an operation that downloads a file, with the manager's settings except its response serializer:
    /// any successful response is saved. Does not add the operation to a queue.
    ///
    /// - Parameters:
    ///   - request: the request for the file.
    ///   - destination: a file URL in an existing folder.
    /// - Returns: the operation. If the manager has a retry policy, it replaces the download's default.
    public func downloadOperation(for request: URLRequest, to destination: URL) -> DownloadOperation {
        let operation = DownloadOperation(request: request, to: destination)
        adopt(operation)
        return operation
    }

    /// Applies the manager's settings and observers to a new download.
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

    /// Downloads many files in ``operationQueue``. The batch begins at once.
    ///
    /// Blocks on the disk: the journal is written before the first request.
    ///
    /// - Parameters:
    ///   - items: the files, in the order in which they are started. Their destinations must differ.
    ///   - options: the limits of concurrent downloads, the rates, and the reaction to a failure.
    ///   - journal: a file from which a later process can resume with
    ///     ``downloads(resuming:retriesFailed:headers:event:)``. It is removed when every member has
    ///     succeeded. `nil` for none.
    ///   - event: called on ``completionQueue``, one at a time.
    /// - Returns: the batch.
    /// - Throws: ``DownloadBatchError``, or a `CocoaError` if the journal cannot be written. In that case,
    ///   nothing has begun.
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

    /// Resumes a batch of downloads that did not complete, usually in another process. The batch begins at
    /// once.
    ///
    /// The items, their order and the options are those of the journal. Complete files are not downloaded
    /// again if their length, modification time and record (an extended attribute, where supported) have not
    /// changed. The received bytes of other files are kept if the server proves that the resource has not
    /// changed.
    ///
    /// Blocks on the disk.
    ///
    /// - Parameters:
    ///   - journal: the journal that was passed to ``downloads(_:options:journal:event:)``. The journal and
    ///     the files in or below its folder may have been moved together.
    ///   - retriesFailed: whether failed members are tried again. If not, they fail with
    ///     ``DownloadBatchError/failedBefore(_:)``.
    ///   - headers: called for each item with ``DownloadItem/withheldHeaders``; returns the values that the
    ///     journal does not contain.
    ///   - event: called on ``completionQueue``, one at a time.
    /// - Returns: the batch.
    /// - Throws: ``DownloadBatchError``, or a `CocoaError` if the journal cannot be read. In that case,
    ///   nothing has begun.
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
        for case .success(let download) in known.values {
            DownloadOperation.removeLeftovers(beside: download.file)
        }
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
