public import Dispatch
public import Foundation
public import FoundationNetworking
internal import OperationNetworkingSystem

/// An HTTP request as an `Operation` that delivers bytes. ``HTTPRequestOperation`` turns them into objects.
///
/// Add it to an `OperationQueue`, or call `start()`. Everything may be called from any thread. Set files,
/// streams, limits and ``TransferSettings`` before it is in a queue: later that is a mistake, and traps; in an
/// `OperationQueue` that is no ``TransferQueue``, once the queue has started the operation.
/// Completion, progress, redirect and challenge closures and ``completionQueue`` may be set later, too.
///
/// An operation ends in this order: the last progress; the results are final; `isFinished`; then, on
/// ``completionQueue``, the `operationDidFinish` notification, the callbacks, `completionBlock`. Operations
/// that depend on this one therefore see its results. Every closure is released after the last callback, or
/// at `isFinished` if there is no callback.
///
/// A closure that is written in main-actor code is called on the main queue, whatever ``completionQueue`` is,
/// and may use what belongs to the main actor; a closure of another actor is called on that actor. The order
/// of the callbacks stays the same.
///
/// If the body goes to a file or a stream, the operation asks for it uncompressed, and over HTTP/1.1 unless
/// the server has HTTP/2 only. Otherwise it accepts gzip, deflate and HTTP/2. A compressed body cannot be
/// resumed: a request that has `Accept-Encoding: identity` asks for a body in memory that can.
open class ConnectionOperation: Operation, @unchecked Sendable {
    // @unchecked: every stored property is an immutable Sendable; what changes lives in `state`.

    /// Told about progress: bytes since the last call, bytes altogether, and bytes expected, -1 if that is
    /// unknown.
    public typealias ProgressHandler =
        @isolated(any) @Sendable (_ bytes: Int, _ total: Int64, _ expected: Int64) -> Void

    /// Asked about a redirect: gets the request that would follow and the redirect itself; answers with that
    /// request, another one, or `nil` to take the redirect for the response.
    public typealias RedirectHandler =
        @isolated(any) @Sendable (
            _ operation: ConnectionOperation, _ request: URLRequest, _ redirect: HTTPURLResponse
        ) -> URLRequest?

    /// Answers a redirect as a `RedirectHandler` does, on any thread and at any time.
    typealias RedirectQuestion =
        @Sendable (
            ConnectionOperation, URLRequest, HTTPURLResponse,
            _ answer: @escaping @Sendable (URLRequest?) -> Void
        ) -> Void

    /// Returns the call that takes a piece of a body, and then `done`, which lets the next piece come.
    typealias PieceHandler = @Sendable (_ piece: Data, _ done: @escaping @Sendable () -> Void) -> Callback

    /// Asks whether the body of a response is to be received.
    typealias ResponseQuestion =
        @Sendable (_ response: HTTPURLResponse, _ receive: @escaping @Sendable () -> Void) -> Void

    let state: Locked<OperationState>

    /// - Parameter request: an http or https URL; the operation ends with `URLError.badURL` or
    ///   `.unsupportedURL` otherwise. `timeoutInterval` counts seconds since a byte last came or went; 0: for
    ///   ever.
    public required init(request: URLRequest) {
        state = Locked(OperationState(request: request))
        super.init()
    }

