public import Foundation
public import FoundationNetworking
internal import OperationNetworkingSystem

/// An ``HTTPRequestOperation`` that saves the body of a successful response as a file, and can resume an interrupted
/// download.
///
/// The body is written to a partial file next to the destination, `name.part`, which a checkpoint,
/// `name.part.resume`, describes. When all bytes are on disk, and length and digests are right, the partial file gets
/// the destination's name. An existing file is an error unless ``replacesFile`` is set; then it stays unchanged until
/// the new file is complete.
///
/// A later operation with the same destination, in this process or another, resumes after the last byte if the server
/// proves that the file has not changed; otherwise it starts over. Received bytes are kept after a pause, a failure
/// and a cancellation, unless ``cancel(keepingPartialFile:)`` discards them. A partial file that was begun at another
/// scheme, host, port or path is resumed only if ``expectedDigests`` or ``setRefreshURL(_:)`` is set, and never from
/// https to http: any server can send an equal tag and equal last bytes. Redirects do not count.
///
/// The partial file is locked: of two operations or processes with the same destination, the second fails with
/// ``DownloadError/inUse(_:)``. A new operation waits for a cancelled or failed one of this process that still has
/// the file open.
///
/// `responseObject` is the file's `URL`. The body of an error response is never saved; it is in `responseData`. The
/// body is requested uncompressed, and over HTTP/1.1 unless the server supports only HTTP/2. By default, the
/// operation retries five times. A redirect from https to http is an error unless the redirect policy allows it.
open class DownloadOperation: HTTPRequestOperation, @unchecked Sendable {
    // @unchecked: every stored property is an immutable Sendable; what changes lives in `settings`,
    // `progress` and `state`.

    /// Returns the current URL of the file; `nil` if there is none.
    public typealias URLRefresher =
        @Sendable (_ operation: DownloadOperation, _ response: HTTPURLResponse) async -> URL?

    /// Moves a complete file. Calls `done` once, on any thread, with the new location or with the error of the
    /// operation.
    typealias FileMover =
        @Sendable (_ file: URL, _ done: @escaping @Sendable (Result<URL, any Error>) -> Void) -> Void

    struct Settings {
        var options = DownloadOptions()
        var refreshURL: URLRefresher?
        var willFinish: DownloadPlan.WillFinish?
        var discardsWhenCancelled = false
        var mover: FileMover?

        /// Whether bytes from any server are accepted, because the caller expects digests or renews the URL.
        /// Comparing bytes would prove nothing about those that a hostile server sent before them.
        var takesOtherLocations: Bool {
            !options.expectedDigests.isEmpty || refreshURL != nil
        }
    }

    /// The treatment of received bytes if the server sends no strong validator.
    public enum UnprovenBytes: Hashable, Sendable {
        /// The bytes are discarded when the transfer has to begin again.
        case discard
        /// The last `overlap` bytes are requested again. If they are equal, and so are the length and the weak
        /// validators, all bytes are kept. This proves nothing about the earlier bytes; a digest does.
        case compare(overlap: Int64)

        var overlap: Int64? { if case .compare(let overlap) = self { overlap } else { nil } }
    }

    private let settings = Locked(Settings())
    private let progress = Locked(DownloadProgress())

    /// Creates a download without a ``destination``, which fails with ``DownloadError/noDestination`` unless one is
    /// set.
    public required init(request: URLRequest) {
        super.init(request: request)
        self.retryPolicy = RetryPolicy(maximumRetries: 5)
    }

    /// Creates a download.
    ///
    /// - Parameters:
    ///   - request: the request, as in ``ConnectionOperation/init(request:)``.
    ///   - destination: a file URL in an existing folder.
    public convenience init(request: URLRequest, to destination: URL) {
        self.init(request: request)
        self.destination = destination
    }

