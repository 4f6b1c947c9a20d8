import Dispatch
import Foundation
import FoundationNetworking
internal import OperationNetworkingSystem

/// Everything about a `ConnectionOperation` that changes; it lives behind one lock.
struct OperationState {
    // MARK: Configuration

    var request: URLRequest
    /// The use of the request's body, if that is a stream.
    var inputStreamUse = StreamUse()
    var outputStream: OutputStream?
    var outputFile: URL?
    var settings = TransferSettings()
    var maximumResponseDataLength = 256 << 20
    var maximumDecodedLength: Int64 = 256 << 20
    var isResumable = false
    var runLoopModes: Set<RunLoop.Mode> = [.common]
    var userInfo: [String: any Sendable] = [:]
    var completionQueue: DispatchQueue?
    var completionGroup: DispatchGroup?

    // MARK: Closures

    var uploadProgress: ConnectionOperation.ProgressHandler?
    var downloadProgress: ConnectionOperation.ProgressHandler?
    var redirect: ConnectionOperation.RedirectHandler?
    var challenge: ConnectionOperation.AuthenticationChallengeHandler?
    var bodyStreamProvider: (@Sendable () -> InputStream?)?
    var completionBlock: (@Sendable () -> Void)?
    var observers: [any OperationObserver] = []
    /// Called when the operation has finished, before any callback was delivered.
    var whenFinished: [@Sendable () -> Void] = []
    /// The memberships in batches, until its end counts for them.
    var seats: [BatchSeat] = []
    /// Whether the end counts for batches: there is no audience, or it was told everything.
    var isDelivered = false

    // MARK: Progress of things

    var machine = OperationStateMachine()
    var hasBegun = false
    /// Whether observers were told of a start that has no end yet.
    var isRunning = false
    var exchange: (any Exchanging)?
    /// Read by `start()`, for the first transfer.
    var cookies = CookieReading.notYet
    /// The operation's when `start()` was called.
    var priority = TransferPriority.normal
    /// The queue that called `start()`.
    weak var queue: OperationQueue?
    /// Whether it was cancelled while a dependency or a barrier blocked it.
    var mayHavePassedBarrier = false
    /// The slots of that queue, from the first pause to the end.
    var slots: QueueSlots?
    var outbox = Outbox()
    /// Entered for what is in the outbox.
    var enteredGroup: DispatchGroup?

    // MARK: Results

    var response: ReceivedResponse?
    var error: (any Error)?
    var responseData: Data?
    var responseObject: (any Sendable)?
    var metrics: TransferLog?

    init(request: URLRequest) {
        self.request = request
    }

    /// Puts a delivery into the outbox; returns where to schedule the delivery, if that is to be done.
    mutating func append(_ delivery: Delivery, for audience: Audience) -> DeliveryTarget? {
        if audience.needsQueue, enteredGroup == nil {
            completionGroup?.enter()
            enteredGroup = completionGroup
        }
        return outbox.append(delivery) ? deliveryTarget(for: audience) : nil
    }

    func deliveryTarget(for audience: Audience) -> DeliveryTarget {
        if completionQueue == nil, !audience.needsQueue { return .mainLine }
        return .queue(completionQueue ?? .main)
    }

    /// Whether a closure is there that is called on the completion queue, apart from those that hear the
    /// result.
    var hasClosures: Bool { uploadProgress != nil || downloadProgress != nil || completionBlock != nil }

    /// The closures to be released when no event is left; returned, because releasing a closure may run
    /// anything, and the lock is held here.
    mutating func takeClosures() -> [Any?] {
        defer {
            uploadProgress = nil
            downloadProgress = nil
            redirect = nil
            challenge = nil
            bodyStreamProvider = nil
            completionBlock = nil
            observers = []
            seats = []
            // It keeps the configuration it was made from, and with it the stream's provider.
            exchange = nil
        }
        return [
            uploadProgress, downloadProgress, redirect, challenge, bodyStreamProvider, completionBlock,
            observers, seats, exchange,
        ]
    }

    var exchangeConfiguration: ExchangeConfiguration {
        let destination: ExchangeConfiguration.Destination =
            if let outputFile { .file(outputFile) } else if let outputStream { .stream(outputStream) } else {
                .memory
            }
        var settings = settings
        settings.uploadLimits += ownUploadLimit
        return ExchangeConfiguration(
            request: request,
            settings: settings,
            body: streamedBody,
            destination: destination,
            memoryLimit: Int64(maximumResponseDataLength),
            resumesByRange: false,
            isResumable: isResumable,
            maximumDecodedLength: maximumDecodedLength,
            priority: priority
        )
    }

    /// The limit that the body itself asks for.
    private var ownUploadLimit: [BandwidthLimit] {
        request.bodySource?.maximumRate.map { [BandwidthLimit(bytesPerSecond: $0)] } ?? []
    }

    private var streamedBody: RequestBody? {
        BodyStream(of: request, use: inputStreamUse, provider: bodyStreamProvider).map { .stream($0) }
    }
}
