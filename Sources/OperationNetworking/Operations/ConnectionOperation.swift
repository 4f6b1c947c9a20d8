public import Dispatch
public import Foundation
public import FoundationNetworking
internal import OperationNetworkingSystem

/// An HTTP request as an `Operation` that delivers bytes. ``HTTPRequestOperation`` turns them into objects.
///
/// ```swift
/// let pieces = operation.bodyPieces()
/// queue.addOperation(operation)
/// for try await piece in pieces { hash.update(data: piece) }
/// ```
///
/// Add it to an `OperationQueue`, or call `start()`. Every member can be used from any thread. Set files,
/// streams, limits and ``TransferSettings`` before the operation is in a queue; setting them later is a
/// programming error and traps. In an `OperationQueue` that is not a ``TransferQueue``, they can be set until
/// the queue has started the operation. Completion, progress, redirect and challenge closures and
/// ``completionQueue`` can also be set later.
///
/// An operation ends in this order: the last progress; the results are final; `isFinished`; then, on
/// ``completionQueue``, the `operationDidFinish` notification, the callbacks, `completionBlock`. Operations
/// that depend on this one therefore see its results. All closures are released after the last callback, or
/// at `isFinished` if there is no callback.
///
/// A closure written in main-actor code is called on the main queue, whatever ``completionQueue`` is, and may
/// use main-actor state; a closure of another actor is called on that actor. The order of the callbacks stays
/// the same.
///
/// If the body goes to a file or a stream, the operation requests it uncompressed, and over HTTP/1.1 unless
/// the server supports only HTTP/2. Otherwise it accepts gzip, deflate, br, zstd and HTTP/2. A compressed body cannot
/// be resumed. To make a body in memory resumable, set `Accept-Encoding: identity` on the request.
open class ConnectionOperation: Operation, @unchecked Sendable {
    // @unchecked: every stored property is an immutable Sendable; what changes lives in `state`.

    /// Called with the progress: the bytes since the last call, the bytes so far, and the bytes expected, -1 if that
    /// is unknown. In a variable of this type, write `@MainActor` in the closure: see
    /// ``HTTPRequestOperation/SuccessHandler``.
    public typealias ProgressHandler =
        @isolated(any) @Sendable (_ bytes: Int, _ total: Int64, _ expected: Int64) -> Void

    /// Decides about a redirect. Receives the request that would follow and the redirect itself; returns that
    /// request, another one, or `nil` to use the redirect as the response.
    public typealias RedirectHandler =
        @isolated(any) @Sendable (
            _ operation: ConnectionOperation, _ request: URLRequest, _ redirect: HTTPURLResponse
        ) -> URLRequest?

    /// Decides about a redirect as a `RedirectHandler` does, on any thread at any time.
    typealias DeferredRedirectHandler =
        @Sendable (
            ConnectionOperation, URLRequest, HTTPURLResponse,
            _ answer: @escaping @Sendable (URLRequest?) -> Void
        ) -> Void

    /// Returns the callback that receives a piece of a body. Calling `done` requests the next piece.
    typealias PieceHandler = @Sendable (_ piece: Data, _ done: @escaping @Sendable () -> Void) -> Callback

    /// Decides when to receive the body of a response: call `receive` to start.
    typealias ResponseHandler =
        @Sendable (_ response: HTTPURLResponse, _ receive: @escaping @Sendable () -> Void) -> Void

    let state: Locked<OperationState>

    /// - Parameter request: must have an http or https URL; otherwise the operation fails with
    ///   `URLError.badURL` or `.unsupportedURL`. `timeoutInterval` is the number of seconds without a byte
    ///   sent or received; 0 means no timeout.
    public required init(request: URLRequest) {
        state = Locked(OperationState(request: request))
        super.init()
    }

    deinit {
        // Otherwise a transfer that is held during a pause would be held forever.
        guard let exchange = state.withLock({ $0.exchange }) else { return }
        NetworkThread.shared.perform { exchange.drop($0) }
    }