    /// Creates an operation that resumes the download of a checkpoint: from the same URL, to the same name in the
    /// checkpoint's folder, with the same digests.
    ///
    /// - Parameters:
    ///   - checkpoint: a file URL, `name.part.resume`.
    ///   - headers: additional fields of the request. A checkpoint does not contain values that are, or look like,
    ///     secrets: without them, the download is another user's. It does not contain `User-Agent`, `Referer`,
    ///     `Origin` and similar fields either: without them, the download starts over if the server's `Vary` names
    ///     them, unless the server sent a strong tag.
    /// - Throws: ``DownloadError/checkpointUnreadable(_:)``, also if the request had a body; a `CocoaError` if the
    ///   folder cannot be read; ``RequestSerializationError`` for a field that cannot be sent.
    public convenience init(resuming checkpoint: URL, headers: [String: String] = [:]) throws {
        try self.init(resuming: checkpoint, headers: headers) { $0 }
    }

    /// Creates the same operation, with a request that `prepare` has changed after the headers were added.
    convenience init(
        resuming checkpoint: URL,
        headers: [String: String],
        prepare: (URLRequest) throws -> URLRequest
    ) throws {
        let (name, options, asked) = try DownloadPlace.noted(in: checkpoint)
        var request = asked
        for (name, value) in headers {
            // Foundation silently drops a field with a line end in it.
            try RequestSerializationError.check(name: name, value: value)
            request.setValue(value, forHTTPHeaderField: name)
        }
        self.init(request: try prepare(request))
        settings.change { settings in
            settings.options = options
            settings.options.destination = checkpoint.deletingLastPathComponent()
                .appendingPathComponent(name, isDirectory: false)
        }
    }

    // MARK: - Results

    /// The complete file and its proof; `nil` until it has its name. If `cancel()` is called just then, the operation
    /// fails, but the file remains.
    public var downloadedFile: DownloadedFile? { progress.withLock { $0.download } }

    /// The URL of the file, once it has its name: ``HTTPRequestOperation/value`` with its type.
    public var savedFile: URL {
        get async throws { try await value(as: URL.self) }
    }

    /// Whether the existing file is current: see ``downloadsOnlyIfChanged``. In that case there is no
    /// ``downloadedFile``.
    public var isUpToDate: Bool {
        progress.withLock { $0.isConditional && !$0.isChangedMeanwhile } && response?.statusCode == 304
    }

    /// The partial file; `nil` before it is opened, and once it is complete.
    public var partialFile: URL? { progress.withLock { $0.partialFile } }

    /// Whether the received bytes are kept if the operation fails or is cancelled.
    var keepsPartialFile: Bool {
        get { progress.withLock { $0.keepsPartialFile } }
        set { progress.withLock { $0.keepsPartialFile = newValue } }
    }

    /// Whether the files of an earlier operation have been examined.
    var hasOpened: Bool { progress.withLock { $0.hasOpened } }

    /// The current number of bytes, and the length of the whole; `nil` if the download is not running. Unlike
    /// reported progress, the number decreases if the download starts over.
    package var presentProgress: TransferProgress? {
        let (countNow, content) = progress.withLock { ($0.countNow, $0.content) }
        return countNow().map { TransferProgress(total: $0, expected: content?.total ?? -1) }
    }

    /// The checkpoint of the ``partialFile``.
    public var checkpoint: URL? { progress.withLock { $0.checkpoint } }

    /// Returns why the same operation would later start over with `count` bytes in the ``partialFile``; `nil` if it
    /// would resume, as far as is known.
    package func obstacle(toContinuing count: Int64) -> RestartReason? {
        let (found, lost, isProvable) = progress.withLock { ($0.content, $0.lost, $0.isProvable) }
        guard var content = found else { return lost }
        // It is removed when the operation ends.
        guard isProvable else { return .checkpointUnproven }
        content.offset = count
        let overlap = settings.withLock { $0.options.overlap }
        switch ResumeRequest(request, continuing: content, comparing: overlap) {
        case .rest, .overlap, .confirmation, .nothing: return nil
        case .ownRange: return .ownRange
        case .whole, .wholeUntransformed:
            if content.isRefuted { return .digestMismatch }
            return content.isCoded
                ? .contentCoded : content.refusesRanges ? .rangesRefused : .validatorMissing
        }
    }

    /// Whether a request with another query, or of another user, would resume the ``partialFile`` (P17).
    package var resumesWithOtherLink: Bool {
        guard case .strongETag = progress.withLock({ $0.content?.validator }) else { return false }
        return true
    }

    // MARK: - Configuration

    /// The URL of the complete file.
    public var destination: URL? {
        get { settings.withLock { $0.options.destination } }
        set { set { $0.options.destination = newValue } }
    }

