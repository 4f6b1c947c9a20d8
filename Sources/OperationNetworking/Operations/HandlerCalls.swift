import Dispatch
import Foundation
import FoundationNetworking
internal import OperationNetworkingSystem

// The handlers of operations as they are called on a queue. Each has wrappers of its own rather than generic
// ones, which would cost two thunks for each call.

/// A handler of progress: of counts, or of the `Progress` of an operation.
struct ProgressCall: Sendable {
    private let call: @Sendable (ConnectionOperation, ProgressReport) -> Detour

    init(_ handler: @escaping ConnectionOperation.ProgressHandler) {
        call = { _, report in Detour(handler, report.bytes, report.total, report.expected) }
    }

    init(_ direction: ProgressDirection, _ handler: @escaping @isolated(any) @Sendable (Progress) -> Void) {
        call = { operation, _ in
            Detour(handler, direction == .download ? operation.downloadProgress : operation.uploadProgress)
        }
    }

    /// Calls the handler if it belongs on this queue.
    /// - Returns: `nil`, or the call that has to be made elsewhere.
    func callAsFunction(_ operation: ConnectionOperation, _ report: ProgressReport, onMain: Bool) -> Detour? {
        call(operation, report).callHere(onMain: onMain)
    }
}

/// A handler of success.
struct SuccessCall: Sendable {
    private struct Plain: Sendable { let call: @Sendable (HTTPRequestOperation, (any Sendable)?) -> Void }

    private let handler: HTTPRequestOperation.SuccessHandler

    init(_ handler: @escaping HTTPRequestOperation.SuccessHandler) {
        self.handler = handler
    }

    /// Calls the handler if it belongs on this queue.
    /// - Returns: `nil`, or the call that has to be made elsewhere.
    func callAsFunction(
        _ operation: HTTPRequestOperation,
        _ object: (any Sendable)?,
        onMain: Bool
    ) -> Detour? {
        let home = ClosureHome(handler.isolation)
        let plain = IsolatedFunction.plain(self, as: Plain.self).call
        guard !home.isHere(onMain: onMain) else {
            plain(operation, object)
            return nil
        }
        return Detour(home) {
            plain(operation, object)
        }
    }
}

/// A handler of failure.
struct FailureCall: Sendable {
    private struct Plain: Sendable { let call: @Sendable (HTTPRequestOperation, any Error) -> Void }

    private let handler: HTTPRequestOperation.FailureHandler

    init(_ handler: @escaping HTTPRequestOperation.FailureHandler) {
        self.handler = handler
    }

    /// Calls the handler if it belongs on this queue.
    /// - Returns: `nil`, or the call that has to be made elsewhere.
    func callAsFunction(_ operation: HTTPRequestOperation, _ error: any Error, onMain: Bool) -> Detour? {
        let home = ClosureHome(handler.isolation)
        let plain = IsolatedFunction.plain(self, as: Plain.self).call
        guard !home.isHere(onMain: onMain) else {
            plain(operation, error)
            return nil
        }
        return Detour(home) {
            plain(operation, error)
        }
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
        handler.flatMap { SuccessCall($0)(self, object, onMain: MainQueue.isCurrent) }.map(makeInOrder)
    }

    /// Calls a handler that you were given: as the other `call(_:with:)` does.
    public func call(_ handler: FailureHandler?, with error: any Error) {
        handler.flatMap { FailureCall($0)(self, error, onMain: MainQueue.isCurrent) }.map(makeInOrder)
    }
}