    @available(*, unavailable, message: "An operation needs a request")
    public override init() {
        preconditionFailure("An operation needs a request")
    }

    // MARK: - Results

    /// The request, as given. Redirects, pauses and resumptions do not change it.
    public var request: URLRequest { state.withLock { $0.configuration.request } }

    /// The request that is being sent, after redirects.
    var currentRequest: URLRequest { state.withLock { $0.followed ?? $0.request } }

    /// The head of the last response that was not a redirect to be followed.
    public var response: HTTPURLResponse? { receivedResponse?.value }

    /// As ``response``; the `HTTPURLResponse` is created on demand.
    var receivedResponse: ReceivedResponse? { state.withLock { $0.results.response } }

    /// Why the operation failed; final before `isFinished`. A transport failure is a `URLError`; see
    /// `URLError.curlCode`. A cancelled operation has `URLError.cancelled`.
    public var error: (any Error)? { state.withLock { $0.results.error } }

    /// A classification of ``error``: whether it is a cancellation, its HTTP status, whether it is temporary.
    public var failure: RequestFailure? { error.map(RequestFailure.init) }

    /// The body; final before `isFinished`. After a failed transfer, the bytes received so far. `nil` when a
    /// successful response went to a file or stream. The body of an error response is always kept here,
    /// truncated to ``maximumResponseDataLength``, or to 64 KiB if successful bodies go to a file or stream.
    public var responseData: Data? { state.withLock { $0.results.responseData } }

    /// The sum of ``metricsOfEachTransfer``; `nil` until the operation has finished.
    public var metrics: TransferMetrics? { state.withLock { $0.results.metrics?.sum } }

    /// The cost of each transfer and the duration of each of its phases, in order: one for the request, and
    /// one for each redirect, resumption and further attempt. Limited to the last 100. Empty until the
    /// operation has finished.
    public var metricsOfEachTransfer: [TransferMetrics] {
        state.withLock { $0.results.metrics?.transfers ?? [] }
    }

    /// The encoding named by the response's `charset`. UTF-8 if it names none, an unknown one, or one that
    /// Foundation has no constant for; ``responseString`` decodes the last kind as well.
    public var responseStringEncoding: String.Encoding {
        ResponseText(data: nil, response: receivedResponse).encoding
    }

    /// ``responseData`` as text, in any character set that iconv(3) supports; `nil` if it is not valid text
    /// in the response's character set.
    public var responseString: String? {
        let (data, response) = state.withLock { ($0.results.responseData, $0.results.response) }
        return ResponseText(data: data, response: response).string
    }

    /// The library class that this operation is an instance of, or inherits from.
    class var ownKind: ObjectIdentifier { ObjectIdentifier(ConnectionOperation.self) }

    /// The part of an archive that only a download has; `nil` for other operations.
    var archivedDownload: DownloadArchive? { nil }

    /// Whether an archive can represent this operation completely.
    var isArchivable: Bool { true }

    // MARK: - Configuration

    /// The stream of the request's body. It is read once: a redirect that needs it again is an error. The
    /// body's length is taken from the `Content-Length` field; without that field the body is sent in chunks.
    /// See ``setBodyStreamProvider(_:)``, and ``bodySource``, which is more general.
    ///
    /// A stream that is closed, or in use by another operation, fails the operation with a ``StreamError``.
    public var inputStream: InputStream? {
        get { request.httpBodyStream }
        set { configure { $0.setBody { $0.httpBodyStream = newValue } } }
    }

    /// The request's body: a file, a form, data, or a stream. See ``BodySource``.
    ///
    /// Setting it sets the request's `Content-Length` and replaces ``inputStream``.
    public var bodySource: BodySource? {
        get { request.bodySource }
        set { configure { $0.setBody { $0.bodySource = newValue } } }
    }

