internal import Foundation
internal import OperationNetworkingSystem

// Configuration, possible until the operation starts.
extension ConnectionOperation {
    static func lateConfiguration(_ setting: StaticString) -> String {
        """
        \(setting) was set after the operation had been added to a queue or had started: set it before, \
        or in the verb's configure: closure
        """
    }

    /// Ends the configuration of the operation, which is about to be added to `queue`.
    func seal(in queue: TransferQueue? = nil) {
        state.withLock { state in
            state.isSealed = true
            if let queue { state.place.join(queue) }
        }
    }

    /// Prepares the operation for being added to a queue by this thread. Until then, a `cancel()` on another
    /// thread does not end it, and it can be configured.
    /// - Returns: whether it has not ended.
    func reserve() -> Bool {
        state.withLock {
            $0.readReadiness(); return $0.isConfigurable
        }
    }

    /// Makes the operation fail with `error` when it starts, without sending anything.
    func refuse(_ error: any Error) {
        state.change { $0.refusal = error }
    }

    /// Ends the configuration of `operations`, which are about to be added to `queue`.
    static func seal(_ operations: [Operation], in queue: TransferQueue? = nil) {
        for case let operation as ConnectionOperation in operations { operation.seal(in: queue) }
    }

    func configure(
        named setting: StaticString = #function,
        _ body: (inout OperationState) -> Void
    ) {
        state.change { state in
            if state.takesConfiguration(setting) { body(&state) }
        }
    }

    /// Sets a closure that may be set at any time. A closure that can no longer be called is discarded.
    func setClosure<Closure>(
        _ closure: Closure?,
        _ exchange: (inout OperationState.Closures, inout Closure?) -> Void
    ) {
        state.replace(closure) { state, closure in
            if !state.isDelivered { exchange(&state.closures, &closure) }
        }
    }

    /// As ``configure(_:)``, for one property.
    func configure<Part>(
        _ part: Part,
        named setting: StaticString = #function,
        _ exchange: (inout OperationState, inout Part) -> Void
    ) {
        state.replace(part) { state, part in
            if state.takesConfiguration(setting) { exchange(&state, &part) }
        }
    }
}
