import Dispatch
import Foundation
public import FoundationNetworking
internal import OperationNetworkingSystem

// The cache: `cache` is one of the TransferSettings.
extension ConnectionOperation {
    /// Sets a closure that can change or reject what is about to be stored in the `cache`: AFNetworking's
    /// `setCacheResponseBlock:`.
    ///
    /// The closure is called on a queue of the library, or on its actor, when the body is complete and in
    /// memory; returning `nil` stores nothing. Without a closure, bodies are stored as they arrive. Set it
    /// before the operation is added to a queue; setting it later traps.
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
        changeTransferSettings(named: "setCacheResponse") { $0.cacheSetting.willStore = willStore }
    }

    private static let cacheQueue = DispatchQueue(
        label: "OperationNetworking.CacheResponse",
        attributes: .concurrent
    )

    /// Where the response came from, as in ``TransferMetrics/source``; `nil` until the operation has
    /// finished.
    public var responseSource: ResponseSource? { metrics?.source }
}
