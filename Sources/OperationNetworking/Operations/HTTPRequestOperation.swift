import Dispatch
import Foundation
public import FoundationNetworking
internal import OperationNetworkingSystem

/// A ``ConnectionOperation`` that parses its response, and resumes where a pause stopped it.
///
/// ```swift
/// let operation = HTTPRequestOperation(request: URLRequest(url: url))
/// operation.responseSerializer = JSONResponseSerializer()
/// queue.addOperation(operation)
/// let object = try await operation.value
/// ```
///
/// Its serializer validates the response and turns the body into an object, on a processing queue.
/// ``responseObject``, `error` and `responseString` are final before `isFinished`.
///
/// A GET that was paused requests only the rest, with `If-Range`, if the server sent a strong validator for
/// the received bytes: a strong `ETag`, or else a strong `Last-Modified`. The response is checked before its
/// first byte is used. If the resource has changed, the received bytes are replaced. A stream cannot be
/// emptied, so an operation that writes to one fails with ``ResumeError/representationChanged`` in that case.
open class HTTPRequestOperation: ConnectionOperation, @unchecked Sendable {
    // @unchecked: nothing is stored; what changes lives in `state`.

    /// Called when the operation succeeded, with the response object.
    ///
    /// A closure that is written as an argument knows the actor of the code around it. A variable of this type does
    /// not: write `{ @MainActor operation, object in ... }` there.
    public typealias SuccessHandler =
        @isolated(any) @Sendable (HTTPRequestOperation, (any Sendable)?) -> Void

    /// Called when the operation failed. In a variable of this type, write `@MainActor` in the closure: see
    /// ``SuccessHandler``.
    public typealias FailureHandler = @isolated(any) @Sendable (HTTPRequestOperation, any Error) -> Void

    /// Creates an operation: see ``ConnectionOperation/init(request:)``.
    public required init(request: URLRequest) {
        super.init(request: request)
    }

    /// Restores an operation from an earlier process with `responseSerializer` instead of the archive's:
    /// another one, or one that cannot be archived. If the operation had finished, its response object is
    /// made again.
    public convenience init(archive: OperationArchive, responseSerializer: any ResponseSerializer) {
        var archive = archive
        archive.responseSerializer = nil
        self.init(archive: archive)
        restore(responseSerializer)
    }

    override func restore(_ serializer: any ResponseSerializer) {
        state.replace(serializer) { swap(&$0.handlers.serializer, &$1) }
        let failure = error
        // If this serializer rejects the response too, the error has its reason and object again.
        let isRefusal = failure.map { ($0 as NSError).domain } == ResponseSerializationError.errorDomain
        guard isFinished, failure == nil || isRefusal else { return }
        let metrics = state.withLock { $0.results.metrics } ?? TransferLog()
        let end = ExchangeEnd(error: nil, data: responseData, metrics: metrics)
        let evaluation = evaluate(end)
        guard failure == nil || evaluation.error is ResponseSerializationError else { return }
        state.withLock { $0.results.take(evaluation) }
    }

    // MARK: - Results

    /// The object that the serializer made from the body. If the serializer rejected the response, the object
    /// that it made from the error's body, such as a JSON error message. `nil` if the body went to a file or
    /// a stream, unless the serializer is a ``TransferResponseSerializer``; for a ``DownloadOperation``, the
    /// file's `URL`.
    public var responseObject: (any Sendable)? { state.withLock { $0.results.responseObject } }

    /// The result: waits for the operation, then returns ``responseObject`` or throws `error`. Does not need
    /// the completion queue.
    ///
    /// The operation must be in a queue, or started. If it is cancelled before its queue starts it,
    /// `URLError.cancelled` is thrown at once, even if the queue is suspended. Cancelling the task cancels
    /// the operation and ends the wait at once with `URLError.cancelled`, even if a suspended queue, a
    /// dependency or a full stream still blocks the operation. The operation may then finish later, or never:
    /// see `isFinished`.
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

    /// Validates the response and makes the response object. Defaults to ``HTTPResponseSerializer``. Set it
    /// before the operation is in a queue.
    public var responseSerializer: any ResponseSerializer {
        get { state.withLock { $0.handlers.serializer } }
        set { configure(newValue) { swap(&$0.handlers.serializer, &$1) } }
    }

    /// Whether a successful response that does not carry a file, such as a 202 or a 204, fails with
    /// ``ResumeError/unexpectedStatus(_:)`` before any of it is written, as it does for a
    /// ``DownloadOperation``. Defaults to `false`.
    package var requiresFile: Bool {
        get { state.withLock { $0.uncommon.requiresFile } }
        set { configure { $0.uncommon.requiresFile = newValue } }
    }

