import Foundation
public import FoundationNetworking
internal import OperationNetworkingSystem

extension URLSessionManager {
    /// Called with a complete response that is about to be stored in the `cache` of the session: returns it,
    /// another one, or `nil` for none. The whole body is in memory then. Set it before the task is resumed.
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
                        // Nothing is stored of a task that is gone.
                        answer(task.flatMap { callAssumingIsolation(of: block, $0, proposed) })
                    }
                    .perform(on: ConnectionOperation.processingQueue)
                }
            }
        }
    }
}
