import Dispatch
import Foundation
import FoundationNetworking
internal import OperationNetworkingSystem

/// Everything about a `ConnectionOperation` that changes; it lives behind one lock.
///
/// One lock is cheaper than several, and lets all of them change together. A million
/// may wait in a queue: small ones stand together, where others leave them room.
struct OperationState {
    var configuration: ExchangeConfiguration
    /// The use of the request's body; `nil`: that is no stream.
    private var inputStreamUse: StreamUse?
    var completionQueue: DispatchQueue?
    var completionGroup: DispatchGroup?
    @Rare private var changed: Uncommon?
    var closures = Closures()
    /// Of an ``HTTPRequestOperation``.
    var handlers = ResultHandlers()
    /// Of an operation that a manager made, and of its copies.
    var manager: ManagerReference?

    // MARK: Progress of things

    var machine = OperationStateMachine()
    var hasBegun = false
    /// Whether it was put into a queue that says so: nothing can be configured any more.
    var isSealed = false
    /// Whether its notifications are posted under public names, unlike those of one that works for a task.
    var postsNotifications = true
    /// The object whose notifications are posted with the operation's.
    @Rare var face: WeakFace?
    /// Whether observers were told of a start that has no end yet.
    var isRunning = false
    /// The operation's when `start()` was called.
    var priority = TransferPriority.normal
    /// From the start, or a cancellation after it, on; until its end is told.
    var exchange: (any Exchanging)?
    var evaluation = EndEvaluation.notBegun
    /// The bytes that an earlier process had, until the exchange has them.
    @Rare var earlierBody: EarlierBody?
    var readings = StartReadings()
    /// The error that it ends with when it starts.
    @Rare var refusal: (any Error)?
    /// The request of the last redirect that was followed.
    @Rare var followed: URLRequest?
    var place = QueuePlace()
    var outbox = Outbox()

    // MARK: The end

    var results = OperationResults()
    /// Whether the end counts for batches: there is no audience, or it was told everything.
    var isDelivered = false
    /// Whether the end was told: nothing hears of the operation any more.
    var isTold = false
    /// Called when the operation has finished, before any callback was delivered.
    var whenFinished: [@Sendable () -> Void] = []
    /// The same, or called earlier: when it was cancelled before its queue started it.
    @Rare var whenKnown: [@Sendable () -> Void]?
    /// The progress that was asked for.
    var outlets: ProgressOutlets?
    /// The memberships in batches, until its end counts for them.
    var memberships: [BatchMembership] = []

    init(request: URLRequest) {
        configuration = ExchangeConfiguration(request: request)
        noteStream()
    }

    /// Settings that most operations leave as they are.
    struct Uncommon {
        var requiresFile = false
        /// `nil`: the common modes.
        var runLoopModes: Set<RunLoop.Mode>?
        var userInfo: [String: any Sendable] = [:]
    }

    var uncommon: Uncommon {
        get { changed ?? Uncommon() }
        set { changed = newValue }
    }

    /// Gives the request another body.
    mutating func setBody(_ set: (inout URLRequest) -> Void) {
        set(&configuration.request)
        noteStream()
    }

    private mutating func noteStream() {
        inputStreamUse = request.httpBodyStream == nil ? nil : StreamUse()
    }

    /// Takes over the configuration of the operation that this one is a copy of: everything but the request,
    /// and an output stream, which cannot be used twice.
    mutating func copyConfiguration(_ original: OperationState) {
        var copy = original.configuration
        copy.request = request
        switch copy.destination {
        case .stream, .pieces: copy.destination = configuration.destination
        case .memory, .file, .custom: break
        }
        configuration = copy
        // One stream, which the first of them to start gets.
        inputStreamUse = original.inputStreamUse
        completionQueue = original.completionQueue
        completionGroup = original.completionGroup
        changed = original.changed
    }

    /// The queue of callbacks.
    func deliveryTarget(for audience: Audience) -> DeliveryTarget {
        if completionQueue == nil, !audience.needsQueue { return .mainLine }
        return .queue(completionQueue ?? .main)
    }

    var request: URLRequest { configuration.request }

    /// Whether anything can still be configured.
    var isConfigurable: Bool { machine.isConfigurable && !isSealed }

    /// A queue asks when the operation is added to it.
    /// - Returns: whether the operation is not paused before its start.
    @discardableResult
    mutating func isAskedForReadiness() -> Bool {
        place.isAskedForReadiness()
        return machine.phase != .pausedBeforeStart
    }

    /// Whether no notification was posted yet: then all of them may be left out.
    var isUntold: Bool { outbox.holdsStart || !hasBegun }

    /// Puts a delivery into the outbox; returns where to schedule the delivery, if that is to be done.
    mutating func append(_ delivery: Delivery, for audience: Audience) -> DeliveryTarget? {
        let group = audience.needsQueue ? completionGroup : nil
        return outbox.append(delivery, entering: group) ? deliveryTarget(for: audience) : nil
    }

    /// The same for a call, which is made after what waits.
    mutating func append(_ call: Callback, for audience: Audience) -> DeliveryTarget? {
        let group = audience.needsQueue ? completionGroup : nil
        return outbox.append(call, entering: group) ? deliveryTarget(for: audience) : nil
    }

