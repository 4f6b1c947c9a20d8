public import Foundation
public import FoundationNetworking
internal import OperationNetworkingSystem

/// An ``HTTPRequestOperation`` that saves a successful response's body as a file, and can continue a broken
/// one.
///
/// The bytes go to a partial file beside the destination, `name.part`; a checkpoint, `name.part.resume`, says
/// what they are. The partial file gets the destination's name when every byte is on the disk, and the length
/// and the digests that the server and the caller named are right. A file that already has the name is an
/// error unless ``replacesFile`` is set; then it stays untouched until the new file is complete.
///
/// A later operation with the same destination, in this process or another, continues after the last byte if
/// the server proves that it still has the same bytes; otherwise it starts over. Received bytes are kept
/// after a pause, a failure and a cancellation, unless ``cancel(keepingPartialFile:)`` throws them away. A
/// partial file that was begun at another scheme, host, port or path is continued only if ``expectedDigests`` or
/// ``setRefreshURL(_:)`` is set, and never from https to http: anybody can send a tag and
/// last bytes that are equal. Redirects do not count.
///
/// The partial file is locked: of two operations or processes with one destination the second fails with
/// ``DownloadError/inUse(_:)``. If a cancelled or failed one of this process still holds the file, the new
/// one waits for it.
///
/// `responseObject` is the file's `URL`. The body of an error never reaches the file; it is in
/// `responseData`. The body is asked for uncompressed, and over HTTP/1.1 unless the server has HTTP/2 only.
/// Unless another policy is set, the operation retries five times. A redirect from https to http is an error,
/// unless its redirect policy allows that.
open class DownloadOperation: HTTPRequestOperation, @unchecked Sendable {
    // @unchecked: every stored property is an immutable Sendable; what changes lives in `settings`,
    // `progress` and `state`.

    /// A closure that answers with the address that a file has now.
    public typealias URLRefresher =
        @Sendable (_ operation: DownloadOperation, _ response: HTTPURLResponse) async -> URL?

    /// Moves a complete file elsewhere. Calls `done` once, on any thread, with the place that the file has then,
    /// or with the error of the operation.
    typealias FileMover =
        @Sendable (_ file: URL, _ done: @escaping @Sendable (Result<URL, any Error>) -> Void) -> Void

    struct Settings {
        var options = DownloadOptions()
        var refreshURL: URLRefresher?
        var willFinish: DownloadPlan.WillFinish?
        var discardsWhenCancelled = false
        var mover: FileMover?

        /// Whether the caller asks for bytes whatever server they came from: they know what the whole has to be, or
        /// renew the address. Compared bytes prove nothing of those that a hostile server sent before them.
        var takesOtherLocations: Bool {
            !options.expectedDigests.isEmpty || refreshURL != nil
        }
    }

    /// The treatment of bytes that a server gives no strong validator for.
    public enum UnprovenBytes: Hashable, Sendable {
        /// The bytes are thrown away when the transfer has to begin again.
        case discard
        /// The last `overlap` of them are asked for again. If they are equal, and the length and the weak
        /// validators are, all are kept. This proves nothing of the bytes before: a digest does.
        case compare(overlap: Int64)

        var overlap: Int64? { if case .compare(let overlap) = self { overlap } else { nil } }
    }

    private let settings = Locked(Settings())
    private let progress = Locked(DownloadProgress())

    /// Without a ``destination`` it fails with ``DownloadError/noDestination``.
    public required init(request: URLRequest) {
        super.init(request: request)
        self.retryPolicy = RetryPolicy(maximumRetries: 5)
    }

    /// - Parameters:
    ///   - request: as in ``ConnectionOperation/init(request:)``.
    ///   - destination: a file URL, in a folder that exists.
    public convenience init(request: URLRequest, to destination: URL) {
        self.init(request: request)
        self.destination = destination
    }