    /// Whether an existing file is replaced once the new one is complete. Otherwise it is an error,
    /// ``DownloadError/destinationExists(_:)``.
    public var replacesFile: Bool {
        get { settings.withLock { $0.options.replacesFile } }
        set { set { $0.options.replacesFile = newValue } }
    }

    /// Whether an existing file is downloaded and replaced only if the server has another one. Otherwise nothing is
    /// downloaded, and ``isUpToDate`` is set.
    ///
    /// The request is conditional on the entity tag that the server sent with the file or, failing that, on a strong
    /// `Last-Modified` (RFC 9110 §8.8.2.2). A 304 response that names another tag, date or length is not trusted.
    /// Both are in an extended attribute of the file, with its inode, the time of its creation, its length and the time
    /// of its last modification. The file is downloaded without a condition if nothing proves that it is still what the
    /// server sent: it was changed or copied since, another program, user or request made it, its server was verified
    /// in another way, others may write it, the file system does not support attributes or times of creation, or it
    /// does not have the ``expectedDigests``.
    public var downloadsOnlyIfChanged: Bool {
        get { settings.withLock { $0.options.downloadsOnlyIfChanged } }
        set { set { $0.options.downloadsOnlyIfChanged = newValue } }
    }

    /// Whether a file must not have this name, because partial files and checkpoints have such names:
    /// ``DownloadError/reservedName(_:)``.
    package static func isReserved(_ name: String) -> Bool { FileName.isReserved(name) }

    /// Whether an existing file that another program began is copied and resumed, if no earlier operation left
    /// anything and there are ``expectedDigests``, which decide in the end. It stays unchanged until the new file is
    /// complete. If it is not the beginning of that, it is an error, ``DownloadError/destinationExists(_:)``.
    package var continuesFile: Bool {
        get { settings.withLock { $0.options.continuesFile } }
        set { set { $0.options.continuesFile = newValue } }
    }

    /// Removes the checkpoint next to a complete file, and a second name of it, if a process was killed before it
    /// could do so.
    package static func removeLeftovers(beside file: URL) {
        // Leftovers do no harm.
        try? DownloadPlace(file, watch: nil).check(replacing: true)
    }

    /// Whether the request's `User-Agent` is the program's own, which contains its version. Such a value does not
    /// count, so that a later version can resume the download.
    package var sendsOwnUserAgent: Bool {
        get { settings.withLock { $0.options.sendsOwnUserAgent } }
        set { set { $0.options.sendsOwnUserAgent = newValue } }
    }

    /// Whether bytes of an earlier operation or process are discarded before the first request.
    public var startsOver: Bool {
        get { settings.withLock { $0.options.startsOver } }
        set { set { $0.options.startsOver = newValue } }
    }

    /// The digests of the file, all of which must match. After a mismatch, the file is downloaded once more;
    /// then the operation fails with ``DownloadError/digestMismatch(_:expected:actual:)``, and discards the
    /// received bytes.
    public var expectedDigests: [FileDigest] {
        get { settings.withLock { $0.options.expectedDigests } }
        set { set { $0.options.expectedDigests = newValue } }
    }

    /// Additional digests to compute, for ``DownloadedFile/digests``.
    public var wantedDigests: [DigestAlgorithm] {
        get { settings.withLock { $0.options.wantedAlgorithms } }
        set { set { $0.options.wantedAlgorithms = newValue } }
    }

    /// The treatment of received bytes if the server sends no strong validator. Defaults to
    /// ``UnprovenBytes/discard``.
    public var unprovenBytes: UnprovenBytes {
        get { settings.withLock { $0.options.overlap }.map { .compare(overlap: $0) } ?? .discard }
        set { set { $0.options.overlap = newValue.overlap } }
    }

    /// Sets the closure that is called when the server responds with 401, 403, 404 or 410, because signed URLs
    /// expire. It returns the current URL of the same file, or `nil`; then the response is the result. It is called
    /// again only after bytes have been received.
    ///
    /// `Authorization`, `Cookie`, `Proxy-Authorization` and `Host` are not sent to another origin. Replacing an https
    /// URL by an http one is an error.
    ///
    /// Must be set before the operation is added to a queue; later calls trap.
    public func setRefreshURL(@_inheritActorContext _ block: URLRefresher?) {
        set { $0.refreshURL = block }
    }

