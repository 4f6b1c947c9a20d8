import Dispatch
import Foundation
public import FoundationNetworking
internal import OperationNetworkingSystem

/// A ``ConnectionOperation`` that makes sense of its response, and resumes where a pause stopped it.
///
/// Its serializer validates the response and turns the body into an object, on a processing queue.
/// ``responseObject``, `error` and `responseString` are final before `isFinished`.
///
/// A GET that was paused asks for the rest only, with `If-Range`, when the server named a strong validator
/// for what came: a strong `ETag`, else a strong `Last-Modified`. The answer is judged before its first byte
/// is used. When the resource changed, what came is replaced; a stream cannot be emptied, so an operation
/// that writes to one fails with ``ResumeError/representationChanged`` then.
open class HTTPRequestOperation: ConnectionOperation, @unchecked Sendable {
    // @unchecked: nothing is stored; what changes lives in `state`.

    /// Called when the operation succeeded, with the response object.
    public typealias SuccessHandler =
        @isolated(any) @Sendable (HTTPRequestOperation, (any Sendable)?) -> Void

    /// Called when the operation failed.
    public typealias FailureHandler = @isolated(any) @Sendable (HTTPRequestOperation, any Error) -> Void

    /// An operation as by ``ConnectionOperation/init(request:)``.
    public required init(request: URLRequest) {
        super.init(request: request)
    }

    /// An operation from an earlier process, with another serializer than the archive's, or with one that no
    /// archive keeps. One that had finished has its response object made again.
    public convenience init(archive: OperationArchive, responseSerializer: any ResponseSerializer) {
        var archive = archive
        archive.responseSerializer = nil
        self.init(archive: archive)
        restore(responseSerializer)
    }

    override func restore(_ serializer: any ResponseSerializer) {
        state.replace(serializer) { swap(&$0.handlers.serializer, &$1) }
        let failure = error
        // A refusal has its reason and its object again, if this serializer refuses it, too.
        let isRefusal = failure.map { ($0 as NSError).domain } == ResponseSerializationError.errorDomain
        guard isFinished, failure == nil || isRefusal else { return }
        let metrics = state.withLock { $0.results.metrics } ?? TransferLog()
        let end = ExchangeEnd(error: nil, data: responseData, metrics: metrics)
        let evaluation = evaluate(end)
        guard failure == nil || evaluation.error is ResponseSerializationError else { return }
        state.withLock { $0.results.take(evaluation) }
    }

    // MARK: - Results

    /// The object that the serializer made of the body. If the serializer refused the response: the object
    /// that it made of the error's body, such as an explanation in JSON. `nil` when the body went to a file
    /// or a stream, unless the serializer is a ``TransferResponseSerializer``; a ``DownloadOperation`` has
    /// the file's `URL` here.
    public var responseObject: (any Sendable)? { state.withLock { $0.results.responseObject } }

    /// The result, once there is one: ``responseObject``, or `error` thrown. It does not need the completion
    /// queue.
    ///
    /// The operation must be in a queue, or started. If it is cancelled before its queue starts it,
    /// `URLError.cancelled` is thrown at once, even if the queue is suspended. Cancelling the task cancels the
    /// operation, and ends the wait at once with `URLError.cancelled`, even if a suspended queue, a dependency
    /// or a full stream still holds the operation. The operation may then finish later, or never: see
    /// `isFinished`.
    public var value: (any Sendable)? {
        get async throws {
            await Wait.until(whenKnown) {
                self.cancel()
                return true
            }
            if let error = errorForWaiting { throw error }
            return responseObject
        }
    }

    // MARK: - Configuration

    /// Validates the response, and makes the response object; ``HTTPResponseSerializer`` unless set. Set it
    /// before the operation is in a queue.
    public var responseSerializer: any ResponseSerializer {
        get { state.withLock { $0.handlers.serializer } }
        set { configure(newValue) { swap(&$0.handlers.serializer, &$1) } }
    }

    /// Whether a success whose body is no file's, such as a 202 or a 204, fails with
    /// ``ResumeError/unexpectedStatus(_:)`` before any of it is written, as it does for a
    /// ``DownloadOperation``. Defaults to `false`.
    package var requiresFile: Bool {
        get { state.withLock { $0.uncommon.requiresFile } }
        set { configure { $0.uncommon.requiresFile = newValue } }
    }

    /// Sets two closures, of which exactly one is called, once, on `completionQueue`, when the operation has
    /// finished. A closure that is written in main-actor code is called on the main queue. Closures that are
    /// set after the end are called, too.
    public func setCompletion(
        @_inheritActorContext success: SuccessHandler?,
        @_inheritActorContext failure: FailureHandler? = nil
    ) {
        setHandlers { handlers in
            handlers.success = success
            handlers.failure = failure
            handlers.completion = nil
        }
    }

    /// Adds a closure that makes the call when the operation has finished, after those of
    /// ``setCompletion(success:failure:)``.
    func setCompletion(_ completion: @escaping @Sendable (HTTPRequestOperation) -> Callback?) {
        setHandlers { handlers in
            handlers.completion = completion
        }
    }