    /// The stream that receives the body of a successful (2xx) response, instead of memory. The operation
    /// opens, writes and closes it on a dedicated queue. A slow stream slows the transfer down.
    ///
    /// From the first byte until the operation finishes, pauses included, the operation owns the stream: no
    /// other code may touch it. A stream that is in use by another operation, or is closed, fails the
    /// operation with a ``StreamError``.
    ///
    /// Setting it resets ``outputFile``.
    public var outputStream: OutputStream? {
        get { state.withLock { $0.configuration.outputStream } }
        set { configure { $0.configuration.outputStream = newValue } }
    }

    /// The file that receives the body of a successful (2xx) response, instead of memory. It is created or
    /// truncated when such a body begins. It may be a device or a FIFO.
    ///
    /// From then until it finishes, pauses included, the operation owns a regular file: another operation of
    /// this process that would write to it, under this name or another, fails with
    /// ``OutputFileError/inUse(_:)`` and changes nothing. A URL that is not a file URL on this machine fails
    /// with ``OutputFileError/notAFileURL(_:)`` before anything is sent.
    ///
    /// The names of partial files (`.part`, `.part.resume`, `.part.resume.new`) fail with
    /// ``OutputFileError/reservedName(_:)``.
    ///
    /// Setting it resets ``outputStream``.
    public var outputFile: URL? {
        get { state.withLock { $0.configuration.outputFile } }
        set { configure { $0.configuration.outputFile = newValue } }
    }

    /// The maximum number of bytes of a body kept in memory. A longer body fails with
    /// `URLError.dataLengthExceedsMaximum`. Defaults to 256 MiB; `.max` means no limit. Bodies that go to
    /// ``outputFile`` or ``outputStream`` can have any length.
    public var maximumResponseDataLength: Int {
        get { state.withLock { Int($0.configuration.memoryLimit) } }
        set { configure { $0.configuration.memoryLimit = Int64(newValue) } }
    }

    /// The maximum length of a body in bytes, after content decoding. A longer body fails with
    /// `URLError.dataLengthExceedsMaximum`. Defaults to 256 MiB: a few kilobytes can be crafted to decode to
    /// gigabytes.
    public var maximumDecodedLength: Int64 {
        get { state.withLock { $0.configuration.maximumDecodedLength } }
        set { configure { $0.configuration.maximumDecodedLength = newValue } }
    }

    /// The run loop modes of the network thread in which transfers make progress, in addition to the common
    /// modes.
    public var runLoopModes: Set<RunLoop.Mode> {
        get { state.withLock { $0.uncommon.runLoopModes } ?? [.common] }
        set { configure { $0.uncommon.runLoopModes = newValue } }
    }

    /// The queue of callbacks and notifications; `nil` (the default) is the main queue. Read when a callback
    /// is due.
    ///
    /// A process that never runs its main queue must set this if the operation has closures or observers, or
    /// is a subclass that overrides the hooks: such an operation releases its closures, and counts as
    /// finished in its batches, only when the last callback has returned. An operation without any of these
    /// needs no queue.
    public var completionQueue: DispatchQueue? {
        get { state.withLock { $0.completionQueue } }
        set {
            state.replace(newValue) { swap(&$0.completionQueue, &$1) }
            if let newValue { deliver(on: newValue) }
        }
    }

    /// The group that each callback enters while it waits for its queue and runs. Notifications alone do not
    /// enter it. It is empty before the first callback and between callbacks; an ``OperationBatch`` waits for all.
    public var completionGroup: DispatchGroup? {
        get { state.withLock { $0.completionGroup } }
        set { state.replace(newValue) { swap(&$0.completionGroup, &$1) } }
    }

    /// Custom values for your code. The library does not use them.
    public var userInfo: [String: any Sendable] {
        get { state.withLock { $0.uncommon.userInfo } }
        set { state.replace(newValue) { swap(&$0.uncommon.userInfo, &$1) } }
    }

