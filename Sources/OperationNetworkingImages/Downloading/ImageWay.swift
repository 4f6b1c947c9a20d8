internal import Foundation
internal import FoundationNetworking
internal import OperationNetworking
internal import OperationNetworkingImagesSystem

/// The way of a request for an image: as whom it was asked, and where redirects led it. What is sent there
/// may name a user whom the first request does not name.
final class ImageWay: OperationObserver {
    /// As things were when the transfer was made.
    let context: ImageContext?
    private let cookieVersion: Int?
    private let redirects = Guarded<[URLRequest]>([])

    init(context: ImageContext?, cookieVersion: Int?) {
        self.context = context
        self.cookieVersion = cookieVersion
    }

    func operation(
        _ operation: ConnectionOperation,
        didFollow redirect: HTTPURLResponse,
        to request: URLRequest
    ) {
        redirects.withLock { $0.append(request) }
    }

    /// Whether the manager would send `request` in `context` now, and whether no redirect led to where it
    /// names another user, or named one that cannot be known any more.
    func namesOnly(_ context: ImageContext, _ request: URLRequest, by manager: OperationManager) -> Bool {
        guard context == ImageContext(request, by: manager) else { return false }
        let redirects = redirects.withLock { $0 }
        guard !redirects.isEmpty else { return true }
        return cookieVersion == manager.cookieJar?.version
            && redirects.allSatisfy {
                [context, context.withoutUser].contains(ImageContext($0, by: manager))
            }
    }
}
