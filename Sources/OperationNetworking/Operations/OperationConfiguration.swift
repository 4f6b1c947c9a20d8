import Dispatch
import Foundation
import FoundationNetworking
internal import OperationNetworkingSystem

/// The configuration of a `ConnectionOperation`: the request, the destination of its body, and the settings.
struct OperationConfiguration {
    private(set) var request: URLRequest
    /// The use of the request's body; `nil`: that is no stream.
    private var inputStreamUse: StreamUse?
    var destination = ExchangeConfiguration.Destination.memory
    var shared = SharedSettings.standard
    var completionQueue: DispatchQueue?
    var completionGroup: DispatchGroup?
    @Rare private var changed: Uncommon?

    /// Settings that most operations leave as they are.
    struct Uncommon {
        var maximumResponseDataLength = 256 << 20
        var maximumDecodedLength: Int64 = 256 << 20
        var requiresFile = false
        /// `nil`: the common modes.
        var runLoopModes: Set<RunLoop.Mode>?
        var userInfo: [String: any Sendable] = [:]
    }

    init(request: URLRequest) {
        self.request = request
        noteStream()
    }

    /// See ``shared``.
    var settings: TransferSettings {
        _read { yield shared.value }
        _modify { yield &shared.value }
    }

    var uncommon: Uncommon {
        get { changed ?? Uncommon() }
        set { changed = newValue }
    }

    /// Gives the request another body.
    mutating func setBody(_ set: (inout URLRequest) -> Void) {
        set(&request)
        noteStream()
    }

    private mutating func noteStream() {
        inputStreamUse = request.httpBodyStream == nil ? nil : StreamUse()
    }

    /// The stream that a successful body goes to; `nil` if it does not go to a stream. Setting it sets the
    /// destination.
    var outputStream: OutputStream? {
        get { if case .stream(let stream) = destination { stream } else { nil } }
        set { destination = newValue.map { .stream($0) } ?? .memory }
    }

    /// The file that a successful body goes to; `nil` if it does not go to a file. Setting it sets the
    /// destination.
    var outputFile: URL? {
        get { if case .file(let file) = destination { file } else { nil } }
        set { destination = newValue.map { .file($0) } ?? .memory }
    }

    /// Takes over the configuration of the operation that this one is a copy of: everything but the request,
    /// and an output stream, which cannot be used twice.
    mutating func copy(_ original: OperationConfiguration) {
        var copy = original
        copy.request = request
        switch original.destination {
        case .stream, .pieces: copy.destination = destination
        case .memory, .file, .custom: break
        }
        self = copy
    }

    /// The queue of callbacks.
    func deliveryTarget(for audience: Audience) -> DeliveryTarget {
        if completionQueue == nil, !audience.needsQueue { return .mainLine }
        return .queue(completionQueue ?? .main)
    }

    /// The configuration of the exchange; `provider` makes the stream of the request's body once more.
    func exchangeConfiguration(
        provider: (@Sendable () -> InputStream?)?,
        priority: TransferPriority
    ) -> ExchangeConfiguration {
        var shared = shared
        if let limit = ownUploadLimit { shared.value.uploadLimits.append(limit) }
        return ExchangeConfiguration(
            request: request,
            shared: shared,
            body: inputStreamUse.flatMap { BodyStream(of: request, use: $0, provider: provider) }
                .map { .stream($0) },
            destination: destination,
            memoryLimit: Int64(uncommon.maximumResponseDataLength),
            resumesByRange: false,
            maximumDecodedLength: uncommon.maximumDecodedLength,
            priority: priority
        )
    }

    /// The limit that the body itself asks for.
    private var ownUploadLimit: BandwidthLimit? {
        request.bodySource?.maximumRate.map { BandwidthLimit(bytesPerSecond: $0) }
    }
}
