import Dispatch
import Foundation
import FoundationNetworking
internal import OperationNetworkingSystem

/// The mutable state of a `ConnectionOperation`, behind one lock.
///
/// One lock is cheaper than several, and lets several properties change together. A million operations may
/// wait in a queue, so small properties stand together to share padding.
struct OperationState {
    var configuration: ExchangeConfiguration
    /// The use of the request's body stream; `nil` if the body is not a stream.
    private var inputStreamUse: StreamUse?
    var completionQueue: DispatchQueue?
    var completionGroup: DispatchGroup?
    @Rare private var changed: Uncommon?
    var closures = Closures()
    /// The handlers of an ``HTTPRequestOperation``.
    var handlers = ResultHandlers()
    /// The manager that made the operation, or the one that it is a copy of.
    var manager: ManagerReference?

    // MARK: Progress

    var machine = OperationStateMachine()
    var hasBegun = false
    /// Whether the operation was added to a queue that ends its configuration.
    var isSealed = false
    /// Whether its notifications are posted under their public names; `false` for an operation that serves a
    /// task.
    var postsNotifications = true
    /// The object whose notifications are posted with the operation's.
    @Rare var representative: WeakRepresentative?
    /// Whether observers were notified of a start that has no end yet.
    var isRunning = false
    /// The operation's priority when `start()` was called.
    var priority = TransferPriority.normal
    /// Set from the start, or a cancellation after it, until completion has been delivered.
    var exchange: Exchange?
    var evaluation = EndEvaluation.notBegun
    /// The bytes that an earlier process received, until the exchange takes them.
    @Rare var earlierBody: EarlierBody?
    var readings = StartReadings()
    /// The error that the operation fails with when it starts.
    @Rare var refusal: (any Error)?
    /// The request of the last redirect that was followed.
    @Rare var followed: URLRequest?
    var place = QueuePlace()
    var outbox = Outbox()

    // MARK: The end

    var results = OperationResults()
    /// Whether completion counts for batches: there is no audience, or everything was delivered.
    var isDelivered = false
    /// Whether completion has been delivered.
    var isCompletionDelivered = false
    /// Called when the operation has finished, before any completion callback is delivered.
    var whenFinished: [@Sendable () -> Void] = []
    /// As ``whenFinished``, but called earlier if the operation was cancelled before its queue started it.
    @Rare var whenKnown: [@Sendable () -> Void]?
    /// The progress objects, once they are used.
    var outlets: ProgressOutlets?
    /// The memberships in batches, until completion counts for them.
    var memberships: [BatchMembership] = []

    init(request: URLRequest) {
        configuration = ExchangeConfiguration(request: request)
        noteStream()
    }

    /// Settings that most operations do not change.
    struct Uncommon {
        var requiresFile = false
        /// `nil` means the common modes.
        var runLoopModes: Set<RunLoop.Mode>?
        var userInfo: [String: any Sendable] = [:]
    }

    var uncommon: Uncommon {
        get { changed ?? Uncommon() }
        set { changed = newValue }
    }

    /// Replaces the body of the request.
    mutating func setBody(_ set: (inout URLRequest) -> Void) {
        set(&configuration.request)
        noteStream()
    }

    private mutating func noteStream() {
        inputStreamUse = request.httpBodyStream == nil ? nil : StreamUse()
    }

    /// Copies the configuration of the operation that this one is a copy of: everything but the request, and
    /// an output stream, which cannot be used twice.
    mutating func copyConfiguration(_ original: OperationState) {
        var copy = original.configuration
        copy.request = request
        switch copy.destination {
        case .stream, .pieces: copy.destination = configuration.destination
        case .memory, .file, .custom: break
        }
        configuration = copy
        // They share one stream, which the first of them to start gets.
        inputStreamUse = original.inputStreamUse
        completionQueue = original.completionQueue
        completionGroup = original.completionGroup
        changed = original.changed
    }

    /// The queue of callbacks.
    func deliveryTarget(for audience: Audience) -> DeliveryTarget {
        if !audience.needsQueue, !outbox.isOwed, isForMainQueue { return .mainLine }
        return .queue(completionQueue ?? .main)
    }

