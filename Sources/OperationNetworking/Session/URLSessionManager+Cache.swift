import Foundation
public import FoundationNetworking
internal import OperationNetworkingSystem

extension URLSessionManager {
    /// Sets the closure that is called with a complete response that is about to be stored in the session's
    /// `cache`. It returns that response, another one, or `nil` to store none. The whole body is in memory.
    /// Set it before the task is resumed.
    public func setDataTaskWillCacheResponse(
        @_inheritActorContext _ block: (
            @isolated(any) @Sendable (_ task: DataTask, _ proposed: CachedURLResponse) -> CachedURLResponse?
        )?
    ) {
        guard let block else { return core.hooks.change { $0.prepare = nil } }
        core.hooks.change { hooks in
            hooks.prepare = { operation, task in
                operation.setCacheResponseHandler { [weak task] proposed, answer in
                    Callback(in: block.isolation) { [task] in
                        // Nothing is stored if the task has been released.
                        answer(task.flatMap { callAssumingIsolation(of: block, $0, proposed) })
                    }
                    .perform(on: ConnectionOperation.processingQueue)
                }
            }
        }
    }
}