    /// Called on ``completionQueue`` as the last callback, then released. A block that is set after the
    /// operation has finished is still called.
    open override var completionBlock: (@Sendable () -> Void)? {
        get { state.withLock { $0.closures.completionBlock } }
        set {
            state.replace(newValue) { swap(&$0.closures.completionBlock, &$1) }
            if newValue != nil, isFinished { deliverLateCompletion() }
        }
    }

    /// Sets the closure that reports download progress: on ``completionQueue``, at most 20 times a second,
    /// and once with the final value. The total includes the bytes received before a pause, and never
    /// decreases while the transfer runs. A closure set after completion has been delivered is discarded.
    public func setDownloadProgress(@_inheritActorContext _ block: ProgressHandler?) {
        setClosure(block.map(Self.progressCall)) { swap(&$0.downloadProgress, &$1) }
    }

    /// Sets the closure that reports upload progress: on ``completionQueue``, at most 20 times a second, and
    /// once with the final value.
    public func setUploadProgress(@_inheritActorContext _ block: ProgressHandler?) {
        setClosure(block.map(Self.progressCall)) { swap(&$0.uploadProgress, &$1) }
    }

    private static func progressCall(_ handler: @escaping ProgressHandler) -> OperationState.ProgressCall {
        { _, report in Callback.here(handler, report.bytes, report.total, report.expected) }
    }

    /// Sets a closure that is called with ``uploadProgress`` or ``downloadProgress``.
    func setProgress(
        _ direction: ProgressDirection,
        _ block: @escaping @isolated(any) @Sendable (Progress) -> Void
    ) {
        // Created now: bytes are counted from here on.
        _ = direction == .download ? downloadProgress : uploadProgress
        let call: OperationState.ProgressCall = { operation, _ in
            // A completion that arrived in between is delivered in the same turn, before the scheduled update
            // of the last value.
            operation.state.withLock { $0.outlets }?.publish()
            return Callback.here(
                block,
                direction == .download ? operation.downloadProgress : operation.uploadProgress
            )
        }
        setClosure(call) { closures, call in
            switch direction {
            case .download: swap(&closures.downloadProgress, &call)
            case .upload: swap(&closures.uploadProgress, &call)
            }
        }
    }

    /// Sets the closure that decides about each redirect that ``TransferConfigurable/redirectPolicy``
    /// follows. It is called on a queue of the library, or on its actor. Without it, the policy decides
    /// alone.
    ///
    /// If the redirect leads to another origin, the proposed request carries no `Authorization`, `Cookie`,
    /// `Proxy-Authorization` or `Host`, nor any field that the policy names. The request that the closure
    /// returns is sent, unless it goes from https to http: see ``RedirectPolicy/allowsDowngrade``.
    public func setRedirect(@_inheritActorContext _ block: RedirectHandler?) {
        guard let block else { return setDeferredRedirectHandler(nil) }
        setDeferredRedirectHandler { operation, request, response, answer in
            Callback(in: block.isolation) {
                answer(callAssumingIsolation(of: block, operation, request, response))
            }
            .perform(on: Self.processingQueue)
        }
    }

    func setDeferredRedirectHandler(_ handler: DeferredRedirectHandler?) {
        setClosure(handler) { swap(&$0.redirect, &$1) }
    }

    /// Sets a closure that receives the head of each response that is not a redirect to be followed. The body
    /// is not received until the closure has called `receive`, on any thread. Set it before the operation is
    /// in a queue.
    func setResponseHandler(_ handler: ResponseHandler?) {
        setClosure(handler) { swap(&$0.response, &$1) }
    }

    /// Sets a closure that makes a callback of each piece of the body of a successful response. Set it before
    /// the operation is in a queue.
    func setPieceHandler(_ handler: PieceHandler?) {
        setClosure(handler) { swap(&$0.piece, &$1) }
    }