    /// Whether callbacks run on the main queue, which may never run.
    var isForMainQueue: Bool { completionQueue.map(MainQueue.isItself) ?? true }

    var request: URLRequest { configuration.request }

    /// Whether anything can still be configured.
    var isConfigurable: Bool { machine.isConfigurable && !isSealed }

    /// Records that `isReady` is read, as a queue does when the operation is added to it.
    /// - Returns: `false` if the operation is paused before its start.
    @discardableResult
    mutating func readReadiness() -> Bool {
        place.noteReadinessRead()
        return machine.phase != .pausedBeforeStart
    }

    /// Whether everything pending may be dropped: notifications, none of which has been posted yet.
    var mayDrop: Bool { (outbox.holdsStart || !hasBegun) && !outbox.isOwed }

    /// Appends an event to the outbox. Returns where to schedule its delivery, if that is still to be done.
    mutating func append(
        _ delivery: Delivery,
        for audience: Audience,
        isOwed: Bool = false
    ) -> DeliveryTarget? {
        let group = audience.needsQueue ? completionGroup : nil
        let isToSchedule = outbox.append(delivery, isOwed: isOwed, entering: group)
        return isToSchedule ? deliveryTarget(for: audience) : nil
    }

    /// Appends a call, which is made after the pending events.
    mutating func append(_ call: Callback, for audience: Audience) -> DeliveryTarget? {
        let group = audience.needsQueue ? completionGroup : nil
        return outbox.append(call, entering: group) ? deliveryTarget(for: audience) : nil
    }

    /// Appends a call of a closure, which must not be dropped with the pending events.
    mutating func appendOwed(_ call: Callback) -> DeliveryTarget? {
        outbox.append(call, isOwed: true, entering: completionGroup) ? .queue(completionQueue ?? .main) : nil
    }

    /// Appends the start of an operation of which only the notification is delivered. It is held until the
    /// next event, or until the operation has run for a while: most operations finish before, and wake a
    /// thread once.
    mutating func appendStart(for audience: Audience) -> DeliveryTarget? {
        guard !audience.hasObservers, !audience.isSubclass else { return append(.started, for: audience) }
        outbox.hold(.started, entering: audience.needsQueue ? completionGroup : nil)
        return nil
    }

    /// Takes everything that is to be released when no event is left: the closures, the memberships, and the
    /// exchange, which retains its configuration and so the stream's provider. It is returned because
    /// releasing a closure may run any code, and the lock is held here. From now on completion counts for
    /// batches.
    mutating func takeClosures() -> (Closures, memberships: [BatchMembership], Exchange?) {
        defer {
            memberships = []
            exchange = nil
            isDelivered = true
        }
        var taken = Closures()
        swap(&taken, &closures)
        // A block that is present now was set after completion, and is called by a separate delivery.
        closures.completionBlock = taken.completionBlock
        return (taken, memberships, exchange)
    }

    /// Traps if the operation has read its configuration, or is in a queue.
    /// - Parameter setting: its name, for the message.
    /// - Returns: whether the setting has an effect; `false` for an operation that finished in an earlier
    ///   process.
    func takesConfiguration(_ setting: StaticString) -> Bool {
        guard !place.isRestored else { return false }
        precondition(isConfigurable, ConnectionOperation.lateConfiguration(setting))
        return true
    }

    /// The server that the request goes to.
    var host: HostWaits.Host {
        let origin = Origin(request.url ?? URL(fileURLWithPath: "/"))
        return HostWaits.Host(servers: configuration.settings.layers.servers, origin: origin)
    }

    /// Whether the request identifies a user by something that an archive does not contain.
    var namesUser: Bool {
        configuration.shared.namesUser || closures.challenge != nil || readings.cookies.areSent
    }

    /// The verification of its servers.
    var verification: ServerVerification { ServerVerification(of: request.url, configuration.settings) }