    private func setHandlers(_ set: (inout ResultHandlers) -> Void) {
        // In one hold of the lock under which the operation looks for an audience when it has finished: these
        // are seen there, or it has finished.
        let (isLate, old) = state.withLock { state in
            let old = state.handlers
            set(&state.handlers)
            return (state.machine.phase == .finished && state.handlers.hearResult, old)
        }
        // Letting go of a closure may run anything.
        withExtendedLifetime(old) {}
        if isLate { deliverLateCompletion() }
    }

    /// Takes the closures away, unless they were called or are being called.
    /// - Returns: whether none of them hears of the operation.
    func withdrawCompletion() -> Bool {
        let withdrawn = state.withLock { $0.handlers.withdraw() }
        return withdrawn != nil
    }

    // MARK: - ConnectionOperation

    override class var ownKind: ObjectIdentifier { ObjectIdentifier(HTTPRequestOperation.self) }

    override func evaluate(_ end: ExchangeEnd) -> (object: (any Sendable)?, error: (any Error)?) {
        if let error = end.error { return (nil, end.statusComesFirst ? refusal() ?? error : error) }
        do {
            let object = try responseSerializer.responseObject(
                from: ReceivedMessage(
                    receivedResponse,
                    end.data,
                    from: OperationOrigin(operation: self, end: end)
                )
            )
            // Of a body elsewhere, only such a serializer knows more than whether it is good.
            let isKept = end.data != nil || responseSerializer is any TransferResponseSerializer
            return (isKept ? object : nil, nil)
        } catch {
            return (end.data == nil ? nil : (error as? ResponseSerializationError)?.responseObject, error)
        }
    }

    /// The serializer's refusal of the status, as of a response without a body; `nil`: it takes it.
    private func refusal() -> (any Error)? {
        do {
            _ = try responseSerializer.responseObject(for: response, data: Data())
            return nil
        } catch {
            return FailureTraits(of: error).statusCode == nil ? nil : error
        }
    }

    override func schedule(_ end: ExchangeEnd, atOnce: Caller, _ work: @escaping @Sendable () -> Void) {
        guard end.error == nil || end.statusComesFirst else { return atOnce(work) }
        let serializer = responseSerializer
        if serializer.isQuick(with: end.data) { return atOnce(work) }
        exchangeLasts()
        if end.data != nil, let queue = (serializer as? any QueuedResponseSerializer)?.processingQueue {
            queue.async(work)
        } else {
            Self.processingQueue.async(execute: work)
        }
    }

    override func copySettings(to copy: ConnectionOperation) {
        super.copySettings(to: copy)
        (copy as? HTTPRequestOperation)?.responseSerializer = responseSerializer
    }

    override var archivedSerializer: ResponseSerializerArchive? {
        // Not the one that stands for what an earlier archive could not keep.
        guard !state.withLock({ $0.results.lacksSerializer }) else { return nil }
        return try? ResponseSerializerArchive(responseSerializer)
    }

    override func callResult() -> Callback? {
        let (handlers, error, object) = state.withLock { state in
            (state.handlers.takeResult(), state.results.error, state.results.responseObject)
        }
        return if let error {
            handlers.failure.flatMap { Callback.here($0, self, error) }
        } else {
            handlers.success.flatMap { Callback.here($0, self, object) }
        }
    }

    override func callCompletion() -> Callback? {
        state.withLock { $0.handlers.takeCompletion() }?(self)
    }

    override func exchangeConfiguration(_ state: OperationState) -> ExchangeConfiguration {
        var configuration = state.exchangeConfiguration
        configuration.resumesByRange = true
        if state.uncommon.requiresFile {
            let method = state.request.httpMethod
            configuration.check = { try SuccessStatus.check($0, method: method) }
        }
        return configuration
    }
}

// MARK: - Closures around closures

extension HTTPRequestOperation {
    /// Calls a handler that you were given, in a closure of yours: for an override of
    /// ``OperationManager/operation(for:success:failure:)`` that puts a closure of its own around it.
    ///
    /// A handler that was written in nonisolated code is called at once, on this thread; one of main-actor
    /// code on the main queue, at once if this is the main queue; one of another actor there. In a callback
    /// of the operation, what is called elsewhere is called when the callback has returned, and before the
    /// next one. Outside of them such calls come after the callbacks that wait, and one after the other.
    public func call(_ handler: SuccessHandler?, with object: (any Sendable)?) {
        handler.flatMap { Callback.here($0, self, object) }.map(callInOrder)
    }

    /// Calls a handler that you were given: as the other `call(_:with:)` does.
    public func call(_ handler: FailureHandler?, with error: any Error) {
        handler.flatMap { Callback.here($0, self, error) }.map(callInOrder)
    }
}

/// An operation whose exchange has ended, as the origin of a message.
private struct OperationOrigin: MessageOrigin {
    let operation: ConnectionOperation
    let end: ExchangeEnd

    func responseObject(of message: ReceivedMessage, by serializer: any ResponseSerializer) throws
        -> ResponseObject?
    {
        guard let serializer = serializer as? any TransferResponseSerializer else { return nil }
        let transfer = ReceivedTransfer(
            request: operation.request,
            response: message.response?.value,
            data: message.data,
            file: end.data == nil ? operation.outputFile : nil,
            metrics: end.metrics.sum
        )
        return ResponseObject(value: try serializer.responseObject(for: transfer))
    }
}