    /// Sets the closure that provides a new body stream when the body from ``inputStream`` has to be sent
    /// again: after a redirect that keeps the method, after a pause, over another connection, or by a copy
    /// made before the last callback. It is called on any thread and returns a new stream of the same bytes
    /// at once, so it cannot use actor-isolated state. Set it before the operation is added to a queue; setting
    /// it later traps.
    public func setBodyStreamProvider(_ block: (@Sendable () -> InputStream?)?) {
        configure { $0.closures.bodyStreamProvider = block }
    }

    // MARK: - Operation

    /// The class, the request and the state. Secrets in the URL are replaced by `REDACTED`.
    open override var description: String {
        let (phase, isCancelled, status) = state.withLock {
            ($0.machine.phase, $0.machine.isCancelled, $0.results.response?.statusCode)
        }
        let address = request.url?.publicText ?? "no URL"
        let target = "\(request.httpMethod ?? "GET") \(address)"
        let response = status.map { ", response: \($0)" } ?? ""
        return "<\(type(of: self)): \(target), state: \(phase), cancelled: \(isCancelled)\(response)>"
    }

    public override var isAsynchronous: Bool { true }

    public override var isReady: Bool {
        let mayStart = state.withLock { $0.readReadiness() }
        let isReady = super.isReady && mayStart
        if !isReady { state.withLock { $0.place.holdBack() } }
        return isReady
    }

    public override var isExecuting: Bool { state.withLock { $0.machine.phase.isExecuting } }

    public override var isFinished: Bool { state.withLock { $0.machine.phase == .finished } }

    /// Whether `cancel()` was called before the operation finished.
    public override var isCancelled: Bool { state.withLock { $0.machine.isCancelled } }

    /// Whether `pause()` was called, without `resume()` or `cancel()` since.
    public var isPaused: Bool { state.withLock { $0.machine.isPaused } }

    public override func start() {
        let (known, isReady) = state.withLock { ($0.place.queue, $0.machine.phase == .ready) }
        let queue = known ?? OperationQueue.current
        let readings = isReady ? StartReadings(readingFor: self) : StartReadings()
        let priority = TransferPriority(queuePriority)
        let effect = apply { state in
            state.priority = priority
            state.place.enter(queue)
            state.place.start()
            // An operation that was paused in between reads them when it resumes.
            state.readings = state.machine.phase == .ready ? readings : StartReadings()
            // Read under the lock: an operation that starts to wait for the same host later finds this one running.
            return state.machine.start(isHeldBack: QueueSlots.holdsBack(queue) { state.host })
        }
        // The operation was cancelled while it was in no queue.
        if effect == .none, state.withLock({ $0.machine.phase == .finished && $0.place.takeOwedEnd() }) {
            notifyFoundationOfEnd()
        }
    }

    /// Stops the transfer and keeps the bytes received so far. A queued operation is not started until it is
    /// resumed.
    ///
    /// Bytes that a stream, a FIFO or a terminal has accepted cannot be taken back. If the server sent no
    /// strong validator, or the request cannot be resumed, the connection stays open while the operation is
    /// paused: nothing is read from it, and `timeoutInterval` does not count. If the server closes it, the
    /// operation fails with ``ResumeError/representationChanged`` when it is resumed.
    ///
    /// The operation stays in its queue, which may start another one in its place: see ``TransferQueue``.
    /// Pausing has no effect on an operation that is already paused, was cancelled, or has finished.
    public func pause() {
        apply { $0.machine.pause() }
    }

    /// Resumes a paused operation. If its queue never started it, it waits for its turn. If its queue had
    /// started it, it is the next to resume when the queue's limit allows. Without a queue, or on the main
    /// queue, it resumes at once.
    public func resume() {
        apply { $0.machine.resume() }
    }

    /// Cancels the operation, which then fails with `URLError.cancelled`. An operation waiting in a queue
    /// finishes when the queue starts it. An operation in no queue finishes at once, and may still be added
    /// to a queue. (If its `isReady` has been read, or it has dependencies, it counts as being in a queue.)
    open override func cancel() {
        apply { $0.machine.cancel(isAlone: !$0.place.mayBeInQueue) }
    }

