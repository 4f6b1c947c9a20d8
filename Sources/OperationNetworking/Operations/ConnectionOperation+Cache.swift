import Dispatch
import Foundation
public import FoundationNetworking
internal import OperationNetworkingSystem

// The cache: `cache` is one of the TransferSettings.
extension ConnectionOperation {
    /// Sees what is about to be stored in the `cache`, and changes or refuses it: AFNetworking's
    /// `setCacheResponseBlock:`.
    ///
    /// Called on a queue of the library, or on its actor, when the body is complete; `nil` lets nothing be
    /// stored. The whole body is in memory then. Without it, bodies go to the store as they come. To be
    /// set before the operation is in a queue: later it traps.
    public func setCacheResponse(
        @_inheritActorContext _ willStore: (
            @isolated(any) @Sendable (_ proposed: CachedURLResponse) -> CachedURLResponse?
        )?
    ) {
        guard let willStore else { return setCacheResponseHandler(nil) }
        setCacheResponseHandler { proposed, answer in
            Callback(in: willStore.isolation) { answer(callAssumingIsolation(of: willStore, proposed)) }
                .perform(on: Self.cacheQueue)
        }
    }

    func setCacheResponseHandler(_ willStore: CacheResponseHandler?) {
        changeTransferSettings { $0.cacheSetting.willStore = willStore }
    }

    private static let cacheQueue = DispatchQueue(
        label: "OperationNetworking.CacheResponse",
        attributes: .concurrent
    )

    /// The place that the response came from; `nil` before the end. As ``TransferMetrics/source``.
    public var responseSource: ResponseSource? { metrics?.source }
}
