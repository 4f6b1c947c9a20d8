internal import Foundation
internal import OperationNetworkingSystem

// Configuring, which is over when the operation starts.
extension ConnectionOperation {
    static let lateConfiguration = """
        An operation was configured after it had been put into a queue, or after it had started: configure it \
        before, or in the closure configure: of the verb
        """

    /// Nothing can be configured any more.
    func seal() {
        state.withLock { $0.isSealed = true }
    }

    /// The same of those operations that have a configuration.
    static func seal(_ operations: [Operation]) {
        for case let operation as ConnectionOperation in operations { operation.seal() }
    }

    func configure(_ body: (inout OperationState) -> Void) {
        state.change { state in
            state.checkConfigurable(self)
            body(&state)
        }
    }

    /// Sets a closure that may be set at any time. One that nothing will call any more is not kept.
    func setClosure<Closure>(
        _ closure: Closure?,
        _ exchange: (inout OperationState.Closures, inout Closure?) -> Void
    ) {
        state.replace(closure) { state, closure in
            if !state.isDelivered { exchange(&state.closures, &closure) }
        }
    }

    /// As ``configure(_:)``, for one part.
    func configure<Part>(_ part: Part, _ exchange: (inout OperationState, inout Part) -> Void) {
        state.replace(part) { state, part in
            state.checkConfigurable(self)
            exchange(&state, &part)
        }
    }
}