    /// See ``DownloadPlan/willFinish``: the journal of a batch records a file before it has its name.
    var willFinish: DownloadPlan.WillFinish? {
        get { settings.withLock { $0.willFinish } }
        set { set { $0.willFinish = newValue } }
    }

    /// Moves the file before the operation finishes. The new location becomes the `responseObject`.
    var mover: FileMover? {
        get { settings.withLock { $0.mover } }
        set { set { $0.mover = newValue } }
    }

    /// Whether ``cancel()`` discards the partial file.
    var discardsWhenCancelled: Bool {
        get { settings.withLock { $0.discardsWhenCancelled } }
        set { set { $0.discardsWhenCancelled = newValue } }
    }

    private func set(named setting: StaticString = #function, _ change: (inout Settings) -> Void) {
        if state.withLock({ $0.takesConfiguration(setting) }) { settings.change(change) }
    }

    // MARK: - Commands

    /// Cancels the operation, as `cancel()` does, and optionally discards the received bytes.
    ///
    /// - Parameter keepingPartialFile: `false` to remove the partial file of a running operation, including bytes of
    ///   an earlier one.
    public func cancel(keepingPartialFile: Bool) {
        keepsPartialFile = keepingPartialFile
        settings.withLock { $0.discardsWhenCancelled = false }
        cancel()
    }

    /// See ``ConnectionOperation/cancel()``. The received bytes are kept, unless the file system cannot show later that
    /// they are this user's (``RestartReason/checkpointUnproven``).
    open override func cancel() {
        if discardsWhenCancelled, !isCancelled, !isFinished { keepsPartialFile = false }
        super.cancel()
    }

    // MARK: - HTTPRequestOperation

    override class var ownKind: ObjectIdentifier { ObjectIdentifier(DownloadOperation.self) }

    /// Archives do not contain the options that only `opget` sets; it uses checkpoints.
    override var isArchivable: Bool { settings.withLock { !$0.options.continuesFile } }

    override var archivedDownload: DownloadArchive? {
        let progress = progress.withLock { $0 }
        var options = settings.withLock { $0.options }
        // Once it has begun, the bytes are its own.
        if progress.partialFile != nil { options.startsOver = false }
        return DownloadArchive(
            options: options,
            isConditional: progress.isConditional,
            file: progress.download
        )
    }

    override func restore(_ download: DownloadArchive) {
        settings.change { $0.options = download.options }
        progress.withLock { progress in
            progress.isConditional = download.isConditional
            progress.download = download.file
        }
        guard isFinished, error == nil else { return }
        let file = downloadedFile?.file ?? (isUpToDate ? destination : nil)
        state.withLock { $0.results.take(EndEvaluation.Result(object: file)) }
    }

    override func evaluate(_ end: ExchangeEnd) -> EndEvaluation.Result {
        if end.error == nil, isUpToDate { return EndEvaluation.Result(object: destination) }
        if end.error == nil, response?.statusCode == 304, progress.withLock({ $0.isChangedMeanwhile }),
            let destination
        {
            return EndEvaluation.Result(error: DownloadError.destinationExists(destination))
        }
        guard let downloadedFile, end.error == nil else { return super.evaluate(end) }
        switch progress.withLock({ $0.move }) {
        case .done(.success(let file)): return EndEvaluation.Result(object: file)
        case .done(.failure(let error)): return EndEvaluation.Result(error: error)
        case .notBegun, .begun, .moving: return EndEvaluation.Result(object: downloadedFile.file)
        }
    }

    override var isBeyondCancellation: Bool {
        if case .done(.success) = progress.withLock({ $0.move }) { true } else { false }
    }

    /// Called by the ``mover`` right before it moves the file. From now on a cancel has an effect only if the
    /// move fails.
    /// - Returns: whether the file may be moved: the operation has not been cancelled.
    func beginMove() -> Bool {
        // In this order: a cancel that is not seen here finds the move.
        progress.withLock { $0.move = .moving }
        return !isCancelled
    }

    /// Whether the complete file has its name, or is just getting it: there is nothing to resume.
    var hasCompleteFile: Bool { progress.withLock { $0.isNaming || $0.download != nil } }