    /// Blocks until the operation has finished, however it ends: in a queue, after `start()`, or by a
    /// ``cancel()`` outside any queue, which Foundation is not notified of.
    @available(*, noasync)
    public override func waitUntilFinished() {
        let end = DispatchSemaphore(value: 0)
        whenFinished { end.signal() }
        end.wait()
    }

    /// Adds a dependency. Ignored if this operation is cancelled, since it waits for nothing, or if
    /// `operation` is from an archive and had finished.
    open override func addDependency(_ operation: Operation) {
        if !Self.hadEnded(operation) { super.addDependency(operation) }
        if isCancelled { ignoreBlockers() }
    }

    // MARK: - For subclasses

    /// Called on ``completionQueue`` with the head of each response that is not a redirect to be followed.
    open func didReceive(_ response: HTTPURLResponse) {}

    /// Called on ``completionQueue`` for each piece of the body of a successful response, in order, if
    /// ``receivesPieces`` is set. A slow queue slows the transfer down. If the body starts over, so do the
    /// pieces, after another call of ``didReceive(_:)-(HTTPURLResponse)``.
    open func didReceive(_ piece: Data) {}

    /// Whether ``didReceive(_:)-(Data)`` is called, which requires a copy of every piece. Defaults to
    /// `false`.
    open class var receivesPieces: Bool { false }

    /// Called on ``completionQueue`` when the operation has finished or failed, before its completion
    /// closures.
    open func didFinish() {}

    /// Evaluates the response, on a processing queue, before the operation finishes.
    func evaluate(_ end: ExchangeEnd) -> EndEvaluation.Result {
        EndEvaluation.Result(error: end.error)
    }

    /// Calls and releases the completion handlers. Called on the completion queue, once.
    /// - Returns: the callback that has to run on another executor, if any.
    func callResult() -> Callback? { nil }

    /// Calls the completion closure that follows these handlers, once.
    func callCompletion() -> Callback? { nil }

    /// Releases what a library subclass keeps for the transfer.
    func releaseClosures() {}

    /// Completes the configuration of the exchange.
    func complete(_ configuration: inout ExchangeConfiguration, _ state: OperationState) {
        state.complete(&configuration)
    }

    /// Provides the file's new URL after a response that says that the file is gone from the old one. Called
    /// only if the exchange's configuration says so.
    func freshURL(after response: HTTPURLResponse, decide: @escaping @Sendable (URL?) -> Void) {
        decide(nil)
    }

    /// Whether the response was put to use in a way that cannot be taken back, so that a cancel comes too late.
    var isBeyondCancellation: Bool { false }

    /// Schedules `work`, which evaluates the response. Calls `atOnce` if that takes only a moment and runs no
    /// code of the caller's.
    func schedule(_ end: ExchangeEnd, atOnce: Caller, _ work: @escaping @Sendable () -> Void) {
        atOnce(work)
    }

    /// Copies the settings of this operation to `copy`.
    func copySettings(to copy: ConnectionOperation) {
        let original = state.withLock { $0 }
        let (observers, challenge) = (original.observersOfCopy, original.challengeOfCopy)
        copy.configure { state in
            state.copyConfiguration(original)
            state.closures.copy(original.closures)
            state.closures.challenge = challenge
            state.closures.observers = observers + state.closures.observers
            state.manager = original.manager
        }
        copy.name = name
        copy.queuePriority = queuePriority
        copy.qualityOfService = qualityOfService
    }

    /// The serializer to store in an archive; `nil` if there is none that can be stored.
    var archivedSerializer: ResponseSerializerArchive? { nil }

    /// Restores the serializer from an archive. A finished operation makes its response object again.
    func restore(_ serializer: any ResponseSerializer) {}

    /// Restores the download's part of an archive. Other operations ignore it.
    func restore(_ download: DownloadArchive) {}
}