    /// An operation that goes on with the download of a checkpoint: from the same address, to the same name
    /// in the checkpoint's directory, with the same digests.
    ///
    /// - Parameters:
    ///   - checkpoint: a file URL, `name.part.resume`.
    ///   - headers: the further fields of the request: values that are, or look like, secrets are not written
    ///     down, and without them the download is another user's. Nor are `User-Agent`, `Referer`, `Origin` and
    ///     others that seldom matter: without them it starts over where the server's `Vary` names them,
    ///     unless it sent a strong tag.
    /// - Throws: ``DownloadError/checkpointUnreadable(_:)``, also if the request had a body; a `CocoaError`
    ///   if the directory cannot be read, or ``RequestSerializationError`` for a field that cannot be sent.
    public convenience init(resuming checkpoint: URL, headers: [String: String] = [:]) throws {
        try self.init(resuming: checkpoint, headers: headers) { $0 }
    }

    /// The same, where `prepare` changes the request that the checkpoint has, and the headers are in.
    convenience init(
        resuming checkpoint: URL,
        headers: [String: String],
        prepare: (URLRequest) throws -> URLRequest
    ) throws {
        let (name, options, asked) = try DownloadPlace.noted(in: checkpoint)
        var request = asked
        for (name, value) in headers {
            // Foundation drops a field with a line end in it, and says nothing.
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

    /// The file, with its proof; `nil` before it has its name. A `cancel()` that comes just then is an error
    /// all the same, and leaves the file.
    public var downloadedFile: DownloadedFile? { progress.withLock { $0.download } }

    /// The URL of the file, once it has its name: ``HTTPRequestOperation/value`` with its type.
    public var savedFile: URL {
        get async throws { try await value(as: URL.self) }
    }

    /// Whether the server has no other file than the existing one: see ``downloadsOnlyIfChanged``. Then there
    /// is no ``downloadedFile``.
    public var isUpToDate: Bool {
        progress.withLock { $0.isConditional && !$0.isChangedMeanwhile } && response?.statusCode == 304
    }

    /// The partial file; `nil` before it is opened, and when it is complete.
    public var partialFile: URL? { progress.withLock { $0.partialFile } }

    /// Whether the bytes that came are kept when it fails or is cancelled.
    var keepsPartialFile: Bool {
        get { progress.withLock { $0.keepsPartialFile } }
        set { progress.withLock { $0.keepsPartialFile = newValue } }
    }

    /// Whether it has looked what an earlier operation left.
    var hasOpened: Bool { progress.withLock { $0.hasOpened } }

    /// The bytes that are there now, and the length of the whole; `nil` when the download does not run.
    /// Reports never go backwards; this does, when the download has to begin anew.
    package var presentProgress: TransferProgress? {
        let (countNow, content) = progress.withLock { ($0.countNow, $0.content) }
        return countNow().map { TransferProgress(total: $0, expected: content?.total ?? -1) }
    }

    /// The checkpoint of the ``partialFile``.
    public var checkpoint: URL? { progress.withLock { $0.checkpoint } }

    /// Why the same operation would start over later, with `count` bytes in the ``partialFile``; `nil`: it
    /// would go on, as far as is known now.
    package func obstacle(toContinuing count: Int64) -> RestartReason? {
        let (found, lost) = progress.withLock { ($0.content, $0.lost) }
        guard var content = found else { return lost }
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

    /// Whether a request with another query, or as another user, would go on with the ``partialFile`` (P17).
    package var goesOnByOtherLink: Bool {
        guard case .strongETag = progress.withLock({ $0.content?.validator }) else { return false }
        return true
    }

    // MARK: - Configuration

    /// The name of the complete file.
    public var destination: URL? {
        get { settings.withLock { $0.options.destination } }
        set { set { $0.options.destination = newValue } }
    }

    /// Whether an existing file is replaced, when the new one is complete; if not, it is an error,
    /// ``DownloadError/destinationExists(_:)``.
    public var replacesFile: Bool {
        get { settings.withLock { $0.options.replacesFile } }
        set { set { $0.options.replacesFile = newValue } }
    }

    /// Whether an existing file is fetched, and replaced, only if the server has another one. If the server
    /// has the same file, nothing is fetched, and ``isUpToDate`` is set.
    ///
    /// The server is asked by the entity tag that it sent with the file, without one by its `Last-Modified`,
    /// if that is strong (RFC 9110 §8.8.2.2). A 304 that names another tag, date or length is not believed.
    /// Both are kept in an extended attribute of the file, with its length and the time of its last change.
    /// The file is fetched without a condition where nothing proves that it is still what the server sent: it
    /// was changed here since, another program, user or request made it, its server was verified in another
    /// way, others may write it, the file system keeps no attributes, or it does not have the
    /// ``expectedDigests``.
    public var downloadsOnlyIfChanged: Bool {
        get { settings.withLock { $0.options.downloadsOnlyIfChanged } }
        set { set { $0.options.downloadsOnlyIfChanged = newValue } }
    }

    /// Whether no file may have this name, since partial files and checkpoints have such:
    /// ``DownloadError/reservedName(_:)``.
    package static func isReserved(_ name: String) -> Bool { FileName.isReserved(name) }

    /// Whether an existing file that another program began is copied and continued, where no earlier operation left
    /// anything and there are ``expectedDigests``, which decide in the end. It stays as it is until the new one is
    /// complete; if it turns out not to be the beginning, it is an error, ``DownloadError/destinationExists(_:)``.
    package var continuesFile: Bool {
        get { settings.withLock { $0.options.continuesFile } }
        set { set { $0.options.continuesFile = newValue } }
    }

    /// Gives a complete file its mode, and removes the checkpoint beside it, where a process was killed before it
    /// had done so.
    package static func removeLeftovers(beside file: URL) {
        // What stays there does no harm.
        try? DownloadPlace(file, watch: nil).check(replacing: true)
    }

    /// Whether the request's `User-Agent` is the program's own, with its version: one that the caller did not
    /// choose counts for none, so that a later version goes on with the bytes of this one.
    package var sendsOwnUserAgent: Bool {
        get { settings.withLock { $0.options.sendsOwnUserAgent } }
        set { set { $0.options.sendsOwnUserAgent = newValue } }
    }

    /// Whether bytes that an earlier operation or process left are thrown away, before anything is asked.
    public var startsOver: Bool {
        get { settings.withLock { $0.options.startsOver } }
        set { set { $0.options.startsOver = newValue } }
    }

    /// The digests that the file has to have, all of them. A file that has another digest is fetched once
    /// more, and then the operation fails with ``DownloadError/digestMismatch(_:expected:actual:)``, and
    /// keeps nothing of what came.
    public var expectedDigests: [FileDigest] {
        get { settings.withLock { $0.options.expectedDigests } }
        set { set { $0.options.expectedDigests = newValue } }
    }

    /// Further digests to compute, for ``DownloadedFile/digests``.
    public var wantedDigests: [DigestAlgorithm] {
        get { settings.withLock { $0.options.wantedAlgorithms } }
        set { set { $0.options.wantedAlgorithms = newValue } }
    }

    /// The treatment of bytes that a server gives no strong validator for; they are discarded unless set.
    public var unprovenBytes: UnprovenBytes {
        get { settings.withLock { $0.options.overlap }.map { .compare(overlap: $0) } ?? .discard }
        set { set { $0.options.overlap = newValue.overlap } }
    }

    /// Called when the server answers 401, 403, 404 or 410: signed addresses expire. Answers with the address
    /// that the same file has now, or `nil`, and then the response is the result. Called again only after
    /// bytes came.
    ///
    /// `Authorization`, `Cookie`, `Proxy-Authorization` and `Host` do not go to another origin. An http
    /// address in the place of an https one is an error.
    ///
    /// To be set before the operation is in a queue: later it traps.
    public func setRefreshURL(@_inheritActorContext _ block: URLRefresher?) {
        set { $0.refreshURL = block }
    }

    /// See ``DownloadPlan/willFinish``: how the journal of a batch hears of a file before it has its name.
    var willFinish: DownloadPlan.WillFinish? {
        get { settings.withLock { $0.willFinish } }
        set { set { $0.willFinish = newValue } }
    }

    /// Moves the file before the operation ends. The place that it returns is the `responseObject`.
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

    /// Ends the operation as `cancel()` does, which keeps what came.
    ///
    /// - Parameter keepingPartialFile: `false` removes the partial file of a running operation, with what an
    ///   earlier one left.
    public func cancel(keepingPartialFile: Bool) {
        keepsPartialFile = keepingPartialFile
        settings.withLock { $0.discardsWhenCancelled = false }
        cancel()
    }

    /// See ``ConnectionOperation/cancel()``. What came is kept.
    open override func cancel() {
        if discardsWhenCancelled, !isCancelled, !isFinished { keepsPartialFile = false }
        super.cancel()
    }

    // MARK: - HTTPRequestOperation

    override class var ownKind: ObjectIdentifier { ObjectIdentifier(DownloadOperation.self) }

    /// No archive has the options that only `opget` sets: its checkpoints are enough.
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
        state.withLock { $0.results.take((file, nil)) }
    }

    override func evaluate(_ end: ExchangeEnd) -> (object: (any Sendable)?, error: (any Error)?) {
        if end.error == nil, isUpToDate { return (destination, nil) }
        if end.error == nil, response?.statusCode == 304, progress.withLock({ $0.isChangedMeanwhile }),
            let destination
        {
            return (nil, DownloadError.destinationExists(destination))
        }
        guard let downloadedFile, end.error == nil else { return super.evaluate(end) }
        switch progress.withLock({ $0.move }) {
        case .done(.success(let file)): return (file, nil)
        case .done(.failure(let error)): return (nil, error)
        case .notBegun, .begun: return (downloadedFile.file, nil)
        }
    }

    override func schedule(_ end: ExchangeEnd, atOnce: Caller, _ work: @escaping @Sendable () -> Void) {
        guard end.error == nil, !isCancelled, let file = downloadedFile?.file, let mover else {
            return super.schedule(end, atOnce: atOnce, work)
        }
        let before = progress.withLock { progress in
            defer { if case .notBegun = progress.move { progress.move = .begun } }
            return progress.move
        }
        switch before {
        case .notBegun:
            exchangeLasts()
            mover(file) { result in
                self.progress.withLock { $0.move = .done(result) }
                Self.processingQueue.async(execute: work)
            }
        // The end is told again after a pause, and once more when the file is in its place.
        case .begun: return
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
        // The copy is no member of the batch.
        settings.willFinish = nil
        settings.mover = nil
        copy.set { [settings] in $0 = settings }
    }

    override func exchangeConfiguration(_ state: OperationState) -> ExchangeConfiguration {
        var configuration = super.exchangeConfiguration(state)
        let settings = settings.withLock { $0 }
        // HEAD has no body to save.
        guard state.request.httpMethod?.uppercased() != "HEAD" else { return configuration }
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
        return configuration
    }

    /// Refuses, by its head, what is no file (S32, S44), and what the response serializer would refuse: it
    /// must not reach the file.
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
    /// An operation of the kind that was archived: a ``DownloadOperation``, else an ``HTTPRequestOperation``.
    /// One of a class of your own is made by its `init(archive:)`.
    public func makeOperation() -> HTTPRequestOperation {
        download == nil ? HTTPRequestOperation(archive: self) : DownloadOperation(archive: self)
    }
}

extension URLRequest {
    /// The request without a `User-Agent` that the caller did not choose: that of the process, or, if
    /// `isOwn`, any.
    fileprivate func withoutUserAgent(_ isOwn: Bool) -> URLRequest {
        let name = "User-Agent"
        guard isOwn || value(forHTTPHeaderField: name) == DefaultHeaders.ofProcess[name] else { return self }
        var request = self
        request.setValue(nil, forHTTPHeaderField: name)
        return request
    }
}