    /// Takes the bytes of an earlier process for the exchange that is made now, which keeps them from then
    /// on.
    mutating func takeEarlierBody() -> EarlierBody? {
        guard let earlier = earlierBody else { return nil }
        defer { earlierBody = nil }
        // The policy may have been changed since the archive was read.
        if let verified = earlier.verification, !verification.accepts(verified) { return nil }
        if namesUser { earlierBody?.content.isOfOtherRequest = true }
        return earlierBody
    }

    /// Completes the configuration with what is known at the start: the body stream and the body's own rate
    /// limit.
    func complete(_ configuration: inout ExchangeConfiguration) {
        if let inputStreamUse {
            let provider = closures.bodyStreamProvider
            configuration.body = BodyStream(of: request, use: inputStreamUse, provider: provider)
                .map { .stream($0) }
        }
        if let rate = request.bodySource?.maximumRate {
            configuration.settings.uploadLimits.append(BandwidthLimit(bytesPerSecond: rate))
        }
        configuration.priority = priority
    }
}

/// Data that `start()` reads from the disk, because the network thread must not.
struct StartReadings {
    /// The cookies that the first transfer may send.
    var cookies = CookieReading.notYet
    /// The versions of the certificate authority files; `nil` if they were not read.
    var anchorVersions: [FileVersion?]?

    init() {}

    init(readingFor operation: ConnectionOperation) {
        let (request, jar, anchors) = operation.state.withLock {
            ($0.request, $0.configuration.settings.cookieJar, $0.configuration.settings.trustAnchors)
        }
        cookies = request.readCookies(jar)
        if !anchors.places.isEmpty, request.url?.isTLS == true { anchorVersions = anchors.fileVersions }
    }
}

extension OperationState {
    /// Calls a progress closure, or returns the callback that has to run on another executor.
    typealias ProgressCall = @Sendable (ConnectionOperation, ProgressReport) -> Callback?

    /// The closures and observers of an operation, until no event is left.
    struct Closures {
        @Rare var uploadProgress: ProgressCall?
        @Rare var downloadProgress: ProgressCall?
        @Rare var redirect: ConnectionOperation.DeferredRedirectHandler?
        @Rare var response: ConnectionOperation.ResponseHandler?
        @Rare var piece: ConnectionOperation.PieceHandler?
        @Rare var challenge: ConnectionOperation.AuthenticationChallengeHandler?
        @Rare var bodyStreamProvider: (@Sendable () -> InputStream?)?
        @Rare var completionBlock: (@Sendable () -> Void)?
        var observers: [any OperationObserver] = []

        /// Whether there is a closure that is called on the completion queue, other than the completion
        /// handlers.
        var hasEventClosures: Bool {
            uploadProgress != nil || downloadProgress != nil || piece != nil || completionBlock != nil
        }

        /// Whether there is a closure that is called elsewhere, and so is released when the operation ends.
        var answerQuestions: Bool { redirect != nil || challenge != nil || bodyStreamProvider != nil }

        /// Copies the closures of the operation that this one is a copy of, except its completion block and
        /// observers.
        mutating func copy(_ original: Closures) {
            let (own, observers) = (completionBlock, observers)
            self = original
            completionBlock = own
            self.observers = observers
        }
    }
}

/// The results of an operation: the head while the body arrives, the rest at the end.
struct OperationResults {
    var response: ReceivedResponse?
    var error: (any Error)?
    private(set) var responseObject: (any Sendable)?
    private var end: ExchangeEnd?

    /// Whether the object is missing because the archive has no serializer that could make it.
    private(set) var lacksSerializer = false

    var responseData: Data? { end?.data }

    var metrics: TransferLog? { end?.metrics }

    /// Restores the end of an earlier process.
    mutating func restore(_ end: ExchangeEnd, hasSerializer: Bool) {
        take(end)
        lacksSerializer = !hasSerializer
    }

    /// Takes the end of the exchange. The evaluation decides whether it is a success.
    mutating func take(_ end: ExchangeEnd) {
        self.end = end
    }

    /// Takes the evaluation of the response.
    mutating func take(_ evaluation: EndEvaluation.Result) {
        responseObject = evaluation.object
        lacksSerializer = false
        error = evaluation.error
    }
}