    override func schedule(_ end: ExchangeEnd, atOnce: Caller, _ work: @escaping @Sendable () -> Void) {
        guard end.error == nil, let file = downloadedFile?.file, let mover else {
            return super.schedule(end, atOnce: atOnce, work)
        }
        let isCancelled = isCancelled
        let before = progress.withLock { progress in
            defer { if case .notBegun = progress.move, !isCancelled { progress.move = .begun } }
            return progress.move
        }
        switch before {
        case .notBegun where isCancelled, .begun where isCancelled:
            super.schedule(end, atOnce: atOnce, work)
        case .notBegun:
            exchangeLasts()
            mover(file) { result in
                self.progress.withLock { $0.move = .done(result) }
                Self.processingQueue.async(execute: work)
            }
        // The end is reported again after a pause, and again when the file has been moved.
        case .begun, .moving: return
        case .done: super.schedule(end, atOnce: atOnce, work)
        }
    }

    override func releaseClosures() {
        settings.change { settings in
            settings.refreshURL = nil
            settings.willFinish = nil
            settings.mover = nil
        }
    }

    override func copySettings(to copy: ConnectionOperation) {
        super.copySettings(to: copy)
        guard let copy = copy as? DownloadOperation else { return }
        var settings = settings.withLock { $0 }
        // The copy is not a member of the batch.
        settings.willFinish = nil
        settings.mover = nil
        copy.set { [settings] in $0 = settings }
    }

    override func complete(_ configuration: inout ExchangeConfiguration, _ state: OperationState) {
        super.complete(&configuration, state)
        let settings = settings.withLock { $0 }
        // A response to HEAD has no body to save.
        guard state.request.httpMethod?.uppercased() != "HEAD" else { return }
        let plan = DownloadPlan(
            request: state.request.withoutUserAgent(settings.options.sendsOwnUserAgent),
            credential: state.configuration.settings.credential,
            clientIdentity: state.configuration.settings.clientIdentity,
            verification: state.verification,
            asksAboutServers: state.closures.challenge != nil,
            options: settings.options,
            takesOtherLocations: settings.takesOtherLocations,
            willFinish: settings.willFinish,
            secretFields: state.configuration.settings.redirectPolicy.ownSecretFields
        )
        let progress = progress
        configuration.destination = .custom { DownloadSink(plan, progress: progress) }
        configuration.refreshesURL = settings.refreshURL != nil
        configuration.overlap = settings.options.overlap
        configuration.check = check(state.request, for: state.handlers.serializer)
    }

    /// Refuses, by the head, responses that are not files (S32, S44), and those that the response serializer would
    /// refuse, so that they are not saved.
    private func check(_ request: URLRequest, for serializer: any ResponseSerializer)
        -> @Sendable (HTTPURLResponse) throws -> Void
    {
        let method = request.httpMethod
        let validation: HTTPResponseSerializer? =
            serializer as? HTTPResponseSerializer
            ?? (serializer as? any ValidatingResponseSerializer)?.validation
        return { response in
            try SuccessStatus.check(response, method: method)
            try validation?.validateHead(response)
        }
    }

    override func freshURL(after response: HTTPURLResponse, decide: @escaping @Sendable (URL?) -> Void) {
        guard let refreshURL = settings.withLock({ $0.refreshURL }) else { return decide(nil) }
        Task { decide(await refreshURL(self, response)) }
    }
}

extension OperationArchive {
    /// Creates an operation of the archived kind: a ``DownloadOperation`` or an ``HTTPRequestOperation``. Operations
    /// of your own classes are created by their `init(archive:)`.
    public func makeOperation() -> HTTPRequestOperation {
        download == nil ? HTTPRequestOperation(archive: self) : DownloadOperation(archive: self)
    }
}

extension URLRequest {
    /// Returns the request without a `User-Agent` that the caller did not choose: that of the process or, if `isOwn`,
    /// any.
    fileprivate func withoutUserAgent(_ isOwn: Bool) -> URLRequest {
        let name = "User-Agent"
        guard isOwn || value(forHTTPHeaderField: name) == DefaultHeaders.ofProcess[name] else { return self }
        var request = self
        request.setValue(nil, forHTTPHeaderField: name)
        return request
    }
}