    /// Sets the completion handlers. When the operation has finished, exactly one of them is called, once, on
    /// `completionQueue`. A closure written in main-actor code is called on the main queue. Closures that are
    /// set after the operation has finished are still called.
    public func setCompletion(
        @_inheritActorContext success: SuccessHandler?,
        @_inheritActorContext failure: FailureHandler? = nil
    ) {
        setHandlers { closures in
            closures.success = success
            closures.failure = failure
            closures.completion = nil
        }
    }

    /// Adds a closure that makes a callback when the operation has finished, after those of
    /// ``setCompletion(success:failure:)``.
    func setCompletion(_ completion: @escaping @Sendable (HTTPRequestOperation) -> Callback?) {
        setHandlers { closures in
            closures.completion = completion
        }
    }

    private func setHandlers(_ set: (inout ResultHandlers.Closures) -> Void) {
        // One critical section, under the lock that the finishing operation determines its audience with:
        // either it sees these handlers, or it has already finished.
        var old = ResultHandlers.Closures()
        let isLate = state.withLock { state in
            old = state.handlers.closures
            set(&state.handlers.closures)
            return state.machine.phase == .finished && state.handlers.hasClosures
        }
        // Releasing a closure may run any code.
        withExtendedLifetime(old) {}
        if isLate { deliverLateCompletion() }
    }

    /// Removes the closures, unless they were called or are being called.
    /// - Returns: whether they were removed.
    func withdrawCompletion() -> Bool {
        let withdrawn = state.withLock { $0.handlers.withdraw() }
        return withdrawn != nil
    }

    // MARK: - ConnectionOperation

    override class var ownKind: ObjectIdentifier { ObjectIdentifier(HTTPRequestOperation.self) }

    override func evaluate(_ end: ExchangeEnd) -> EndEvaluation.Result {
        if let error = end.error {
            return EndEvaluation.Result(error: end.statusComesFirst ? refusal() ?? error : error)
        }
        let (serializer, response) = state.withLock { ($0.handlers.serializer, $0.results.response) }
        do {
            let object = try serializer.responseObject(
                from: ReceivedMessage(response, end.data, from: OperationOrigin(operation: self, end: end))
            )
            // If the body went elsewhere, other serializers only validate.
            let isKept = end.data != nil || serializer is any TransferResponseSerializer
            return EndEvaluation.Result(object: isKept ? object : nil)
        } catch {
            let object = end.data == nil ? nil : (error as? ResponseSerializationError)?.responseObject
            return EndEvaluation.Result(object: object, error: error)
        }
    }

    /// The serializer's error about the status, as for a response without a body; `nil` if it accepts the
    /// status.
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
        // Not the placeholder for a serializer that an earlier archive could not keep.
        guard !state.withLock({ $0.results.lacksSerializer }) else { return nil }
        return try? ResponseSerializerArchive(responseSerializer)
    }

    override func callResult() -> Callback? {
        var closures = ResultHandlers.Closures()
        var result = EndEvaluation.Result()
        state.withLock { state in
            closures = state.handlers.takeResult()
            result.object = state.results.responseObject
            result.error = state.results.error
        }
        if let error = result.error {
            return closures.failure.flatMap { Callback.here($0, self, error) }
        }
        // Not by `flatMap`, which would make another closure of it.
        guard let success = closures.success else { return nil }
        return Callback.here(success, self, result.object)
    }

    override func callCompletion() -> Callback? {
        state.withLock { $0.handlers.takeCompletion() }?(self)
    }

    override func complete(_ configuration: inout ExchangeConfiguration, _ state: OperationState) {
        super.complete(&configuration, state)
        configuration.resumesByRange = true
        if state.uncommon.requiresFile {
            let method = state.request.httpMethod
            configuration.check = { try SuccessStatus.check($0, method: method) }
        }
    }
}

// MARK: - Closures around closures

extension HTTPRequestOperation {
    /// Calls a handler that was passed to you from a closure of yours: for an override of
    /// ``OperationManager/operation(for:success:failure:)`` that wraps a handler.
    ///
    /// A handler written in nonisolated code is called at once, on this thread; one written in main-actor
    /// code on the main queue, at once if this is the main queue; one of another actor on that actor. Within
    /// a callback of the operation, a call on another executor is made when the callback has returned, before
    /// the next one. Outside the callbacks, such calls follow the pending callbacks, one after the other.
    public func call(_ handler: SuccessHandler?, with object: (any Sendable)?) {
        handler.flatMap { Callback.here($0, self, object) }.map(callInOrder)
    }

    /// Calls a failure handler that was passed to you, as the other `call(_:with:)` does.
    public func call(_ handler: FailureHandler?, with error: any Error) {
        handler.flatMap { Callback.here($0, self, error) }.map(callInOrder)
    }
}

/// The origin of a message: an operation whose exchange has ended.
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