    deinit {
        // A transfer that is held during a pause would be held for ever.
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

    /// The same, with Foundation's form made on demand.
    var receivedResponse: ReceivedResponse? { state.withLock { $0.results.response } }

    /// Why the operation failed; final before `isFinished`. A transport failure is a `URLError`; see
    /// `URLError.curlCode`. A cancelled operation has `URLError.cancelled`.
    public var error: (any Error)? { state.withLock { $0.results.error } }

    /// The answers about ``error``: was it cancelled, which status, may it pass?
    public var failure: RequestFailure? { error.map(RequestFailure.init) }

    /// The body, final before `isFinished`; after a failed transfer, the bytes that came. `nil` when a
    /// successful response went to a file or stream. The body of an error response is always kept here, cut
    /// off at ``maximumResponseDataLength``, or at 64 KiB if successful bodies go to a file or stream.
    public var responseData: Data? { state.withLock { $0.results.responseData } }

    /// The sum of ``metricsOfEachTransfer``; `nil` until the operation has finished.
    public var metrics: TransferMetrics? { state.withLock { $0.results.metrics?.sum } }

    /// The cost of each transfer, and the duration of each of its phases, in order: one for the request, and
    /// one more for each redirect, resumption and attempt; the last 100. Empty until the operation has
    /// finished.
    public var metricsOfEachTransfer: [TransferMetrics] {
        state.withLock { $0.results.metrics?.transfers ?? [] }
    }

    /// The encoding that the response's `charset` names; UTF-8 if it names none, one that is not known, or
    /// one that has no number in Foundation: ``responseString`` is decoded in that all the same.
    public var responseStringEncoding: String.Encoding {
        ResponseText(data: nil, response: receivedResponse).encoding
    }

    /// ``responseData`` as text, in any character set that iconv(3) knows; `nil` when it is no text in the
    /// one that the response names.
    public var responseString: String? {
        let (data, response) = state.withLock { ($0.results.responseData, $0.results.response) }
        return ResponseText(data: data, response: response).string
    }

    /// The class of ours that the operation is of, or of a subclass of.
    class var ownKind: ObjectIdentifier { ObjectIdentifier(ConnectionOperation.self) }

    /// The part of an archive that only a download has, made by its class; `nil`: this is none.
    var archivedDownload: DownloadArchive? { nil }

    /// Whether an archive says all there is to say.
    var isArchivable: Bool { true }

    // MARK: - Configuration

    /// The stream of the request's body, read once: a redirect that would need it again is an error. Its
    /// length is taken from the `Content-Length` field; without one it is sent in chunks. See
    /// ``setBodyStreamProvider(_:)``, and ``bodySource``, which does more.
    ///
    /// A stream that is closed, or that another operation uses, is a ``StreamError``.
    public var inputStream: InputStream? {
        get { request.httpBodyStream }
        set { configure { $0.setBody { $0.httpBodyStream = newValue } } }
    }

    /// The request's body: a file, a form, data, a stream. See ``BodySource``.
    ///
    /// Setting it sets the request's `Content-Length`, and replaces ``inputStream``.
    public var bodySource: BodySource? {
        get { request.bodySource }
        set { configure { $0.setBody { $0.bodySource = newValue } } }
    }

    /// The stream to which the body of a successful (2xx) response goes, instead of memory. It is opened,
    /// written and closed by the operation, on a queue of its own; a stream that does not keep up slows the
    /// transfer down.
    ///
    /// From the first byte to the end, pauses included, the stream is the operation's: no other code may
    /// touch it. One that another operation uses, or that is closed, is a ``StreamError``.
    ///
    /// Setting it resets ``outputFile``.
    public var outputStream: OutputStream? {
        get { state.withLock { $0.configuration.outputStream } }
        set { configure { $0.configuration.outputStream = newValue } }
    }

    /// The file that the body of a successful (2xx) response goes to, instead of memory. It is made, or
    /// emptied, when such a body begins. It may be a device or a FIFO.
    ///
    /// A regular file is the operation's from then to its end, pauses included: another operation of this
    /// process that is to write it, under this name or another, fails with ``OutputFileError/inUse(_:)``, and
    /// changes nothing. A URL that names no file on this machine is ``OutputFileError/notAFileURL(_:)``,
    /// before anything is sent.
    ///
    /// Names of partial files (`.part`, `.part.resume`, `.part.resume.new`) are an error,
    /// ``OutputFileError/reservedName(_:)``.
    ///
    /// Setting it resets ``outputStream``.
    public var outputFile: URL? {
        get { state.withLock { $0.configuration.outputFile } }
        set { configure { $0.configuration.outputFile = newValue } }
    }

    /// The most bytes of a body that are kept in memory; a longer one is an error,
    /// `URLError.dataLengthExceedsMaximum`. 256 MiB unless set; `.max`: any number. What goes to
    /// ``outputFile`` or ``outputStream`` may have any length.
    public var maximumResponseDataLength: Int {
        get { state.withLock { Int($0.configuration.memoryLimit) } }
        set { configure { $0.configuration.memoryLimit = Int64(newValue) } }
    }

    /// The limit of a body's length in bytes after gzip or deflate was undone; a longer one is an error,
    /// `URLError.dataLengthExceedsMaximum`. 256 MiB unless set: a few kilobytes can be made to decode to
    /// gigabytes.
    public var maximumDecodedLength: Int64 {
        get { state.withLock { $0.configuration.maximumDecodedLength } }
        set { configure { $0.configuration.maximumDecodedLength = newValue } }
    }

    /// Transfers move in the common modes of the network thread's run loop, and in these.
    public var runLoopModes: Set<RunLoop.Mode> {
        get { state.withLock { $0.uncommon.runLoopModes } ?? [.common] }
        set { configure { $0.uncommon.runLoopModes = newValue } }
    }

    /// The queue of callbacks and notifications; `nil`: the main queue. Read when the callback is due.
    ///
    /// A process that never runs its main queue has to set this if the operation has closures or observers,
    /// or is of a subclass that overrides the hooks: such an operation releases its closures, and counts in
    /// its batches, when the last callback has returned. An operation without any of these needs no queue.
    public var completionQueue: DispatchQueue? {
        get { state.withLock { $0.completionQueue } }
        set {
            state.replace(newValue) { swap(&$0.completionQueue, &$1) }
            if let newValue { deliver(on: newValue) }
        }
    }

    /// The group that each callback enters while it waits for its queue and runs; not notifications alone.
    public var completionGroup: DispatchGroup? {
        get { state.withLock { $0.completionGroup } }
        set { state.replace(newValue) { swap(&$0.completionGroup, &$1) } }
    }

    /// Information of your own. Nothing here reads it.
    public var userInfo: [String: any Sendable] {
        get { state.withLock { $0.uncommon.userInfo } }
        set { state.replace(newValue) { swap(&$0.uncommon.userInfo, &$1) } }
    }

    /// Called on ``completionQueue`` as the last callback, and released then. Set after the end, it is called
    /// as if it had been there.
    open override var completionBlock: (@Sendable () -> Void)? {
        get { state.withLock { $0.closures.completionBlock } }
        set {
            state.replace(newValue) { swap(&$0.closures.completionBlock, &$1) }
            if newValue != nil, isFinished { deliverLateCompletion() }
        }
    }

    /// Called on ``completionQueue``, at most 20 times a second, and once with the last value. The total
    /// counts the bytes that came before a pause, and never goes backwards while the transfer runs. A closure
    /// that is set when the operation has told its end is not kept.
    public func setDownloadProgress(@_inheritActorContext _ block: ProgressHandler?) {
        setClosure(block.map(Self.progressCall)) { swap(&$0.downloadProgress, &$1) }
    }

    /// Called on ``completionQueue``, at most 20 times a second, and once with the last value.
    public func setUploadProgress(@_inheritActorContext _ block: ProgressHandler?) {
        setClosure(block.map(Self.progressCall)) { swap(&$0.uploadProgress, &$1) }
    }

    private static func progressCall(_ handler: @escaping ProgressHandler) -> OperationState.ProgressCall {
        { _, report in Callback.here(handler, report.bytes, report.total, report.expected) }
    }

    /// Sets a closure that is called with the ``uploadProgress`` or the ``downloadProgress``.
    func setProgress(
        _ direction: ProgressDirection,
        _ block: @escaping @isolated(any) @Sendable (Progress) -> Void
    ) {
        // Made now: bytes count from here on.
        _ = direction == .download ? downloadProgress : uploadProgress
        let call: OperationState.ProgressCall = { operation, _ in
            // An end that came meanwhile is told in the same turn, before what was scheduled to show the last value.
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

    /// Called on a queue of the library, or on its actor, for each redirect that
    /// ``TransferConfigurable/redirectPolicy`` follows. Without it, the policy decides alone.
    ///
    /// The offered request carries no `Authorization`, `Cookie`, `Proxy-Authorization`, `Host`, nor a field
    /// that the policy names, to another origin. The request that the closure returns is sent, but not from
    /// https to http: see ``RedirectPolicy/allowsDowngrade``.
    public func setRedirect(@_inheritActorContext _ block: RedirectHandler?) {
        guard let block else { return setRedirectQuestion(nil) }
        setRedirectQuestion { operation, request, response, answer in
            Callback(in: block.isolation) {
                answer(callAssumingIsolation(of: block, operation, request, response))
            }
            .perform(on: Self.processingQueue)
        }
    }

    func setRedirectQuestion(_ question: RedirectQuestion?) {
        setClosure(question) { swap(&$0.redirect, &$1) }
    }

    /// Sets a closure that is asked about the head of each response that is not a redirect to be followed. The
    /// body waits until it has called `receive`, on any thread. To be set before the operation is in a queue.
    func setResponseQuestion(_ question: ResponseQuestion?) {
        setClosure(question) { swap(&$0.response, &$1) }
    }

    /// Sets a closure that makes a call of each piece of the body of a successful response. To be set before the
    /// operation is in a queue.
    func setPieceHandler(_ handler: PieceHandler?) {
        setClosure(handler) { swap(&$0.piece, &$1) }
    }

    /// Called, on any thread, when the body that comes from ``inputStream`` has to be sent again: after a
    /// redirect that keeps the method, after a pause, over another connection, by a copy that was made before
    /// the last callback. Answers with a new stream of the same bytes, and at once: so it cannot use what
    /// belongs to an actor. To be set before the operation is in a queue: later it traps.
    public func setBodyStreamProvider(_ block: (@Sendable () -> InputStream?)?) {
        configure { $0.closures.bodyStreamProvider = block }
    }

    // MARK: - Operation

    /// The class, the request and the state. Secrets of the URL are replaced by `REDACTED`.
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
        let mayStart = state.withLock { $0.isAskedForReadiness() }
        let isReady = super.isReady && mayStart
        if !isReady { state.withLock { $0.place.holdBack() } }
        return isReady
    }

    public override var isExecuting: Bool { state.withLock { $0.machine.phase.isExecuting } }

    public override var isFinished: Bool { state.withLock { $0.machine.phase == .finished } }

    /// Whether `cancel()` was called before the operation had finished.
    public override var isCancelled: Bool { state.withLock { $0.machine.isCancelled } }

    /// Whether `pause()` was called, and `resume()` or `cancel()` not since.
    public var isPaused: Bool { state.withLock { $0.machine.isPaused } }

    public override func start() {
        let queue = state.withLock { $0.place.queue } ?? OperationQueue.current
        let readings = phase == .ready ? StartReadings(readingFor: self) : StartReadings()
        let priority = TransferPriority(queuePriority)
        apply { state in
            state.priority = priority
            state.place.enter(queue)
            state.place.start()
            // One that was paused meanwhile reads them when it goes on.
            state.readings = state.machine.phase == .ready ? readings : StartReadings()
            // Asked in the lock: one that rests from now on finds this operation running.
            return state.machine.start(isHeldBack: QueueSlots.holdsBack(queue) { state.host })
        }
        // It was cancelled when it was in no queue.
        if state.withLock({ $0.machine.phase == .finished && $0.place.tellEnd() }) { tellFoundationOfEnd() }
    }

    /// Stops the transfer and keeps what came; a queued operation is not started until it is resumed.
    ///
    /// Bytes that a stream, a FIFO or a terminal has taken cannot be taken back. If the server named no
    /// strong validator, or the request cannot be continued, the connection stays open while the operation is
    /// paused, nothing is read from it, and `timeoutInterval` does not count. If the server closes it
    /// meanwhile, the operation fails with ``ResumeError/representationChanged`` when it is resumed.
    ///
    /// The operation stays in its queue, which starts another one in its place: see ``TransferQueue``.
    /// Pausing has no effect on an operation that is paused already, was cancelled, or has finished.
    public func pause() {
        apply { $0.machine.pause() }
    }

    /// Lets a paused operation go on. If its queue never started it, it waits for its turn. If its queue had
    /// started it, it is the next to go on when the queue's limit allows it. Without a queue, or on the main
    /// queue, it goes on at once.
    public func resume() {
        apply { $0.machine.resume() }
    }

    /// Ends the operation with `URLError.cancelled`. An operation that waits in a queue finishes when the
    /// queue starts it. An operation in no queue finishes at once, and may still be added to a queue. (If its
    /// `isReady` was read, or it has dependencies, it counts as being in a queue.)
    open override func cancel() {
        apply { $0.machine.cancel(isAlone: !$0.place.mayBeInQueue) }
    }

    /// Waits until the operation has finished, however it ends: in a queue, after `start()`, or by a
    /// ``cancel()`` outside of any queue, of which Foundation is not told.
    @available(*, noasync)
    public override func waitUntilFinished() {
        let end = DispatchSemaphore(value: 0)
        whenFinished { end.signal() }
        end.wait()
    }

    /// Ignored by a cancelled operation, which waits for nothing; so is an archived one that had finished.
    open override func addDependency(_ operation: Operation) {
        if !Self.hadEnded(operation) { super.addDependency(operation) }
        if isCancelled { goPastWhatBlocks() }
    }

    // MARK: - For subclasses

    /// Called on ``completionQueue`` when the head of a response came that is not a redirect to be followed.
    open func didReceive(_ response: HTTPURLResponse) {}

    /// Called on ``completionQueue`` for each piece of the body of a successful response, in order, if
    /// ``receivesPieces`` is set. The transfer waits for a queue that does not keep up. When the body has to
    /// start again, so do the pieces; ``didReceive(_:)-(HTTPURLResponse)`` comes before.
    open func didReceive(_ piece: Data) {}

    /// Whether ``didReceive(_:)-(Data)`` is called: a copy of every piece is made for it.
    open class var receivesPieces: Bool { false }

    /// Called on ``completionQueue`` when the operation has finished, before its completion closures, whether
    /// or not it failed.
    open func didFinish() {}

    /// Makes sense of what came, on a processing queue, before the operation is finished.
    func evaluate(_ end: ExchangeEnd) -> (object: (any Sendable)?, error: (any Error)?) {
        (nil, end.error)
    }

    /// Calls, and lets go of, the closures for the result. On the completion queue, once.
    /// - Returns: the call that has to be made elsewhere, if there is one.
    func callResult() -> Callback? { nil }

    /// Makes the call of the closure that follows these, once.
    func callCompletion() -> Callback? { nil }

    /// Lets go of what a subclass of ours keeps for the transfer.
    func releaseClosures() {}

    /// The configuration of the exchange.
    func exchangeConfiguration(_ state: OperationState) -> ExchangeConfiguration {
        state.exchangeConfiguration
    }

    /// The file's new URL, for a response that says that it is gone from the old one; called only if the
    /// exchange's configuration says so.
    func freshURL(after response: HTTPURLResponse, decide: @escaping @Sendable (URL?) -> Void) {
        decide(nil)
    }

    /// Calls `work`, which makes sense of what came: by `atOnce`, if that takes a moment only and no code of
    /// the caller's.
    func schedule(_ end: ExchangeEnd, atOnce: Caller, _ work: @escaping @Sendable () -> Void) {
        atOnce(work)
    }

    /// Gives a new operation the settings of this one.
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

    /// The serializer to be kept in an archive; `nil`: there is none, or none that can be kept.
    var archivedSerializer: ResponseSerializerArchive? { nil }

    /// Takes the serializer of an archive. A finished operation makes its object again.
    func restore(_ serializer: any ResponseSerializer) {}

    /// Takes what is left of the operation that was archived, if this is a download.
    func restore(_ download: DownloadArchive) {}
}