    /// The same for the start of an operation of which only the notification is told: it waits for what comes
    /// next, or until the operation has lasted for a while. Most end first, and wake a thread once.
    mutating func appendStart(for audience: Audience) -> DeliveryTarget? {
        guard !audience.hasObservers, !audience.isSubclass else { return append(.started, for: audience) }
        outbox.hold(.started, entering: audience.needsQueue ? completionGroup : nil)
        return nil
    }

    /// Empties what is to be released when no event is left: the closures, the memberships, and the exchange, which
    /// keeps the configuration it was made from, and with it the stream's provider. It is returned, because
    /// releasing a closure may run anything, and the lock is held here. From now on the end counts.
    mutating func takeClosures() -> (Closures, memberships: [BatchMembership], (any Exchanging)?) {
        defer {
            // One that is there now was set after the end, and is called by a delivery of its own.
            let late = closures.completionBlock
            closures = Closures()
            closures.completionBlock = late
            memberships = []
            exchange = nil
            isDelivered = true
        }
        return (closures, memberships, exchange)
    }

    /// Traps if the operation has read its configuration, or was given away.
    /// - Parameter setting: its name, for the trap.
    /// - Returns: whether a setting has a use: one of an operation that ended in an earlier process has none.
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

    /// Whether the request names a user by what no archive has.
    var namesUser: Bool {
        configuration.shared.namesUser || closures.challenge != nil || readings.cookies.areSent
    }

    /// The verification of its servers.
    var verification: ServerVerification { ServerVerification(of: request.url, configuration.settings) }

    /// The bytes of an earlier process for the exchange that is made now, which keeps them from then on.
    mutating func takeEarlierBody() -> EarlierBody? {
        guard let earlier = earlierBody else { return nil }
        defer { earlierBody = nil }
        // The policy may have been changed since the archive was read.
        if let verified = earlier.verification, !verification.accepts(verified) { return nil }
        if namesUser { earlierBody?.content.isOfOtherQuestion = true }
        return earlierBody
    }

    /// The configuration with what is known at the start: the stream of the body, and the limit that the body
    /// itself asks for.
    var exchangeConfiguration: ExchangeConfiguration {
        var configuration = configuration
        if let inputStreamUse {
            let provider = closures.bodyStreamProvider
            configuration.body = BodyStream(of: request, use: inputStreamUse, provider: provider)
                .map { .stream($0) }
        }
        if let rate = request.bodySource?.maximumRate {
            configuration.settings.uploadLimits.append(BandwidthLimit(bytesPerSecond: rate))
        }
        configuration.priority = priority
        return configuration
    }
}

/// Read from the disk by `start()`, as the network thread may not.
struct StartReadings {
    /// The cookies that the first transfer may send.
    var cookies = CookieReading.notYet
    /// Of the files of authorities; `nil`: they were not looked at.
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
    /// Calls a closure for progress, or returns the call that has to be made elsewhere.
    typealias ProgressCall = @Sendable (ConnectionOperation, ProgressReport) -> Callback?

    /// The closures and observers of an operation, until no event is left.
    struct Closures {
        @Rare var uploadProgress: ProgressCall?
        @Rare var downloadProgress: ProgressCall?
        @Rare var redirect: ConnectionOperation.RedirectQuestion?
        @Rare var response: ConnectionOperation.ResponseQuestion?
        @Rare var piece: ConnectionOperation.PieceHandler?
        @Rare var challenge: ConnectionOperation.AuthenticationChallengeHandler?
        @Rare var bodyStreamProvider: (@Sendable () -> InputStream?)?
        @Rare var completionBlock: (@Sendable () -> Void)?
        var observers: [any OperationObserver] = []

        /// Whether a closure is there that is called on the completion queue, apart from those that hear the
        /// result.
        var hearEvents: Bool {
            uploadProgress != nil || downloadProgress != nil || piece != nil || completionBlock != nil
        }

        /// Whether a closure is there that is called elsewhere, and so released where the operation ends.
        var answerQuestions: Bool { redirect != nil || challenge != nil || bodyStreamProvider != nil }

        /// Takes over those of the operation that this one is a copy of; neither what hears of its end, nor
        /// its observers.
        mutating func copy(_ original: Closures) {
            let (own, observers) = (completionBlock, observers)
            self = original
            completionBlock = own
            self.observers = observers
        }
    }
}

/// The results of an operation: the head while the body comes, the rest with the end.
struct OperationResults {
    var response: ReceivedResponse?
    var error: (any Error)?
    private(set) var responseObject: (any Sendable)?
    private var end: ExchangeEnd?

    /// Whether the object is not there because an archive has no serializer that could make it.
    private(set) var lacksSerializer = false

    var responseData: Data? { end?.data }

    var metrics: TransferLog? { end?.metrics }

    /// The end is one of an earlier process.
    mutating func restore(_ end: ExchangeEnd, hasSerializer: Bool) {
        take(end)
        lacksSerializer = !hasSerializer
    }

    /// The exchange has ended. Whether that is a success is said by the evaluation.
    mutating func take(_ end: ExchangeEnd) {
        self.end = end
    }

    /// The response was evaluated.
    mutating func take(_ evaluation: (object: (any Sendable)?, error: (any Error)?)) {
        responseObject = evaluation.object
        lacksSerializer = false
        error = evaluation.error
    }
}
