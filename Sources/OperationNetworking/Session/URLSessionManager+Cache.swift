import Dispatch
import Foundation
public import FoundationNetworking
internal import OperationNetworkingSystem

extension URLSessionManager {
    /// Called with a complete response that is about to be stored in the `cache` of the session: answers with
    /// it, with another one, or with `nil` for none. The whole body is in memory then. Set it before the task
    /// is resumed.
    public func setDataTaskWillCacheResponse(
        @_inheritActorContext _ block: (
            @isolated(any) @Sendable (_ task: DataTask, _ proposed: CachedURLResponse) -> CachedURLResponse?
        )?
    ) {
        guard let block else { return core.changeHooks { $0.prepare = nil } }
        let (home, plain) = (block.isolation, { @Sendable in callAssumingIsolation(of: block, $0, $1) })
        core.changeHooks { hooks in
            hooks.prepare = { operation, dataTask, events in
                operation.setCacheResponseHandler { [weak dataTask] proposed, answer in
                    events.append { [dataTask] in
                        // Without a task there is no question, and nothing is stored.
                        Callback(in: home) { answer(dataTask.flatMap { plain($0, proposed) }) }
                    }
                }
            }
        }
    }
}
